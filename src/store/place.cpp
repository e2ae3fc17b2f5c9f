// SPDX-License-Identifier: Apache-2.0
#include "store/place.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/codec.h"
#include "crypto/hash.h"
#include "runtime/files.h"
#include "runtime/os_error.h"
#include "store/detail/file.h"
#include "store/record.h"

namespace rhizome::store {
namespace {

constexpr std::uint32_t kPlaceMagic = 0x414c5052;  // "RPLA"
constexpr std::uint64_t kZfsMagic = 0x2fc12fc1;
constexpr std::size_t kPlaceBytesMax = 4096;
constexpr const char* kMachineFile = "/etc/machine-id";

/// magic (4) ‖ inode (8), time of birth (8 seconds, 8 nanoseconds) of this very file ‖ file system (8) ‖ machine (16) ‖
/// checksum of all that (8).
struct Place {
    detail::FileIdentity file{};
    std::uint64_t file_system = 0;
    std::array<std::uint8_t, 16> machine{};
};

Bytes encode(const Place& place) {
    Writer out;
    out.u32(kPlaceMagic).u64(place.file.inode).u64(place.file.born_seconds).u64(place.file.born_nanoseconds);
    out.u64(place.file_system).raw(place.machine);
    const ByteView content = out.view();
    out.u64(checksum_of(std::span{&content, 1}));
    return std::move(out).take();
}

Result<Place, DecodeFault> decode_place(ByteView bytes) {
    Reader in{bytes};
    Place place;
    TRY(const std::uint32_t magic, in.u32());
    if (magic != kPlaceMagic) return Fail{DecodeFault::BadValue};
    TRY(place.file.inode, in.u64());
    TRY(place.file.born_seconds, in.u64());
    TRY(place.file.born_nanoseconds, in.u64());
    TRY(place.file_system, in.u64());
    TRY(place.machine, in.array<16>());
    const ByteView content = bytes.first(bytes.size() - in.left());
    TRY(const std::uint64_t checksum, in.u64());
    TRY(in.finish());
    if (checksum_of(std::span{&content, 1}) != checksum) return Fail{DecodeFault::BadValue};
    return place;
}

/// The number of the file system where it is written on the disk; 0 elsewhere. A snapshot of a subvolume has the same
/// inodes as the original and another number. Others (XFS) make it from the number of the device, which may be another
/// one after the next start.
Result<std::uint64_t> file_system_of(const std::filesystem::path& path) {
    struct statfs facts {};
    if (::statfs(path.c_str(), &facts) != 0) return Fail{runtime::os_error("look at " + path.native(), errno)};
    const auto type = static_cast<std::uint64_t>(facts.f_type);
    if (type != EXT4_SUPER_MAGIC && type != BTRFS_SUPER_MAGIC && type != kZfsMagic) return std::uint64_t{0};
    std::uint64_t number = 0;
    static_assert(sizeof facts.f_fsid == sizeof number);
    std::memcpy(&number, &facts.f_fsid, sizeof number);
    return number;
}

/// A fingerprint of the machine's id, which is not to be shown around (machine-id(5)); zeros where there is none to
/// be seen, as in most containers.
Result<std::array<std::uint8_t, 16>> this_machine() {
    std::array<std::uint8_t, 16> machine{};
    const auto id = runtime::read_file(kMachineFile, kPlaceBytesMax);
    const bool hidden = !id && (id.error().kind == ErrorKind::NotFound || id.error().kind == ErrorKind::Denied);
    if (!id && !hidden) return Fail{id.error()};
    if (hidden || id->empty()) return machine;
    const crypto::Hash256 hash = crypto::sha256(as_bytes("rhizome store place\n" + *id));
    std::copy_n(hash.view().begin(), machine.size(), machine.begin());
    return machine;
}

/// What the file at `path` would say if it were made now.
Result<Place> place_now(const std::filesystem::path& path) {
    Place place;
    TRY(place.file, detail::identity_of(path));
    TRY(place.file_system, file_system_of(path));
    TRY(place.machine, this_machine());
    return place;
}

}  // namespace

std::filesystem::path place_of(const std::filesystem::path& folder) { return folder / "place"; }

Result<PlaceFinding> examine_place(const std::filesystem::path& folder) {
    const std::filesystem::path path = place_of(folder);
    const auto text = runtime::read_file(path, kPlaceBytesMax);
    if (!text && text.error().kind == ErrorKind::NotFound)
        return PlaceFinding{.trust = PlaceTrust::Unknown, .what = "the file that says where it belongs is missing"};
    if (!text && text.error().kind != ErrorKind::Exhausted) return Fail{text.error()};
    const auto place = text ? decode_place(as_bytes(*text)) : Fail{DecodeFault::Trailing};
    if (!place)
        return PlaceFinding{.trust = PlaceTrust::Unknown, .what = "the file that says where it belongs is damaged"};
    TRY(const Place now, place_now(path));
    const auto elsewhere = [](std::string what) {
        return PlaceFinding{.trust = PlaceTrust::Elsewhere, .what = std::move(what)};
    };
    if (now.machine != place->machine) return elsewhere("it was last used on another machine");
    if (now.file_system != place->file_system) return elsewhere("it was last used on another file system");
    if (now.file != place->file) return elsewhere("it is a copy of the one that was last used");
    return PlaceFinding{};
}

Result<void> mark_place(const std::filesystem::path& folder) {
    const std::filesystem::path path = place_of(folder);
    std::filesystem::path half = path;
    half += ".new";
    std::error_code ignored;
    std::filesystem::remove(half, ignored);
    auto written = [&]() -> Result<void> {
        TRY(const auto file, detail::File::open(half, detail::File::Mode::Create));
        TRY(const Place place, place_now(half));
        const Bytes bytes = encode(place);
        const ByteView view{bytes};
        TRY(file.write(0, std::span{&view, 1}));
        TRY(file.sync());
        TRY(detail::rename_file(half, path));
        return detail::sync_folder(folder);
    }();
    if (!written) std::filesystem::remove(half, ignored);
    return written;
}

}  // namespace rhizome::store
