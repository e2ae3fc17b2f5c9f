// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"

/// Hash functions. All are plain functions of their bytes; several threads may use them at once. SHA-256 runs on the
/// processor's SHA instructions where there are any (chosen once, at run time) and gives the same bytes without.
namespace rhizome::crypto {

using Hash160 = Id<struct Hash160Tag, 20>;
using Hash256 = Id<struct Hash256Tag, 32>;
using Hash512 = Id<struct Hash512Tag, 64>;
/// What is signed: the hash of something. Callers hash with a tag of their own purpose.
using Digest = Hash256;

// ---- SHA-256 ----------------------------------------------------------------------------------------------------

/// SHA-256 in pieces. Copying costs about a hundred bytes, so a copy is a midstate: absorb what many messages begin
/// with once, then go on from copies.
class Sha256 {
public:
    Sha256();
    Sha256& update(ByteView bytes);
    /// The hash of all that was absorbed so far. Changes nothing: more may follow.
    [[nodiscard]] Hash256 finish() const;

private:
    std::array<std::uint32_t, 8> state_;
    std::uint64_t absorbed_ = 0;            ///< bytes; the last `absorbed_ % 64` of them wait in `waiting_`
    std::array<std::uint8_t, 64> waiting_;  // NOLINT: never read before it is written
};

Hash256 sha256(ByteView bytes);
Hash256 sha256(std::initializer_list<ByteView> parts);

/// The hash of the parts one after the other, without joining them: `sha256(chain.view(), body)`.
template <std::convertible_to<ByteView>... Parts>
requires(sizeof...(Parts) >= 2) Hash256 sha256(const Parts&... parts) { return sha256({ByteView{parts}...}); }

/// SHA-256 twice, as Bitcoin's formats have it. Nothing of ours does.
Hash256 hash256d(ByteView bytes);

// ---- many at once -----------------------------------------------------------------------------------------------
// One SHA-256 is a chain of dependent instructions that leaves half of the processor idle; two run side by side in
// nearly the time of one.

/// Hashes `out.size()` messages of `size` bytes each, which lie one after the other in `messages`.
void sha256_many(ByteView messages, std::size_t size, std::span<Hash256> out);

/// Messages that begin alike and differ in their last few bytes (the nonce of a block header): the front is absorbed
/// once, each hash then costs one compression.
class Sha256Midstate {
public:
    /// Longer tails would need a second compression.
    static constexpr std::size_t kTailBytesMax = 55;

    /// `front` is a whole number of 64-byte blocks.
    explicit Sha256Midstate(ByteView front);

    /// The hash of front ‖ `tail`; `tail` has at most `kTailBytesMax` bytes.
    [[nodiscard]] Hash256 finish(ByteView tail) const;

    /// Hashes of front ‖ tail for nonces `first`, `first` + 1, …, where the last eight bytes of `tail` are replaced by
    /// the nonce, little-endian; past 2^64 − 1 it goes on from 0. `tail` has 8 to `kTailBytesMax` bytes.
    void finish_nonces(ByteView tail, std::uint64_t first, std::span<Hash256> out) const;

private:
    std::array<std::uint32_t, 8> state_;
    std::uint64_t front_bytes_;
};

// ---- one tag per purpose ----------------------------------------------------------------------------------------

/// What a tagged hash is for. Two purposes never share a hash, so a value made for one cannot be passed off as the
/// other's. The chain's own formats (ids, Merkle tree, block hash) are untagged, as docs/spec/chain.md fixes them.
///
/// To add one: a word here, its name in the table in hash.cpp, a row in tests/vectors/crypto/hash.json. Names start
/// with "rhizome/" and are never changed or used again, since old data was hashed with them.
enum class HashTag : unsigned char {
    Seal,        ///< "rhizome/seal": binds a sealed secret to its recipients and context
    KeyFile,     ///< "rhizome/keyfile": check value of a key file
    Possession,  ///< "rhizome/possession": what a key signs to show that its owner has it
    Message,     ///< "rhizome/message": files and texts that a person signs; never a transaction
    Vote,        ///< "rhizome/vote": what a member attests
    Transport,   ///< "rhizome/transport": the key that a node's links are known by, signed by its chain key
    Request,     ///< "rhizome/request": what a client signs to show who asks
};
std::string_view name(HashTag tag);

/// SHA-256 that has absorbed H(name) ‖ H(name), as in BIP-340. Costs no more than starting a plain one.
Sha256 tagged_hasher(HashTag tag);

template <std::convertible_to<ByteView>... Parts>
Hash256 tagged_hash(HashTag tag, const Parts&... parts) {
    Sha256 hasher = tagged_hasher(tag);
    (hasher.update(parts), ...);
    return hasher.finish();
}

// ---- others -----------------------------------------------------------------------------------------------------

/// HMAC with SHA-256 (RFC 2104) of the parts one after the other. Leaves no copy of the key behind.
Hash256 hmac_sha256(ByteView key, std::initializer_list<ByteView> parts);
inline Hash256 hmac_sha256(ByteView key, ByteView message) { return hmac_sha256(key, {message}); }

/// SHA-512 in pieces, for Ed25519 and ECVRF. Copies like `Sha256`.
class Sha512 {
public:
    Sha512();
    Sha512& update(ByteView bytes);
    [[nodiscard]] Hash512 finish() const;

private:
    std::array<std::uint64_t, 8> state_;
    std::uint64_t absorbed_ = 0;
    std::array<std::uint8_t, 128> waiting_;  // NOLINT: never read before it is written
};

Hash512 sha512(ByteView bytes);

Hash160 ripemd160(ByteView bytes);
/// RIPEMD-160 of SHA-256: what a public key is called on the chain.
Hash160 hash160(ByteView bytes);
/// Broken since 2017: only for the script opcode of that name.
Hash160 sha1(ByteView bytes);

}  // namespace rhizome::crypto
