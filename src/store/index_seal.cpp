// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "base/codec.h"
#include "runtime/files.h"
#include "store/chain_index.h"
#include "store/detail/file.h"

namespace rhizome::store {
namespace {

constexpr std::uint32_t kSealMagic = 0x4c415352;  // "RSAL"
constexpr std::uint64_t kPieceBytes = 1u << 20;
constexpr std::size_t kSealBytesMax = 64u << 20;  ///< eight million pieces: 8 TiB

std::filesystem::path data_of(const std::filesystem::path& folder) { return folder / "data.mdb"; }
std::filesystem::path seal_of(const std::filesystem::path& folder) { return folder / "seal"; }

/// magic (4) ‖ 0 in use, 1 sealed ‖ identity (24) ‖ sealed: size of the file (8), checksum of each MiB (8) ‖ checksum
/// of all that (8).
struct Seal {
    bool closed = false;
    detail::FileIdentity file{};
    std::uint64_t size = 0;
    std::vector<std::uint64_t> pieces{};
};

std::string encode(const Seal& seal) {
    Writer out;
    out.u32(kSealMagic)
        .boolean(seal.closed)
        .u64(seal.file.inode)
        .u64(seal.file.born_seconds)
        .u64(seal.file.born_nanoseconds);
    if (seal.closed) {
        out.u64(seal.size);
        for (const std::uint64_t piece : seal.pieces) out.u64(piece);
    }
    const ByteView content = out.view();
    out.u64(checksum_of(std::span{&content, 1}));
    return {out.view().begin(), out.view().end()};
}

Result<Seal, DecodeFault> decode_seal(ByteView bytes) {
    if (bytes.size() < 8) return Fail{DecodeFault::Truncated};
    const ByteView content = bytes.first(bytes.size() - 8);
    Reader end{bytes.subspan(content.size())};
    TRY(const std::uint64_t checksum, end.u64());
    if (checksum_of(std::span{&content, 1}) != checksum) return Fail{DecodeFault::BadValue};
    Reader in{content};
    Seal seal;
    TRY(const std::uint32_t magic, in.u32());
    if (magic != kSealMagic) return Fail{DecodeFault::BadValue};
    TRY(seal.closed, in.boolean());
    TRY(seal.file.inode, in.u64());
    TRY(seal.file.born_seconds, in.u64());
    TRY(seal.file.born_nanoseconds, in.u64());
    if (seal.closed) {
        TRY(seal.size, in.u64());
        if (in.left() % 8 != 0 || in.left() / 8 != (seal.size + kPieceBytes - 1) / kPieceBytes)
            return Fail{DecodeFault::BadValue};
        while (!in.empty()) {
            TRY(const std::uint64_t piece, in.u64());
            seal.pieces.push_back(piece);
        }
    }
    TRY(in.finish());
    return seal;
}

Result<std::vector<std::uint64_t>> pieces_of(const detail::File& file, std::uint64_t size) {
    std::vector<std::uint64_t> pieces;
    Bytes buffer(std::min(size, kPieceBytes));
    for (std::uint64_t at = 0; at < size; at += kPieceBytes) {
        const auto piece = std::span{buffer}.first(std::min(kPieceBytes, size - at));
        TRY(file.read(at, piece));
        const ByteView view{piece};
        pieces.push_back(checksum_of(std::span{&view, 1}));
    }
    return pieces;
}

}  // namespace

Result<IndexFinding> examine_index(const std::filesystem::path& folder) {
    std::error_code fault;
    if (!std::filesystem::exists(data_of(folder), fault)) return IndexFinding{.trust = IndexTrust::New};
    bool another_file = false;
    const auto damaged = [&](std::uint64_t offset, std::string what) {
        return IndexFinding{
            .trust = IndexTrust::Damaged, .offset = offset, .what = std::move(what), .another_file = another_file};
    };
    const auto text = runtime::read_file(seal_of(folder), kSealBytesMax);
    if (!text && text.error().kind != ErrorKind::NotFound) return Fail{text.error()};
    if (!text) return damaged(0, fmt::format("its seal {} is missing", seal_of(folder).native()));
    const auto seal = decode_seal(as_bytes(*text));
    if (!seal) return damaged(0, fmt::format("its seal {} cannot be read", seal_of(folder).native()));
    TRY(const auto now, detail::identity_of(data_of(folder)));
    another_file = now != seal->file;
    if (!seal->closed && !another_file) return IndexFinding{.trust = IndexTrust::Ours};
    if (!seal->closed)
        return IndexFinding{.trust = IndexTrust::Foreign,
                            .what = "it was copied while a node was using it",
                            .another_file = another_file};
    TRY(const auto file, detail::File::open(data_of(folder), detail::File::Mode::Read));
    TRY(const std::uint64_t size, file.size());
    if (size != seal->size) return damaged(std::min(size, seal->size), "it has another size than when it was closed");
    TRY(const auto pieces, pieces_of(file, size));
    for (std::size_t i = 0; i < pieces.size(); ++i)
        if (pieces[i] != seal->pieces[i])
            return damaged(i * kPieceBytes, fmt::format("the checksum of the {} bytes from there on is wrong",
                                                        std::min(kPieceBytes, size - i * kPieceBytes)));
    return IndexFinding{.trust = IndexTrust::Sealed, .another_file = another_file};
}

Result<void> mark_index_in_use(const std::filesystem::path& folder) {
    TRY(const auto file, detail::identity_of(data_of(folder)));
    return runtime::replace_file(seal_of(folder), encode(Seal{.file = file}), 0600);
}

Result<void> seal_index(const std::filesystem::path& folder) {
    Seal seal{.closed = true};
    TRY(seal.file, detail::identity_of(data_of(folder)));
    TRY(const auto file, detail::File::open(data_of(folder), detail::File::Mode::Read));
    // A transaction that failed half-way may have left pages that nobody made durable: sealed as they are read here,
    // they would be other ones after a power failure.
    TRY(file.sync());
    TRY(seal.size, file.size());
    TRY(seal.pieces, pieces_of(file, seal.size));
    return runtime::replace_file(seal_of(folder), encode(seal), 0600);
}

Result<void> discard_index(const std::filesystem::path& folder) {
    for (const auto& path : {data_of(folder), folder / "lock.mdb", seal_of(folder)}) {
        auto removed = runtime::remove_file(path);
        if (!removed && removed.error().kind != ErrorKind::NotFound) return removed;
    }
    return {};
}

}  // namespace rhizome::store
