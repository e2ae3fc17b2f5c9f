// SPDX-License-Identifier: Apache-2.0
// RFC 9381 over libsodium's group operations. What libsodium does that the RFC does not expect, and how we meet it:
//  - Its scalar multiplication refuses points outside the prime-order subgroup, so the try-and-increment candidate goes
//    to the subgroup by three doublings (`crypto_core_ed25519_add` takes every point of the curve).
//  - It refuses a zero scalar and a result that is the identity. Both are ordinary values of a stranger's proof (s =
//  0),
//    so `multiply` answers them itself.
//  - Decoding takes y ≥ p as y − p, and x = 0 with a sign. We look at the bytes first.
//  - Up to 1.0.20 its subgroup test lets points through that are off by the point of order two (CVE-2025-69277). Two
//    nodes with different packages would then disagree, so `vrf_is_good_point` does the test itself.
#include "crypto/ecvrf.h"

#include <algorithm>
#include <initializer_list>

#include <sodium.h>

#include "crypto/detail/ecvrf_steps.h"
#include "crypto/detail/edwards25519.h"
#include "crypto/detail/sodium.h"
#include "crypto/hash.h"

namespace rhizome::crypto {
namespace {

using detail::below;
using detail::kEdwardsOrder;
using detail::VrfPoint;
using detail::VrfScalar;

constexpr std::uint8_t kSuite = 0x03;
constexpr std::size_t kChallengeBytes = 16;  // cLen: 128 bits of soundness
constexpr std::size_t kScalarBytes = 32;     // qLen

// Domain separators of RFC 9381, section 5.
constexpr std::uint8_t kEncodeFront = 0x01;
constexpr std::uint8_t kChallengeFront = 0x02;
constexpr std::uint8_t kOutputFront = 0x03;
constexpr std::uint8_t kBack = 0x00;

constexpr VrfPoint kIdentity{1};

// p = 2^255 − 19, little-endian.
constexpr std::array<std::uint8_t, 32> kPrime{0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                              0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};

/// y below p, and no sign on x = 0 (which happens at y = 1 and y = −1 only): RFC 8032, section 5.1.3.
bool is_canonical(std::span<const std::uint8_t, 32> encoded) {
    VrfPoint y;
    std::copy(encoded.begin(), encoded.end(), y.begin());
    const bool sign = (y[31] & 0x80) != 0;
    y[31] &= 0x7f;
    if (!below(y, kPrime)) return false;
    VrfPoint minus_one = kPrime;
    minus_one[0] -= 1;
    return !sign || (y != kIdentity && y != minus_one);
}

std::array<std::uint8_t, 64> sha512_of(std::initializer_list<ByteView> parts) {
    Sha512 hasher;
    for (const ByteView part : parts) hasher.update(part);
    const auto digest = hasher.finish().array();
    wipe({reinterpret_cast<std::uint8_t*>(&hasher), sizeof hasher});  // it may have taken in a seed
    return digest;
}

ByteView one(const std::uint8_t& byte) { return {&byte, 1}; }

/// scalar · point for a point of the prime-order subgroup; the identity for 0.
VrfPoint multiply(std::span<const std::uint8_t, 32> scalar, const VrfPoint& point) {
    VrfPoint product;
    if (crypto_scalarmult_ed25519_noclamp(product.data(), scalar.data(), point.data()) == 0) return product;
    // The point has prime order, so only the scalar 0 leads here.
    ensure(sodium_is_zero(scalar.data(), scalar.size()) == 1, "a point of the subgroup can be multiplied");
    return kIdentity;
}

VrfPoint multiply_base(std::span<const std::uint8_t, 32> scalar) {
    VrfPoint product;
    if (crypto_scalarmult_ed25519_base_noclamp(product.data(), scalar.data()) == 0) return product;
    ensure(sodium_is_zero(scalar.data(), scalar.size()) == 1, "the base point can be multiplied");
    return kIdentity;
}

/// left − right, of points of the curve.
VrfPoint subtract(const VrfPoint& left, const VrfPoint& right) {
    VrfPoint difference;
    ensure(crypto_core_ed25519_sub(difference.data(), left.data(), right.data()) == 0, "both are points of the curve");
    return difference;
}

/// 8 · point; false when the bytes are no point of the curve.
bool clear_cofactor(VrfPoint& point) {
    for (int doubling = 0; doubling < 3; ++doubling) {
        VrfPoint doubled;
        if (crypto_core_ed25519_add(doubled.data(), point.data(), point.data()) != 0) return false;
        point = doubled;
    }
    return true;
}

/// The secret scalar of RFC 8032: the first half of the hashed seed, clamped, not reduced.
VrfScalar secret_scalar(const SecretArray<32>& seed) {
    auto hashed = sha512_of({seed.view()});
    VrfScalar x{std::span{hashed}.first<32>()};
    wipe(hashed);
    x.writable()[0] &= 0xf8;
    x.writable()[31] &= 0x7f;
    x.writable()[31] |= 0x40;
    return x;
}

/// ECVRF_challenge_generation, as a scalar (its upper half zero).
std::array<std::uint8_t, kScalarBytes> challenge(std::span<const std::uint8_t, 32> key, const VrfPoint& h,
                                                 const VrfPoint& gamma, const VrfPoint& u, const VrfPoint& v) {
    const auto hashed = sha512_of({one(kSuite), one(kChallengeFront), key, h, gamma, u, v, one(kBack)});
    std::array<std::uint8_t, kScalarBytes> c{};
    std::copy_n(hashed.begin(), kChallengeBytes, c.begin());
    return c;
}

VrfOutput output_of(VrfPoint gamma) {
    ensure(clear_cofactor(gamma), "a checked Gamma is a point of the curve");
    return VrfOutput{sha512_of({one(kSuite), one(kOutputFront), gamma, one(kBack)})};
}

struct ProofParts {
    VrfPoint gamma;
    std::array<std::uint8_t, kScalarBytes> c{};  ///< as a scalar, its upper half zero
    std::array<std::uint8_t, kScalarBytes> s{};
};

Result<ProofParts, VrfFault> decode_proof(const VrfProof& proof) {
    const auto bytes = proof.view();
    ProofParts parts;
    std::copy_n(bytes.begin(), 32, parts.gamma.begin());
    std::copy_n(bytes.begin() + 32, kChallengeBytes, parts.c.begin());
    std::copy_n(bytes.begin() + 48, kScalarBytes, parts.s.begin());
    if (!below(parts.s, kEdwardsOrder)) return Fail{VrfFault::BadScalar};
    if (!detail::vrf_is_good_point(parts.gamma)) return Fail{VrfFault::BadGamma};
    return parts;
}

}  // namespace

namespace detail {

bool vrf_is_good_point(std::span<const std::uint8_t, 32> encoded) {
    prepare_sodium();
    if (!is_canonical(encoded)) return false;
    VrfPoint point;
    std::copy(encoded.begin(), encoded.end(), point.begin());
    if (point == kIdentity) return false;
    // In the subgroup exactly when (q − 1) · P + P is the identity. libsodium may refuse the multiplication, which is
    // then right: it does so only off the curve or off the subgroup.
    auto order_minus_one = kEdwardsOrder;
    order_minus_one[0] -= 1;
    VrfPoint inverse;
    if (crypto_scalarmult_ed25519_noclamp(inverse.data(), order_minus_one.data(), point.data()) != 0) return false;
    VrfPoint sum;
    return crypto_core_ed25519_add(sum.data(), inverse.data(), point.data()) == 0 && sum == kIdentity;
}

Result<VrfCandidate, VrfFault> vrf_encode_to_curve(std::span<const std::uint8_t, 32> key, ByteView alpha) {
    if (alpha.size() > kVrfAlphaBytesMax) return Fail{VrfFault::AlphaTooLong};
    for (unsigned counter = 0; counter <= 0xff; ++counter) {
        const auto number = static_cast<std::uint8_t>(counter);
        const auto hashed = sha512_of({one(kSuite), one(kEncodeFront), key, alpha, one(number), one(kBack)});
        VrfPoint point;
        std::copy_n(hashed.begin(), point.size(), point.begin());
        if (is_canonical(point) && clear_cofactor(point) && point != kIdentity) return VrfCandidate{point, number};
    }
    return Fail{VrfFault::NoPoint};
}

VrfScalar vrf_nonce(const SecretArray<32>& seed, const VrfPoint& h) {
    auto hashed = sha512_of({seed.view()});
    auto wide = sha512_of({std::span{hashed}.subspan<32>(), h});
    VrfScalar k;
    crypto_core_ed25519_scalar_reduce(k.writable().data(), wide.data());
    wipe(hashed);
    wipe(wide);
    return k;
}

VrfCommitment vrf_commit(const VrfScalar& k, const VrfPoint& h) {
    return {multiply_base(k.view()), multiply(k.view(), h)};
}

}  // namespace detail

std::string_view name(VrfFault fault) {
    switch (fault) {
        case VrfFault::BadKey: return "BadKey";
        case VrfFault::BadGamma: return "BadGamma";
        case VrfFault::BadScalar: return "BadScalar";
        case VrfFault::WrongProof: return "WrongProof";
        case VrfFault::AlphaTooLong: return "AlphaTooLong";
        case VrfFault::NoPoint: return "NoPoint";
    }
    unreachable("every VrfFault has a name");
}

Error to_error(VrfFault fault) {
    switch (fault) {
        case VrfFault::BadKey: return {ErrorKind::Invalid, "the VRF key is no point of the prime-order group"};
        case VrfFault::BadGamma: return {ErrorKind::Invalid, "the VRF proof's point is not in the prime-order group"};
        case VrfFault::BadScalar: return {ErrorKind::Invalid, "the VRF proof's scalar is not below the group order"};
        case VrfFault::WrongProof: return {ErrorKind::Invalid, "the VRF proof does not fit its key and input"};
        case VrfFault::AlphaTooLong: return {ErrorKind::Invalid, "the VRF input is longer than 1024 bytes"};
        case VrfFault::NoPoint: return {ErrorKind::Invalid, "the VRF input hits no point of the curve"};
    }
    unreachable("every VrfFault has a sentence");
}

Result<VrfPublic, VrfFault> VrfPublic::from_bytes(std::span<const std::uint8_t, kSize> bytes) {
    if (!detail::vrf_is_good_point(bytes)) return Fail{VrfFault::BadKey};
    VrfPublic key;
    std::copy(bytes.begin(), bytes.end(), key.bytes_.writable().begin());
    return key;
}

VrfSecret::VrfSecret(SecretArray<32> seed) : seed_(std::move(seed)) {
    detail::prepare_sodium();
    const VrfPoint point = multiply_base(secret_scalar(seed_).view());
    std::copy(point.begin(), point.end(), public_.bytes_.writable().begin());
}

Result<VrfProof, VrfFault> prove(const VrfSecret& secret, ByteView alpha) {
    const auto key = secret.public_key().view();
    TRY(const auto candidate, detail::vrf_encode_to_curve(key, alpha));
    const VrfPoint& h = candidate.point;
    const SecretArray<32> seed{secret.seed()};
    const VrfScalar x = secret_scalar(seed);
    const VrfPoint gamma = multiply(x.view(), h);
    const VrfScalar k = detail::vrf_nonce(seed, h);
    const auto [u, v] = detail::vrf_commit(k, h);
    const auto c = challenge(key, h, gamma, u, v);

    VrfScalar cx;
    crypto_core_ed25519_scalar_mul(cx.writable().data(), c.data(), x.view().data());
    std::array<std::uint8_t, kScalarBytes> s;
    crypto_core_ed25519_scalar_add(s.data(), k.view().data(), cx.view().data());

    VrfProof proof;
    auto out = std::copy(gamma.begin(), gamma.end(), proof.writable().begin());
    out = std::copy_n(c.begin(), kChallengeBytes, out);
    std::copy(s.begin(), s.end(), out);
    return proof;
}

Result<VrfOutput, VrfFault> verify(const VrfPublic& key, ByteView alpha, const VrfProof& proof) {
    TRY(const ProofParts parts, decode_proof(proof));
    TRY(const auto candidate, detail::vrf_encode_to_curve(key.view(), alpha));
    const VrfPoint& h = candidate.point;
    VrfPoint y;
    std::copy(key.view().begin(), key.view().end(), y.begin());

    const VrfPoint u = subtract(multiply_base(parts.s), multiply(parts.c, y));
    const VrfPoint v = subtract(multiply(parts.s, h), multiply(parts.c, parts.gamma));
    if (challenge(key.view(), h, parts.gamma, u, v) != parts.c) return Fail{VrfFault::WrongProof};
    return output_of(parts.gamma);
}

Result<VrfOutput, VrfFault> proof_to_hash(const VrfProof& proof) {
    TRY(const ProofParts parts, decode_proof(proof));
    return output_of(parts.gamma);
}

}  // namespace rhizome::crypto
