// SPDX-License-Identifier: Apache-2.0
#include "crypto/ed25519.h"

#include <algorithm>

#include <sodium.h>

#include "crypto/detail/ecvrf_steps.h"
#include "crypto/detail/edwards25519.h"
#include "crypto/detail/sodium.h"

namespace rhizome::crypto {
namespace {

static_assert(crypto_sign_ed25519_SECRETKEYBYTES == 64 && crypto_sign_ed25519_PUBLICKEYBYTES == 32);
static_assert(crypto_sign_ed25519_SEEDBYTES == 32);
static_assert(crypto_sign_ed25519_BYTES == 64);

}  // namespace

Result<Ed25519Public, SignatureFault> Ed25519Public::parse(ByteView bytes) {
    detail::prepare_sodium();
    // Our own test of the subgroup: libsodium's answer differs between its versions (CVE-2025-69277), and nodes must
    // agree.
    if (bytes.size() != kSize || !detail::vrf_is_good_point(bytes.first<kSize>())) return Fail{SignatureFault::BadKey};
    Array array;
    std::copy(bytes.begin(), bytes.end(), array.begin());
    return Ed25519Public{array};
}

Ed25519Secret Ed25519Secret::from_seed(std::span<const std::uint8_t, kSeedSize> seed) {
    detail::prepare_sodium();
    SecretArray<64> expanded;
    Ed25519Public::Array key;  // also at the end of `expanded`
    crypto_sign_ed25519_seed_keypair(key.data(), expanded.writable().data(), seed.data());
    return Ed25519Secret{std::move(expanded)};
}

Ed25519Public Ed25519Secret::public_key() const {
    Ed25519Public::Array key;
    const auto half = expanded_.view().last<Ed25519Public::kSize>();
    std::copy(half.begin(), half.end(), key.begin());
    // Zeros are no key of any seed, so this is a key whose bytes went elsewhere.
    ensure(key != Ed25519Public::Array{}, "an Ed25519Secret that was moved from is not used");
    return Ed25519Public{key};
}

Ed25519Signature Ed25519Secret::sign(ByteView message) const {
    (void)public_key();  // refuses a key that was moved from
    Ed25519Signature signature;
    crypto_sign_ed25519_detached(signature.writable().data(), nullptr, message.data(), message.size(),
                                 expanded_.view().data());
    return signature;
}

Result<void, SignatureFault> verify(const Ed25519Public& key, ByteView message, ByteView signature) {
    if (signature.size() != Ed25519Signature::kSize) return Fail{SignatureFault::BadLength};
    if (!detail::below(signature.subspan<32, 32>(), detail::kEdwardsOrder)) return Fail{SignatureFault::OutOfRange};
    detail::prepare_sodium();
    if (crypto_sign_ed25519_verify_detached(signature.data(), message.data(), message.size(), key.bytes().data()) !=
        0) {
        return Fail{SignatureFault::WrongSignature};
    }
    return {};
}

}  // namespace rhizome::crypto
