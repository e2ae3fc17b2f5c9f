// SPDX-License-Identifier: Apache-2.0
#include "store/detail/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/core.h>

#include "base/ensure.h"
#include "runtime/os_error.h"

namespace rhizome::store::detail {
namespace {

Error error_of(std::string_view doing, const std::filesystem::path& path, int number) {
    return runtime::os_error(fmt::format("{} {}", doing, path.native()), number);
}

}  // namespace

Result<FileIdentity> identity_of(const std::filesystem::path& path) {
    struct statx facts {};
    if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &facts) != 0)
        return Fail{error_of("look at", path, errno)};
    FileIdentity identity{.inode = facts.stx_ino};
    if ((facts.stx_mask & STATX_BTIME) != 0) {
        identity.born_seconds = static_cast<std::uint64_t>(facts.stx_btime.tv_sec);
        identity.born_nanoseconds = facts.stx_btime.tv_nsec;
    }
    return identity;
}

Result<File> File::open(const std::filesystem::path& path, Mode mode) {
    const int flags = mode == Mode::Read ? O_RDONLY : mode == Mode::Write ? O_RDWR : O_RDWR | O_CREAT | O_EXCL;
    const int number = ::open(path.c_str(), flags | O_CLOEXEC, 0600);
    if (number < 0) return Fail{error_of(mode == Mode::Create ? "make" : "open", path, errno)};
    File file;
    file.path_ = path;
    file.descriptor_ = runtime::Descriptor{number};
    return file;
}

Result<std::size_t> File::read_some(std::uint64_t offset, std::span<std::uint8_t> into) const {
    std::size_t done = 0;
    while (done < into.size()) {
        const ssize_t got =
            ::pread(descriptor_.get(), into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return Fail{error_of("read", path_, errno)};
        if (got == 0) break;
        done += static_cast<std::size_t>(got);
    }
    return done;
}

Result<void> File::read(std::uint64_t offset, std::span<std::uint8_t> into) const {
    TRY(const std::size_t got, read_some(offset, into));
    if (got < into.size())
        return fail(ErrorKind::Corrupt,
                    fmt::format("{} ends at offset {} in the middle of a record", path_.native(), offset + got));
    return {};
}

Result<void> File::write(std::uint64_t offset, std::span<const ByteView> parts) const {
    std::array<iovec, 8> vectors{};
    ensure(parts.size() <= vectors.size(), "few parts make a record");
    std::size_t count = 0;
    for (const ByteView part : parts)
        if (!part.empty()) vectors[count++] = {const_cast<std::uint8_t*>(part.data()), part.size()};
    iovec* first = vectors.data();
    while (count > 0) {
        const ssize_t put = ::pwritev(descriptor_.get(), first, static_cast<int>(count), static_cast<off_t>(offset));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return Fail{error_of("write to", path_, errno)};
        if (put == 0) return Fail{error_of("write to", path_, ENOSPC)};
        offset += static_cast<std::uint64_t>(put);
        for (auto left = static_cast<std::size_t>(put); left > 0;) {
            if (left >= first->iov_len) {
                left -= first->iov_len;
                ++first;
                --count;
            } else {
                first->iov_base = static_cast<std::uint8_t*>(first->iov_base) + left;
                first->iov_len -= left;
                left = 0;
            }
        }
    }
    return {};
}

Result<void> File::allocate(std::uint64_t offset, std::uint64_t size) const {
    for (;;) {
        // Also where the file system has no such call: then the library writes into every block of the range.
        const int number = ::posix_fallocate(descriptor_.get(), static_cast<off_t>(offset), static_cast<off_t>(size));
        if (number == EINTR) continue;
        if (number != 0) return Fail{error_of("make room in", path_, number)};
        return {};
    }
}

Result<std::optional<std::uint64_t>> File::next_content(std::uint64_t offset) const {
    const off_t found = ::lseek(descriptor_.get(), static_cast<off_t>(offset), SEEK_DATA);
    if (found >= 0) return std::optional{static_cast<std::uint64_t>(found)};
    if (errno == ENXIO) return std::optional<std::uint64_t>{};
    return std::optional{offset};  // a file system that cannot tell
}

Result<void> File::sync() const {
    // Not tried again on EINTR or anything else: after a failed sync nobody knows what is on the disk.
    if (::fdatasync(descriptor_.get()) != 0) return Fail{error_of("sync", path_, errno)};
    return {};
}

Result<std::uint64_t> File::size() const {
    struct stat facts {};
    if (::fstat(descriptor_.get(), &facts) != 0) return Fail{error_of("look at", path_, errno)};
    return static_cast<std::uint64_t>(facts.st_size);
}

Result<void> rename_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::error_code failed;
    std::filesystem::rename(from, to, failed);
    if (failed) return Fail{error_of("rename", from, failed.value())};
    return {};
}

Result<void> sync_folder(const std::filesystem::path& path) {
    const runtime::Descriptor folder{::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!folder) return Fail{error_of("open", path, errno)};
    if (::fsync(folder.get()) != 0) return Fail{error_of("sync", path, errno)};
    return {};
}

}  // namespace rhizome::store::detail
