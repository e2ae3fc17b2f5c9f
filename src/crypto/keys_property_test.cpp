// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "crypto/keys.h"

namespace rhizome::crypto {
namespace {

Digest any_digest() {
    return Digest{*rc::gen::container<std::array<std::uint8_t, 32>>(rc::gen::arbitrary<std::uint8_t>())};
}
SecretKey any_secret() { return *SecretKey::from_bytes(sha256(any_digest().view()).view()); }

/// Numbers of all sizes, not only those near 2²⁵⁶ that random bytes give: short ones are where encodings go wrong.
std::array<std::uint8_t, 32> any_number() {
    auto number = any_digest().array();
    const auto zeros = *rc::gen::inRange<std::size_t>(0, 32);
    std::fill_n(number.begin(), zeros, std::uint8_t{0});
    return number;
}

Bytes any_compact() {
    const auto r = any_number(), s = any_number();
    Bytes compact(Signature::kCompactSize);
    std::copy(s.begin(), s.end(), std::copy(r.begin(), r.end(), compact.begin()));
    return compact;
}

RC_GTEST_PROP(KeysProperty, WhatIsSignedVerifies, ()) {
    const SecretKey secret = any_secret();
    const Digest digest = any_digest();
    const Signature signature = sign(secret, digest);
    RC_ASSERT(signature.is_low_s());
    RC_ASSERT(verify(secret.public_key(), digest, signature).has_value());
    RC_ASSERT(verify_der(secret.public_key().bytes(), digest, signature.to_der()).has_value());
    RC_ASSERT(PublicKey::parse(secret.public_key().bytes()).value() == secret.public_key());
}

// Few keys and many signatures, so that places are kept, hit and taken; keys and signatures may be broken.
RC_GTEST_PROP(KeysProperty, RecentKeysSayWhatVerifyingSays, ()) {
    std::vector<SecretKey> secrets;
    for (int i = *rc::gen::inRange(1, 5); i > 0; --i) secrets.push_back(any_secret());
    RecentKeys recent;
    for (int i = 0; i < 12; ++i) {
        const auto one = *rc::gen::inRange<std::size_t>(0, secrets.size());
        const auto other = *rc::gen::inRange<std::size_t>(0, secrets.size());
        const Digest digest = any_digest();
        Bytes key = to_bytes(secrets[one].public_key().bytes());
        Bytes der = sign(secrets[other], digest).to_der();
        switch (*rc::gen::inRange(0, 6)) {
            case 0: key[*rc::gen::inRange<std::size_t>(0, key.size())] ^= 1; break;
            case 1: key.pop_back(); break;
            case 2: key.clear(); break;
            case 3: der[*rc::gen::inRange<std::size_t>(0, der.size())] ^= 1; break;
            default: break;
        }
        const auto expected = verify_der(key, digest, der);
        const auto got = recent.verify_der(key, digest, der);
        RC_ASSERT(expected.has_value() == got.has_value());
        if (!expected) RC_ASSERT(expected.error() == got.error());
    }
}

RC_GTEST_PROP(KeysProperty, ADerSignatureReadsBackAsWritten, ()) {
    const auto signature = Signature::from_compact(any_compact());
    RC_PRE(signature.has_value());
    RC_ASSERT(Signature::from_der(signature->to_der()).value() == *signature);
    RC_ASSERT(signature->to_der().size() <= Signature::kDerSizeMax);
}

// (r, s) and (r, −s): exactly one is low, and normalising either gives it.
RC_GTEST_PROP(KeysProperty, NormalisingIsIdempotentAndLow, ()) {
    const auto signature = Signature::from_compact(any_compact());
    RC_PRE(signature.has_value());
    const Signature low = signature->normalized();
    RC_ASSERT(low.is_low_s());
    RC_ASSERT(low.normalized() == low);
    RC_ASSERT((low == *signature) == signature->is_low_s());
}

/// A good DER signature with a few bytes changed, put in or taken out: near misses, which random bytes never are.
Bytes near_der() {
    Bytes der = sign(any_secret(), any_digest()).to_der();
    for (int edits = *rc::gen::inRange(0, 3); edits > 0; --edits) {
        const auto at = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(0, der.size()));
        const auto byte = *rc::gen::arbitrary<std::uint8_t>();
        switch (*rc::gen::inRange(0, 4)) {
            case 0: der[static_cast<std::size_t>(at)] = byte; break;
            case 1: der.insert(der.begin() + at, byte); break;
            case 2: der.erase(der.begin() + at); break;
            default: der[static_cast<std::size_t>(at)] ^= static_cast<std::uint8_t>(1u << (byte % 8)); break;
        }
    }
    return der;
}

RC_GTEST_PROP(KeysProperty, OnlyCanonicalDerIsAccepted, ()) {
    const Bytes der = near_der();
    const auto signature = Signature::from_der(der);
    if (signature) RC_ASSERT(signature->to_der() == der);
}

// One flipped bit in the key, the digest or the signature, wherever it is, makes the verdict a refusal. The digest is a
// hash, as everywhere: for the digest zero alone, a key and its negative (02 and 03 in front) share their signatures,
// because nothing but the key's x enters the equation (vector "digest zero, the key with the other sign").
RC_GTEST_PROP(KeysProperty, AFlippedBitIsRefused, ()) {
    const SecretKey secret = any_secret();
    Digest digest = sha256(any_digest().view());
    Bytes der = sign(secret, digest).to_der();
    PublicKey::Array key = secret.public_key().bytes();
    const auto flip = [](std::span<std::uint8_t> bytes) {
        const auto bit = *rc::gen::inRange<std::size_t>(0, bytes.size() * 8);
        bytes[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    };
    switch (*rc::gen::inRange(0, 3)) {
        case 0: flip(key); break;
        case 1: flip(digest.writable()); break;
        default: flip(der); break;
    }
    RC_ASSERT(!verify_der(key, digest, der).has_value());
}

// Every bit of one signature, so that none is left to chance.
TEST(KeysProperty, EveryFlippedBitOfASignatureIsRefused) {
    const SecretKey secret = *SecretKey::from_bytes(sha256(as_bytes("alice")).view());
    const auto key = secret.public_key().bytes();
    const Digest digest = sha256(as_bytes("text"));
    const Bytes good = sign(secret, digest).to_der();
    ASSERT_TRUE(verify_der(key, digest, good));
    for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
        Bytes der = good;
        der[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
        EXPECT_FALSE(verify_der(key, digest, der)) << "bit " << bit;
    }
}

RC_GTEST_PROP(KeysProperty, AnAcceptedKeyIsItsOwnEncoding, ()) {
    const auto x = any_digest().array();
    Bytes encoded(PublicKey::kSize);
    encoded[0] = static_cast<std::uint8_t>(*rc::gen::inRange(0, 8));
    std::copy(x.begin(), x.end(), encoded.begin() + 1);
    const auto key = PublicKey::parse(encoded);
    if (key) RC_ASSERT(to_bytes(key->bytes()) == encoded);
    RC_ASSERT(!(key && encoded[0] != 2 && encoded[0] != 3));
}

}  // namespace
}  // namespace rhizome::crypto
