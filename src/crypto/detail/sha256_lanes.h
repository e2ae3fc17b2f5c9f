// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "crypto/detail/sha256_engine.h"
#include "crypto/hash.h"

/// Many short messages of one shape, two side by side. Private to crypto.
namespace rhizome::crypto::detail {

using Sha256State = std::array<std::uint32_t, 8>;
inline constexpr Sha256State kSha256Start{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// With the compiler's byte swap: gcc 12 makes a hundred vector instructions of the eight shifts and stores of a hash.
inline void store_big_endian(std::uint8_t* to, std::uint32_t word) {
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap32(word);
    std::memcpy(to, &word, sizeof word);
}
inline void store_big_endian(std::uint8_t* to, std::uint64_t word) {
    if constexpr (std::endian::native == std::endian::little) word = __builtin_bswap64(word);
    std::memcpy(to, &word, sizeof word);
}

inline void store_little_endian(std::uint8_t* to, std::uint32_t word) {
    if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap32(word);
    std::memcpy(to, &word, sizeof word);
}

inline void store_hash(const Sha256State& state, Hash256& out) {
    std::uint8_t* to = out.writable().data();
    for (unsigned i = 0; i < 8; ++i) store_big_endian(to + 4 * i, state[i]);
}

/// Room for the last `Blocks` blocks of a message. `pad` writes the padding behind `size` bytes of a message that had
/// `before` bytes in blocks already absorbed; the message bytes themselves may be written before or after.
template <std::size_t Blocks>
struct PaddedBlocks {
    alignas(64) std::uint8_t bytes[64 * Blocks];

    void pad(std::size_t size, std::uint64_t before) {
        bytes[size] = 0x80;
        std::memset(bytes + size + 1, 0, sizeof bytes - size - 9);
        store_big_endian(bytes + sizeof bytes - 8, (before + size) * 8);
    }
};

/// out[i] = H(prefix ‖ the i-th piece of `Size` bytes at `pieces`). `out` may be the memory of `pieces`: a piece is
/// read before any hash that takes its place is written, since hashes are not longer than pieces.
template <std::size_t Size>
void hash_prefixed_pieces(std::uint8_t prefix, const std::uint8_t* pieces, std::size_t count, Hash256* out) {
    static_assert(Size >= Hash256::kSize);
    constexpr std::size_t kBlocks = (1 + Size + 9 + 63) / 64;
    const Sha256Engine& sha = engine();
    PaddedBlocks<kBlocks> first, second;
    first.bytes[0] = prefix;
    first.pad(1 + Size, 0);
    second = first;

    std::size_t i = 0;
    for (; i + 2 <= count; i += 2) {
        std::memcpy(first.bytes + 1, pieces + i * Size, Size);
        std::memcpy(second.bytes + 1, pieces + (i + 1) * Size, Size);
        Sha256State a = kSha256Start, b = kSha256Start;
        sha.compress_two(a.data(), first.bytes, b.data(), second.bytes, kBlocks);
        store_hash(a, out[i]);
        store_hash(b, out[i + 1]);
    }
    if (i < count) {
        std::memcpy(first.bytes + 1, pieces + i * Size, Size);
        Sha256State a = kSha256Start;
        sha.compress(a.data(), first.bytes, kBlocks);
        store_hash(a, out[i]);
    }
}

}  // namespace rhizome::crypto::detail
