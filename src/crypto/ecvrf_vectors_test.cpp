// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "crypto/detail/ecvrf_steps.h"
#include "crypto/ecvrf.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using test::text;

Bytes bytes_at(const boost::json::value& row, std::string_view key) {
    const auto bytes = from_hex(text(row, key));
    EXPECT_TRUE(bytes) << key << " is not hexadecimal";
    return bytes.value_or(Bytes{});
}

void check_good(const boost::json::value& row) {
    const Bytes seed_bytes = bytes_at(row, "SK");
    const Bytes alpha = bytes_at(row, "alpha");
    ASSERT_EQ(seed_bytes.size(), 32u);
    const SecretArray<32> seed{ByteView{seed_bytes}.first<32>()};
    const VrfSecret secret{seed.clone()};
    EXPECT_EQ(secret.public_key().hex(), text(row, "PK"));

    const auto candidate = detail::vrf_encode_to_curve(secret.public_key().view(), alpha);
    ASSERT_TRUE(candidate);
    EXPECT_EQ(candidate->counter, row.at("ctr").to_number<int>());
    EXPECT_EQ(to_hex(candidate->point), text(row, "H"));
    const auto k = detail::vrf_nonce(seed, candidate->point);
    EXPECT_EQ(to_hex(k.view()), text(row, "k_scalar"));
    const auto commitment = detail::vrf_commit(k, candidate->point);
    EXPECT_EQ(to_hex(commitment.u), text(row, "U"));
    EXPECT_EQ(to_hex(commitment.v), text(row, "V"));

    const auto proof = prove(secret, alpha);
    ASSERT_TRUE(proof);
    EXPECT_EQ(proof->hex(), text(row, "pi"));
    const auto output = verify(secret.public_key(), alpha, *proof);
    ASSERT_TRUE(output);
    EXPECT_EQ(output->hex(), text(row, "beta"));
    EXPECT_EQ(proof_to_hash(*proof)->hex(), text(row, "beta"));
}

TEST(EcvrfVectors, Rfc9381) {
    const auto file = test::shared_vectors("rfc9381_ecvrf_edwards25519.json");
    if (!file) GTEST_SKIP() << test::absent_vectors("rfc9381_ecvrf_edwards25519.json");
    for (const auto& row : file->at("tai").as_array()) check_good(row);
}

TEST(EcvrfVectors, OwnGood) {
    const auto file = test::own_vectors("crypto/ecvrf.json");
    for (const auto& row : file.at("good").as_array()) check_good(row);
}

TEST(EcvrfVectors, OwnBadProofs) {
    const auto file = test::own_vectors("crypto/ecvrf.json");
    for (const auto& row : file.at("bad_proofs").as_array()) {
        SCOPED_TRACE(text(row, "why"));
        const auto key = VrfPublic::from_bytes(ByteView{bytes_at(row, "PK")}.first<32>());
        ASSERT_TRUE(key);
        const auto proof = VrfProof::from_hex(text(row, "pi"));
        ASSERT_TRUE(proof);
        const auto output = verify(*key, bytes_at(row, "alpha"), *proof);
        ASSERT_FALSE(output);
        EXPECT_EQ(name(output.error()), text(row, "fault"));
    }
}

TEST(EcvrfVectors, OwnBadKeys) {
    const auto file = test::own_vectors("crypto/ecvrf.json");
    for (const auto& row : file.at("bad_keys").as_array()) {
        SCOPED_TRACE(text(row, "why"));
        const auto key = VrfPublic::from_bytes(ByteView{bytes_at(row, "PK")}.first<32>());
        ASSERT_FALSE(key);
        EXPECT_EQ(key.error(), VrfFault::BadKey);
    }
}

}  // namespace
}  // namespace rhizome::crypto
