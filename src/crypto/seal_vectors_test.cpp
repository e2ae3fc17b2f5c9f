// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "crypto/seal.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using test::text;

X25519Secret secret_from(std::string_view hex) {
    SecretArray<32> bytes;
    EXPECT_TRUE(from_hex_into(hex, bytes.writable()));
    return X25519Secret{std::move(bytes)};
}

TEST(SealVectors, Good) {
    const auto file = test::own_vectors("crypto/seal.json");
    for (const auto& row : file.at("good").as_array()) {
        SCOPED_TRACE(text(row, "why"));
        const Bytes plaintext = *from_hex(text(row, "plaintext"));
        const Bytes associated = *from_hex(text(row, "associated"));
        const Bytes entropy = *from_hex(text(row, "entropy"));
        std::vector<X25519Public> recipients;
        for (const auto& hex : row.at("recipients").as_array())
            recipients.push_back(*X25519Public::from_hex(hex.as_string()));
        const auto envelope = seal(plaintext, recipients, associated, ByteView{entropy}.first<kSealEntropyBytes>());
        ASSERT_TRUE(envelope);
        EXPECT_EQ(to_hex(*envelope), text(row, "envelope"));

        for (const auto& hex : row.at("secrets").as_array()) {
            const auto opened = open(*from_hex(text(row, "envelope")), secret_from(hex.as_string()), associated);
            ASSERT_TRUE(opened);
            EXPECT_EQ(to_hex(opened->view()), text(row, "plaintext"));
        }
    }
}

TEST(SealVectors, Bad) {
    const auto file = test::own_vectors("crypto/seal.json");
    for (const auto& row : file.at("bad").as_array()) {
        SCOPED_TRACE(text(row, "why"));
        const auto opened = open(*from_hex(text(row, "envelope")), secret_from(text(row, "secret")),
                                 *from_hex(text(row, "associated")));
        ASSERT_FALSE(opened);
        EXPECT_EQ(name(opened.error()), text(row, "fault"));
    }
}

}  // namespace
}  // namespace rhizome::crypto
