// SPDX-License-Identifier: Apache-2.0
#include "crypto/hash.h"

#include <algorithm>
#include <cstring>

#include "base/ensure.h"
#include "crypto/detail/sha256_lanes.h"

#define OPENSSL_SUPPRESS_DEPRECATED  // the successors look the algorithm up by name at each call
#include <openssl/ripemd.h>
#include <openssl/sha.h>

namespace rhizome::crypto {

using detail::kSha256Start;
using detail::PaddedBlocks;
using detail::Sha256State;
using detail::store_big_endian;
using detail::store_hash;
using detail::store_little_endian;

// ---- SHA-256 ----------------------------------------------------------------------------------------------------

Sha256::Sha256() : state_(kSha256Start) {}

Sha256& Sha256::update(ByteView bytes) {
    if (bytes.empty()) return *this;
    const std::size_t waiting = absorbed_ % 64;
    absorbed_ += bytes.size();
    if (waiting + bytes.size() < 64) {
        std::memcpy(waiting_.data() + waiting, bytes.data(), bytes.size());
        return *this;
    }
    const detail::Sha256Engine& sha = detail::engine();
    if (waiting > 0) {
        const std::size_t taken = 64 - waiting;
        std::memcpy(waiting_.data() + waiting, bytes.data(), taken);
        sha.compress(state_.data(), waiting_.data(), 1);
        bytes = bytes.subspan(taken);
    }
    if (bytes.size() >= 64) {
        sha.compress(state_.data(), bytes.data(), bytes.size() / 64);
        bytes = bytes.last(bytes.size() % 64);
    }
    if (!bytes.empty()) std::memcpy(waiting_.data(), bytes.data(), bytes.size());
    return *this;
}

Hash256 Sha256::finish() const {
    const std::size_t waiting = absorbed_ % 64;
    Sha256State state = state_;
    PaddedBlocks<2> last;
    std::memcpy(last.bytes, waiting_.data(), waiting);
    const std::size_t blocks = waiting <= 55 ? 1 : 2;
    std::memset(last.bytes + waiting, 0, 64 * blocks - waiting);
    last.bytes[waiting] = 0x80;
    store_big_endian(last.bytes + 64 * blocks - 8, absorbed_ * 8);
    detail::engine().compress(state.data(), last.bytes, blocks);
    Hash256 hash;
    store_hash(state, hash);
    return hash;
}

Hash256 sha256(ByteView bytes) {
    if (bytes.size() > 55) return Sha256{}.update(bytes).finish();
    // Keys, ids and small records fit one block: no need to go through the buffer of a hasher.
    PaddedBlocks<1> block{};
    if (!bytes.empty()) std::memcpy(block.bytes, bytes.data(), bytes.size());
    block.bytes[bytes.size()] = 0x80;
    store_big_endian(block.bytes + 56, std::uint64_t{bytes.size()} * 8);
    Sha256State state = kSha256Start;
    detail::engine().compress(state.data(), block.bytes, 1);
    Hash256 hash;
    store_hash(state, hash);
    return hash;
}

Hash256 sha256(std::initializer_list<ByteView> parts) {
    Sha256 hasher;
    for (const ByteView part : parts) hasher.update(part);
    return hasher.finish();
}

Hash256 hash256d(ByteView bytes) { return sha256(sha256(bytes).view()); }

// ---- many at once -----------------------------------------------------------------------------------------------

void sha256_many(ByteView messages, std::size_t size, std::span<Hash256> out) {
    ensure(size == 0 ? messages.empty() : messages.size() % size == 0 && messages.size() / size == out.size(),
           "as many messages as hashes");
    const detail::Sha256Engine& sha = detail::engine();
    const std::size_t whole = size / 64, rest = size % 64, last_blocks = rest <= 55 ? 1 : 2;
    PaddedBlocks<2> first{}, second;
    first.bytes[rest] = 0x80;
    store_big_endian(first.bytes + 64 * last_blocks - 8, std::uint64_t{size} * 8);
    second = first;

    std::size_t i = 0;
    for (; i + 2 <= out.size(); i += 2) {
        const std::uint8_t* one = messages.data() + i * size;
        const std::uint8_t* two = one + size;
        Sha256State a = kSha256Start, b = kSha256Start;
        if (whole > 0) sha.compress_two(a.data(), one, b.data(), two, whole);
        if (rest > 0) {
            std::memcpy(first.bytes, one + 64 * whole, rest);
            std::memcpy(second.bytes, two + 64 * whole, rest);
        }
        sha.compress_two(a.data(), first.bytes, b.data(), second.bytes, last_blocks);
        store_hash(a, out[i]);
        store_hash(b, out[i + 1]);
    }
    if (i < out.size()) out[i] = sha256(messages.subspan(i * size));
}

Sha256Midstate::Sha256Midstate(ByteView front) : state_(kSha256Start), front_bytes_(front.size()) {
    ensure(front.size() % 64 == 0, "a midstate stands between two blocks");
    if (!front.empty()) detail::engine().compress(state_.data(), front.data(), front.size() / 64);
}

Hash256 Sha256Midstate::finish(ByteView tail) const {
    ensure(tail.size() <= kTailBytesMax, "a tail fits one block with its padding");
    PaddedBlocks<1> last;
    if (!tail.empty()) std::memcpy(last.bytes, tail.data(), tail.size());
    last.pad(tail.size(), front_bytes_);
    Sha256State state = state_;
    detail::engine().compress(state.data(), last.bytes, 1);
    Hash256 hash;
    store_hash(state, hash);
    return hash;
}

void Sha256Midstate::finish_nonces(ByteView tail, std::uint64_t first, std::span<Hash256> out) const {
    ensure(tail.size() >= 8 && tail.size() <= kTailBytesMax, "a tail has room for a nonce and fits one block");
    const detail::Sha256Engine& sha = detail::engine();
    PaddedBlocks<1> one, two;
    std::memcpy(one.bytes, tail.data(), tail.size());
    one.pad(tail.size(), front_bytes_);
    two = one;
    const auto put_nonce = [&](PaddedBlocks<1>& block, std::uint64_t nonce) {
        std::memcpy(block.bytes + tail.size() - 8, &nonce, 8);  // the hosts we build for are little-endian
    };

    std::size_t i = 0;
    for (; i + 2 <= out.size(); i += 2) {
        put_nonce(one, first + i);
        put_nonce(two, first + i + 1);
        Sha256State a = state_, b = state_;
        sha.compress_two(a.data(), one.bytes, b.data(), two.bytes, 1);
        store_hash(a, out[i]);
        store_hash(b, out[i + 1]);
    }
    if (i < out.size()) {
        put_nonce(one, first + i);
        Sha256State a = state_;
        sha.compress(a.data(), one.bytes, 1);
        store_hash(a, out[i]);
    }
}

// ---- one tag per purpose ----------------------------------------------------------------------------------------

namespace {

constexpr std::array<std::string_view, 7> kTagNames{
    "rhizome/seal",        // Seal
    "rhizome/keyfile",     // KeyFile
    "rhizome/possession",  // Possession
    "rhizome/message",     // Message
    "rhizome/vote",        // Vote
    "rhizome/transport",   // Transport
    "rhizome/request",     // Request
};
static_assert(kTagNames.size() == static_cast<std::size_t>(HashTag::Request) + 1, "a name for every tag");

}  // namespace

std::string_view name(HashTag tag) {
    const auto index = static_cast<std::size_t>(tag);
    ensure(index < kTagNames.size(), "a HashTag has a name");
    return kTagNames[index];
}

Sha256 tagged_hasher(HashTag tag) {
    static const auto starts = [] {
        std::array<Sha256, kTagNames.size()> hashers;
        for (std::size_t i = 0; i < hashers.size(); ++i) {
            const Hash256 hashed_name = sha256(as_bytes(kTagNames[i]));
            hashers[i].update(hashed_name.view()).update(hashed_name.view());
        }
        return hashers;
    }();
    const auto index = static_cast<std::size_t>(tag);
    ensure(index < starts.size(), "a HashTag has a name");
    return starts[index];
}

// ---- others -----------------------------------------------------------------------------------------------------

Hash256 hmac_sha256(ByteView key, std::initializer_list<ByteView> parts) {
    std::array<std::uint8_t, 64> pad{};
    if (key.size() > pad.size()) {
        Hash256 short_key = sha256(key);
        std::copy(short_key.view().begin(), short_key.view().end(), pad.begin());
        wipe(short_key.writable());
    } else {
        std::copy(key.begin(), key.end(), pad.begin());
    }
    for (auto& byte : pad) byte ^= 0x36;
    Sha256 hasher;
    hasher.update(pad);
    for (const ByteView part : parts) hasher.update(part);
    const Hash256 inner = hasher.finish();

    for (auto& byte : pad) byte ^= 0x36 ^ 0x5c;
    hasher = Sha256{};
    hasher.update(pad).update(inner.view());
    const Hash256 outer = hasher.finish();
    // A hasher that absorbed the padded key is as good as the key to whoever wants to forge.
    wipe(pad);
    wipe({reinterpret_cast<std::uint8_t*>(&hasher), sizeof hasher});
    return outer;
}

Sha512::Sha512() {
    SHA512_CTX context;
    SHA512_Init(&context);
    static_assert(sizeof context.h == sizeof state_);
    std::memcpy(state_.data(), context.h, sizeof context.h);
}

namespace {

void compress_sha512(std::array<std::uint64_t, 8>& state, const std::uint8_t* data, std::size_t blocks) {
    SHA512_CTX context{};
    std::memcpy(context.h, state.data(), sizeof context.h);
    for (std::size_t block = 0; block < blocks; ++block) SHA512_Transform(&context, data + 128 * block);
    std::memcpy(state.data(), context.h, sizeof context.h);
}

}  // namespace

Sha512& Sha512::update(ByteView bytes) {
    if (bytes.empty()) return *this;
    const std::size_t waiting = absorbed_ % 128;
    absorbed_ += bytes.size();
    if (waiting + bytes.size() < 128) {
        std::memcpy(waiting_.data() + waiting, bytes.data(), bytes.size());
        return *this;
    }
    if (waiting > 0) {
        const std::size_t taken = 128 - waiting;
        std::memcpy(waiting_.data() + waiting, bytes.data(), taken);
        compress_sha512(state_, waiting_.data(), 1);
        bytes = bytes.subspan(taken);
    }
    if (bytes.size() >= 128) {
        compress_sha512(state_, bytes.data(), bytes.size() / 128);
        bytes = bytes.last(bytes.size() % 128);
    }
    if (!bytes.empty()) std::memcpy(waiting_.data(), bytes.data(), bytes.size());
    return *this;
}

Hash512 Sha512::finish() const {
    const std::size_t waiting = absorbed_ % 128;
    std::array<std::uint64_t, 8> state = state_;
    std::array<std::uint8_t, 256> last{};
    std::memcpy(last.data(), waiting_.data(), waiting);
    last[waiting] = 0x80;
    const std::size_t blocks = waiting <= 111 ? 1 : 2;
    // The length field has 128 bits; ours never passes 64.
    store_big_endian(last.data() + 128 * blocks - 8, absorbed_ * 8);
    compress_sha512(state, last.data(), blocks);
    Hash512 hash;
    for (unsigned i = 0; i < 8; ++i) store_big_endian(hash.writable().data() + 8 * i, state[i]);
    return hash;
}

Hash512 sha512(ByteView bytes) { return Sha512{}.update(bytes).finish(); }

Hash160 ripemd160(ByteView bytes) {
    RIPEMD160_CTX context;
    RIPEMD160_Init(&context);
    RIPEMD160_Update(&context, bytes.data(), bytes.size());
    Hash160 hash;
    RIPEMD160_Final(hash.writable().data(), &context);
    return hash;
}

Hash160 hash160(ByteView bytes) {
    // 32 bytes always make the same single block around them, so the buffering and padding in between is left out.
    const Hash256 inner = sha256(bytes);
    alignas(16) std::uint8_t block[64] = {};
    std::memcpy(block, inner.view().data(), Hash256::kSize);
    block[32] = 0x80;
    block[57] = 0x01;  // 256 bits, little-endian at offset 56
    RIPEMD160_CTX context;
    RIPEMD160_Init(&context);
    RIPEMD160_Transform(&context, block);
    const std::array<std::uint32_t, 5> words{context.A, context.B, context.C, context.D, context.E};
    Hash160 hash;
    for (unsigned i = 0; i < 5; ++i) store_little_endian(hash.writable().data() + 4 * i, words[i]);
    return hash;
}

Hash160 sha1(ByteView bytes) {
    SHA_CTX context;
    SHA1_Init(&context);
    SHA1_Update(&context, bytes.data(), bytes.size());
    Hash160 hash;
    SHA1_Final(hash.writable().data(), &context);
    return hash;
}

}  // namespace rhizome::crypto
