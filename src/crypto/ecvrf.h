// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "crypto/key_bytes.h"

/// A verifiable random function: ECVRF-EDWARDS25519-SHA512-TAI of RFC 9381 (suite 0x03).
///
/// The holder of a key turns an input `alpha` into an output `beta` that nobody else can foretell and that the holder
/// cannot choose, with a proof that `beta` is the right one. The chain's seed goes from block to block this way.
///
/// Where we are stricter than the RFC. Validity of a block hangs on these rules, so every one is decided by bytes alone
/// (never by what a version of a library happens to accept), and what `prove` makes passes all of them:
///  - a public key lies in the prime-order subgroup; the RFC's validation only refuses keys of small order. A key with
///  a
///    small component would leave room for several outputs of one input.
///  - Gamma lies in the prime-order subgroup and is not the identity; the RFC asks for a point of the curve. Otherwise
///    a dishonest prover could write up to eight proofs of one output, and so several valid blocks for one turn.
///  - `alpha` has at most 1,024 bytes.
/// As the RFC has it: y coordinates below p, no "negative zero" x, s below q; other encodings are refused.
///
/// Time: proving does not depend on the secret in branches or addresses. It does depend on `alpha` and the public key
/// (how many tries the hash takes to hit the curve), which everybody knows here: never use a secret as `alpha`.
namespace rhizome::crypto {

enum class VrfFault : unsigned char {
    BadKey,        ///< not the canonical encoding of a point other than the identity in the prime-order subgroup
    BadGamma,      ///< the same of a proof's first part
    BadScalar,     ///< the proof's s is not below the group order
    WrongProof,    ///< well formed, but not a proof for this key and this alpha
    AlphaTooLong,  ///< above `kVrfAlphaBytesMax`
    NoPoint,       ///< none of 256 tries hit the curve: 2^-256, so nobody can show such an input
};
std::string_view name(VrfFault fault);
Error to_error(VrfFault fault);

/// Our own inputs are 32 bytes; every try hashes alpha again, so a stranger's alpha costs at most 256 KiB of hashing.
inline constexpr std::size_t kVrfAlphaBytesMax = 1024;

/// A key that has been checked; there is no other way to get one.
class VrfPublic {
public:
    static constexpr std::size_t kSize = 32;

    static Result<VrfPublic, VrfFault> from_bytes(std::span<const std::uint8_t, kSize> bytes);

    [[nodiscard]] std::span<const std::uint8_t, kSize> view() const { return bytes_.view(); }
    [[nodiscard]] std::string hex() const { return bytes_.hex(); }

    friend auto operator<=>(const VrfPublic&, const VrfPublic&) = default;
    friend bool operator==(const VrfPublic&, const VrfPublic&) = default;

private:
    friend class VrfSecret;
    VrfPublic() = default;
    Id<struct VrfPublicTag, kSize> bytes_;
};

/// A 32-byte RFC 8032 seed with its public half. Any 32 bytes are a seed; whoever makes one hands in good ones. Never
/// use one seed for the VRF and for signatures: `derive.h` gives each its own.
class VrfSecret {
public:
    explicit VrfSecret(SecretArray<32> seed);

    [[nodiscard]] const VrfPublic& public_key() const { return public_; }
    [[nodiscard]] std::span<const std::uint8_t, 32> seed() const { return seed_.view(); }

private:
    SecretArray<32> seed_;
    VrfPublic public_;
};

/// The proof for `alpha`: the same bytes each time. Fails on the size of alpha only (and `NoPoint`, see there).
Result<VrfProof, VrfFault> prove(const VrfSecret& secret, ByteView alpha);

/// The output that `proof` proves for `alpha` under `key`, or what is wrong with it.
Result<VrfOutput, VrfFault> verify(const VrfPublic& key, ByteView alpha, const VrfProof& proof);

/// The output of a proof that is known to be valid (our own, or verified before); checks its form, not its truth.
Result<VrfOutput, VrfFault> proof_to_hash(const VrfProof& proof);

}  // namespace rhizome::crypto
