// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crypto/ed25519.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using boost::json::value;
using test::expected;
using test::hex;
using test::outcome;
using test::rows;
using test::text;

TEST(Ed25519Vectors, SigningIsDeterministic) {
    const value file = test::own_vectors("crypto/ed25519.json");
    for (const value& row : rows(file, "sign")) {
        SCOPED_TRACE(text(row, "name"));
        const Bytes seed = hex(row, "seed"), message = hex(row, "message");
        const auto secret = Ed25519Secret::from_seed(ByteView{seed}.first<32>());
        EXPECT_EQ(to_hex(secret.public_key().bytes()), text(row, "key"));
        EXPECT_EQ(secret.sign(message).hex(), text(row, "signature"));
        EXPECT_TRUE(verify(secret.public_key(), message, hex(row, "signature")));
    }
}

TEST(Ed25519Vectors, OnlyCanonicalKeysOfPrimeOrderParse) {
    const value file = test::own_vectors("crypto/ed25519.json");
    for (const value& row : rows(file, "keys")) {
        SCOPED_TRACE(text(row, "name"));
        const auto key = Ed25519Public::parse(hex(row, "key"));
        EXPECT_EQ(outcome(key), expected(row));
        if (key) {
            EXPECT_EQ(to_hex(key->bytes()), text(row, "key"));
        }
    }
}

TEST(Ed25519Vectors, VerdictsNameTheirFault) {
    const value file = test::own_vectors("crypto/ed25519.json");
    for (const value& row : rows(file, "verify")) {
        SCOPED_TRACE(text(row, "name"));
        const auto key = Ed25519Public::parse(hex(row, "key"));
        ASSERT_TRUE(key.has_value());
        EXPECT_EQ(outcome(verify(*key, hex(row, "message"), hex(row, "signature"))), expected(row));
    }
}

TEST(Ed25519Vectors, Wycheproof) {
    const std::string_view file_name = "wycheproof_ed25519_test.json";
    const auto file = test::shared_vectors(file_name);
    if (!file) GTEST_SKIP() << test::absent_vectors(file_name);
    std::size_t valid = 0, invalid = 0;
    for (const value& group : rows(*file, "testGroups")) {
        const auto key = Ed25519Public::parse(hex(group.at("publicKey"), "pk"));
        for (const value& row : rows(group, "tests")) {
            SCOPED_TRACE(fmt::format("tcId {}: {}", row.at("tcId").to_number<int>(), text(row, "comment")));
            const bool accepted = key && verify(*key, hex(row, "msg"), hex(row, "sig"));
            const std::string result = text(row, "result");
            if (result == "valid") {
                ++valid;
                EXPECT_TRUE(accepted);
            } else if (result == "invalid") {
                ++invalid;
                EXPECT_FALSE(accepted);
            } else {
                // Wycheproof leaves these open; ours is libsodium's answer, and all that is asked is that there is one.
                ASSERT_EQ(result, "acceptable");
            }
        }
    }
    EXPECT_GT(valid, 0u);
    EXPECT_GT(invalid, 0u);
}

}  // namespace
}  // namespace rhizome::crypto
