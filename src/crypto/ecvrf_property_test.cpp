// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "crypto/ecvrf.h"

namespace rhizome::crypto {
namespace {

VrfSecret secret_from(std::uint64_t number) {
    SecretArray<32> seed;
    for (std::size_t i = 0; i < 8; ++i) seed.writable()[i] = static_cast<std::uint8_t>(number >> (8 * i));
    return VrfSecret{std::move(seed)};
}

RC_GTEST_PROP(EcvrfProperty, WhatIsProvedVerifies, (std::uint64_t number, const Bytes& alpha)) {
    const VrfSecret secret = secret_from(number);
    const auto proof = prove(secret, alpha);
    RC_ASSERT(proof.has_value());
    const auto output = verify(secret.public_key(), alpha, *proof);
    RC_ASSERT(output.has_value());
    RC_ASSERT(*output == *proof_to_hash(*proof));
}

RC_GTEST_PROP(EcvrfProperty, AnyChangedBitOfAProofIsRefused, (std::uint64_t number, const Bytes& alpha)) {
    const VrfSecret secret = secret_from(number);
    VrfProof proof = *prove(secret, alpha);
    const auto bit = *rc::gen::inRange<std::size_t>(0, 640);
    proof.writable()[bit / 8] ^= static_cast<std::uint8_t>(1u << (bit % 8));
    RC_ASSERT(!verify(secret.public_key(), alpha, proof).has_value());
}

}  // namespace
}  // namespace rhizome::crypto
