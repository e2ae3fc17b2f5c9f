// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "crypto/seal.h"

namespace rhizome::crypto {
namespace {

struct Sealed {
    std::vector<X25519Secret> secrets;
    Bytes envelope;
};

Sealed sealed_from(std::uint64_t seed, std::size_t recipients, const Bytes& plain, const Bytes& associated) {
    Random random{seed};
    Sealed sealed;
    std::vector<X25519Public> keys;
    for (std::size_t i = 0; i < recipients; ++i) {
        SecretArray<32> bytes;
        random.fill(bytes.writable());
        keys.push_back(sealed.secrets.emplace_back(std::move(bytes)).public_key());
    }
    std::array<std::uint8_t, kSealEntropyBytes> entropy;
    random.fill(entropy);
    auto envelope = seal(plain, keys, associated, entropy);
    RC_ASSERT(envelope.has_value());
    sealed.envelope = *std::move(envelope);
    return sealed;
}

RC_GTEST_PROP(SealProperty, WhatIsSealedOpens, (std::uint64_t seed, const Bytes& plain, const Bytes& associated)) {
    const auto recipients = *rc::gen::inRange<std::size_t>(1, 6);
    const Sealed sealed = sealed_from(seed, recipients, plain, associated);
    for (const auto& secret : sealed.secrets) {
        const auto opened = open(sealed.envelope, secret, associated);
        RC_ASSERT(opened.has_value());
        RC_ASSERT(to_bytes(opened->view()) == plain);
    }
}

RC_GTEST_PROP(SealProperty, AnyChangeFails, (std::uint64_t seed, const Bytes& plain, const Bytes& associated)) {
    Sealed sealed = sealed_from(seed, 2, plain, associated);
    const auto at = *rc::gen::inRange<std::size_t>(0, sealed.envelope.size());
    const auto change = *rc::gen::inRange<unsigned>(1, 256);
    sealed.envelope[at] ^= static_cast<std::uint8_t>(change);
    RC_ASSERT(!open(sealed.envelope, sealed.secrets[0], associated).has_value());
}

}  // namespace
}  // namespace rhizome::crypto
