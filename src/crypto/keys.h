// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/parallel.h"
#include "base/result.h"
#include "crypto/hash.h"
#include "crypto/key_bytes.h"
#include "crypto/signature_fault.h"

/// Chain keys: ECDSA over secp256k1. Keys are compressed, signatures are strict DER (or 64 bytes) with low S: one
/// encoding for each key and one for each signature, so that nobody can change a transaction's bytes without its owner.
///
/// Values are immutable and may be read by several threads; the free functions may be called from any thread.
namespace rhizome::crypto {

/// A point of the curve, kept with its compressed form. Order and equality are those of the 33 bytes.
class PublicKey {
public:
    using Array = PublicKeyBytes;
    static constexpr std::size_t kSize = std::tuple_size_v<Array>;
    static constexpr std::size_t kUncompressedSize = 65;

    /// From 33 bytes, 02 or 03 in front; anything else, or an x that is on no point, is `BadKey`. Finding y is a square
    /// root, about an eighth of a verification: keep the key, not its bytes, where one key checks many signatures.
    static Result<PublicKey, SignatureFault> parse(ByteView bytes);
    /// From 65 bytes, 04 in front: for vectors and keys from elsewhere, never for the chain. The hybrid forms 06 and 07
    /// are `BadKey`.
    static Result<PublicKey, SignatureFault> parse_uncompressed(ByteView bytes);

    [[nodiscard]] const Array& bytes() const { return compressed_; }
    [[nodiscard]] std::string hex() const { return to_hex(compressed_); }
    /// HASH160 of the 33 bytes.
    [[nodiscard]] Hash160 address() const;

    friend std::strong_ordering operator<=>(const PublicKey& left, const PublicKey& right) {
        return left.compressed_ <=> right.compressed_;
    }
    friend bool operator==(const PublicKey& left, const PublicKey& right) {
        return left.compressed_ == right.compressed_;
    }

private:
    friend struct KeyAccess;  // keys.cpp
    PublicKey() = default;

    Array compressed_{};
    std::array<std::uint8_t, 64> point_{};  ///< in the library's own form
};

/// A secret key: wiped when it goes, never printed, copied only by `clone()`. One that was moved from can only be
/// destroyed or assigned to; signing with it stops the process.
class SecretKey {
public:
    static constexpr std::size_t kSize = 32;

    /// From 32 bytes, big-endian, between 1 and the group's order − 1; else `BadSecret` (one in 2¹²⁸ of random bytes).
    static Result<SecretKey, SignatureFault> from_bytes(ByteView bytes);

    [[nodiscard]] SecretKey clone() const { return SecretKey{bytes_.clone()}; }
    /// Without blinding, like `sign` below. One multiplication: keep the result.
    [[nodiscard]] PublicKey public_key() const;
    /// The 32 bytes, for whoever writes an encrypted key file. They never go to a log or an error.
    [[nodiscard]] std::span<const std::uint8_t, kSize> reveal() const { return bytes_.view(); }

    /// In constant time.
    friend bool operator==(const SecretKey&, const SecretKey&) = default;

private:
    explicit SecretKey(SecretArray<kSize> bytes) : bytes_(std::move(bytes)) {}
    SecretArray<kSize> bytes_;
};

/// The numbers (r, s), each between 1 and the group's order − 1. High S is a value like any other here, since
/// signatures from elsewhere have it; `verify` is what refuses it.
class Signature {
public:
    using Compact = CompactSignature;
    static constexpr std::size_t kCompactSize = std::tuple_size_v<Compact>;
    static constexpr std::size_t kDerSizeMax = 72;

    /// From DER without a hash type behind it. `BadDer` exactly where BIP 66 refuses the encoding (lengths, tags,
    /// signs, padding, trailing bytes, more than 72 bytes), `OutOfRange` for well-formed numbers that are out of range.
    /// What it accepts is what `to_der` gives: `from_der(x)->to_der() == x`.
    static Result<Signature, SignatureFault> from_der(ByteView der);
    /// From r and s as 32 big-endian bytes each; another size is `BadLength`.
    static Result<Signature, SignatureFault> from_compact(ByteView compact);

    [[nodiscard]] Bytes to_der() const;
    [[nodiscard]] const Compact& to_compact() const { return numbers_; }

    /// s is at most half of the group's order.
    [[nodiscard]] bool is_low_s() const;
    /// The same signature with low S. (r, s) and (r, −s) are valid for the same digests.
    [[nodiscard]] Signature normalized() const;

    friend auto operator<=>(const Signature&, const Signature&) = default;

private:
    friend struct KeyAccess;  // keys.cpp
    Signature() = default;
    Compact numbers_{};
};

/// Signs with the nonce of RFC 6979 (SHA-256, no extra data) and low S: the same key and digest give the same bytes on
/// every machine. Constant time; without blinding, which `SigningContext` adds.
Signature sign(const SecretKey& secret, const Digest& digest);

/// Whether `key` signed `digest`. High S is `HighS`, whatever else is right or wrong.
///
/// About 40 µs and core, 46 from bytes (`verify_der`); nothing is allocated.
Result<void, SignatureFault> verify(const PublicKey& key, const Digest& digest, const Signature& signature);

/// The same from bytes as they stand in a transaction: 33 bytes of key and strict DER. Of several faults the first in
/// this order is named: `BadDer`, `OutOfRange`, `HighS`, `BadKey`, `WrongSignature`; cheap checks come before dear
/// ones.
Result<void, SignatureFault> verify_der(ByteView key, const Digest& digest, ByteView der);

/// Keys that were seen lately, with their points: finding the point is an eighth of a verification, and the members of
/// a cluster sign again and again. Nothing but speed depends on it. 128 keys, 13 KB; a key goes when another falls on
/// its place, so strangers can make it useless but no larger. For one thread.
class RecentKeys {
public:
    /// As `verify_der`.
    Result<void, SignatureFault> verify_der(ByteView key, const Digest& digest, ByteView der);

private:
    static constexpr std::size_t kPlaces = 128;  ///< a power of two: the last byte of a key says its place
    std::vector<std::optional<PublicKey>> places_ = std::vector<std::optional<PublicKey>>(kPlaces);
};

/// One signature of a block, for `verify_all`. `der` is borrowed and outlives the call.
struct VerifyJob {
    Digest digest;
    PublicKey::Array key{};
    ByteView der{};
};
using Verdict = Result<void, SignatureFault>;

/// What `verify_der` says of each job, in the order of the jobs, however the work was spread.
///
/// Costs as much as that many calls divided by the width: ECDSA has no equation that checks many signatures in one.
/// Every job is checked even when an early one fails, so a stranger's bad block costs as much as a good one; callers
/// bound the number of jobs by the block's limits.
std::vector<Verdict> verify_all(std::span<const VerifyJob> jobs, Parallel& parallel);

/// Signs as `sign` does and gives the same bytes, but hides the secret's use from power and timing measurements behind
/// a random start value. That is worth having where a key stays in memory for months (a node's own); entropy is handed
/// in, since deciding code has none.
///
/// Const members may be called from several threads; `reblind` needs the object for itself.
class SigningContext {
public:
    explicit SigningContext(std::span<const std::uint8_t, 32> entropy);
    ~SigningContext();
    SigningContext(SigningContext&&) noexcept;
    SigningContext& operator=(SigningContext&&) noexcept;

    /// Changes the start value: fresh entropy now and then costs an attacker the measurements made so far.
    void reblind(std::span<const std::uint8_t, 32> entropy);

    [[nodiscard]] Signature sign(const SecretKey& secret, const Digest& digest) const;
    [[nodiscard]] PublicKey public_key(const SecretKey& secret) const;

private:
    struct Context;
    std::unique_ptr<Context> context_;
};

}  // namespace rhizome::crypto
