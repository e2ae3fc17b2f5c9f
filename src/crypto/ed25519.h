// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/ids.h"
#include "base/result.h"
#include "crypto/signature_fault.h"

/// Transport keys: Ed25519 (RFC 8032, without prehash or context).
///
/// Values are immutable and may be read by several threads; the free functions may be called from any thread.
namespace rhizome::crypto {

using Ed25519Signature = Id<struct Ed25519SignatureTag, 64>;

/// A point of the group of prime order, in its one encoding. Order and equality are those of the 32 bytes.
class Ed25519Public {
public:
    static constexpr std::size_t kSize = 32;
    using Array = std::array<std::uint8_t, kSize>;

    /// From 32 bytes; another size, a second encoding of a point, a point off the curve, of small order, or with a part
    /// of small order is `BadKey`. The last is stricter than RFC 8032: with such a key two correct verifiers may answer
    /// differently. Costs about as much as a verification: keep the key, not its bytes.
    static Result<Ed25519Public, SignatureFault> parse(ByteView bytes);

    [[nodiscard]] const Array& bytes() const { return bytes_; }

    friend auto operator<=>(const Ed25519Public&, const Ed25519Public&) = default;

private:
    friend class Ed25519Secret;
    explicit Ed25519Public(const Array& bytes) : bytes_(bytes) {}
    Array bytes_;
};

/// A secret key: wiped when it goes, never printed, copied only by `clone()`. One that was moved from can only be
/// destroyed or assigned to; using it stops the process.
class Ed25519Secret {
public:
    static constexpr std::size_t kSeedSize = 32;

    /// From RFC 8032's 32 secret bytes; any value is good.
    static Ed25519Secret from_seed(std::span<const std::uint8_t, kSeedSize> seed);

    [[nodiscard]] Ed25519Secret clone() const { return Ed25519Secret{expanded_.clone()}; }
    [[nodiscard]] Ed25519Public public_key() const;
    /// The same key and message give the same bytes on every machine.
    [[nodiscard]] Ed25519Signature sign(ByteView message) const;
    /// The 32 bytes, for whoever writes an encrypted key file or hands the key to TLS. They never go to a log or an
    /// error.
    [[nodiscard]] std::span<const std::uint8_t, kSeedSize> reveal() const {
        return expanded_.view().first<kSeedSize>();
    }

    /// In constant time.
    friend bool operator==(const Ed25519Secret&, const Ed25519Secret&) = default;

private:
    explicit Ed25519Secret(SecretArray<64> expanded) : expanded_(std::move(expanded)) {}
    SecretArray<64> expanded_;  ///< the seed, then the public key
};

/// Whether `key` signed `message`. As strict as libsodium: S below the group's order (else `OutOfRange`), and the
/// equation without cofactor, so R has one encoding too. Another size than 64 bytes is `BadLength`, anything else
/// `WrongSignature`.
Result<void, SignatureFault> verify(const Ed25519Public& key, ByteView message, ByteView signature);

}  // namespace rhizome::crypto
