// SPDX-License-Identifier: Apache-2.0
#include "crypto/ecvrf.h"

#include <gtest/gtest.h>

#include "crypto/detail/ecvrf_steps.h"

namespace rhizome::crypto {
namespace {

VrfSecret secret_of(std::uint8_t fill) {
    SecretArray<32> seed;
    for (auto& byte : seed.writable()) byte = fill;
    return VrfSecret{std::move(seed)};
}

TEST(Ecvrf, AProofVerifiesAndGivesTheOutputOfItsHash) {
    const VrfSecret secret = secret_of(7);
    const Bytes alpha{1, 2, 3};
    const auto proof = prove(secret, alpha);
    ASSERT_TRUE(proof);
    const auto output = verify(secret.public_key(), alpha, *proof);
    ASSERT_TRUE(output);
    EXPECT_EQ(*output, *proof_to_hash(*proof));
}

TEST(Ecvrf, AProofIsForOneKeyAndOneAlphaOnly) {
    const VrfSecret secret = secret_of(7);
    const auto proof = prove(secret, Bytes{1});
    ASSERT_TRUE(proof);
    EXPECT_EQ(verify(secret.public_key(), Bytes{2}, *proof).error(), VrfFault::WrongProof);
    EXPECT_EQ(verify(secret_of(8).public_key(), Bytes{1}, *proof).error(), VrfFault::WrongProof);
}

TEST(Ecvrf, AlphaHasABound) {
    const VrfSecret secret = secret_of(7);
    EXPECT_TRUE(verify(secret.public_key(), {}, *prove(secret, {})));
    const auto longest = prove(secret, Bytes(kVrfAlphaBytesMax));
    ASSERT_TRUE(longest);
    EXPECT_TRUE(verify(secret.public_key(), Bytes(kVrfAlphaBytesMax), *longest));
    EXPECT_EQ(prove(secret, Bytes(kVrfAlphaBytesMax + 1)).error(), VrfFault::AlphaTooLong);
    EXPECT_EQ(verify(secret.public_key(), Bytes(kVrfAlphaBytesMax + 1), *longest).error(), VrfFault::AlphaTooLong);
}

// libsodium refuses to multiply by zero; a stranger may send s = 0 all the same.
TEST(Ecvrf, AZeroScalarIsAnOrdinaryWrongProof) {
    const VrfSecret secret = secret_of(7);
    VrfProof proof = *prove(secret, Bytes{1});
    for (std::size_t i = 32; i < 80; ++i) proof.writable()[i] = 0;
    EXPECT_EQ(verify(secret.public_key(), Bytes{1}, proof).error(), VrfFault::WrongProof);
}

TEST(Ecvrf, AnHonestKeyPassesItsOwnValidation) {
    for (std::uint8_t fill = 0; fill < 20; ++fill) {
        const VrfSecret secret = secret_of(fill);
        const auto key = VrfPublic::from_bytes(secret.public_key().view());
        ASSERT_TRUE(key);
        EXPECT_EQ(*key, secret.public_key());
    }
}

TEST(Ecvrf, TheTryAndIncrementCounterReallyCounts) {
    const VrfSecret secret = secret_of(7);
    unsigned beyond_first = 0;
    for (std::uint8_t i = 0; i < 64; ++i) {
        const auto candidate = detail::vrf_encode_to_curve(secret.public_key().view(), Bytes{i});
        ASSERT_TRUE(candidate);
        EXPECT_TRUE(detail::vrf_is_good_point(candidate->point));
        if (candidate->counter > 0) ++beyond_first;
    }
    EXPECT_GT(beyond_first, 10u);  // about half of all tries miss
}

}  // namespace
}  // namespace rhizome::crypto
