// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "crypto/x25519.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using test::text;

X25519Secret secret_from(const std::string& hex) {
    SecretArray<32> bytes;
    EXPECT_TRUE(from_hex_into(hex, bytes.writable()));
    return X25519Secret{std::move(bytes)};
}

TEST(X25519Vectors, OwnAndRfc7748) {
    const auto file = test::own_vectors("crypto/x25519.json");
    for (const auto& row : file.at("good").as_array()) {
        SCOPED_TRACE(text(row, "why"));
        const X25519Secret secret = secret_from(text(row, "secret"));
        EXPECT_EQ(to_hex(secret.view()), text(row, "clamped"));
        EXPECT_EQ(secret.public_key().hex(), text(row, "public"));
        const auto shared = secret.shared_with(*X25519Public::from_hex(text(row, "other")));
        ASSERT_TRUE(shared);
        EXPECT_EQ(to_hex(shared->view()), text(row, "shared"));
    }
}

TEST(X25519Vectors, KeysThatGiveNoSecretAreRefused) {
    const auto file = test::own_vectors("crypto/x25519.json");
    const X25519Secret secret = secret_from(std::string(64, '7'));
    for (const auto& row : file.at("bad").as_array())
        EXPECT_FALSE(secret.shared_with(*X25519Public::from_hex(text(row, "other")))) << text(row, "why");
}

}  // namespace
}  // namespace rhizome::crypto
