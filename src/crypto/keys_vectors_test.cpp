// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crypto/keys.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using boost::json::value;
using test::expected;
using test::hex;
using test::outcome;
using test::rows;
using test::text;

Digest digest_of(const value& row) { return Digest{ByteView{hex(row, "digest")}.first<32>()}; }

TEST(KeysVectors, DerIsTakenOrRefusedAsBip66Says) {
    const value file = test::own_vectors("crypto/ecdsa.json");
    for (const value& row : rows(file, "der")) {
        SCOPED_TRACE(text(row, "name"));
        const Bytes der = hex(row, "der");
        const auto signature = Signature::from_der(der);
        ASSERT_EQ(outcome(signature), expected(row));
        if (!signature) continue;
        EXPECT_EQ(to_hex(signature->to_compact()), text(row, "r") + text(row, "s"));
        EXPECT_EQ(signature->is_low_s(), row.at("low_s").as_bool());
        EXPECT_EQ(to_hex(signature->to_der()), text(row, "der"));
    }
}

TEST(KeysVectors, CompactSignaturesAreCheckedForRange) {
    const value file = test::own_vectors("crypto/ecdsa.json");
    for (const value& row : rows(file, "compact")) {
        SCOPED_TRACE(text(row, "name"));
        const auto signature = Signature::from_compact(hex(row, "compact"));
        ASSERT_EQ(outcome(signature), expected(row));
        if (signature) {
            EXPECT_EQ(to_hex(signature->to_compact()), text(row, "compact"));
        }
    }
}

TEST(KeysVectors, VerdictsNameTheirFault) {
    const value file = test::own_vectors("crypto/ecdsa.json");
    Inline alone;
    for (const value& row : rows(file, "verify")) {
        SCOPED_TRACE(text(row, "name"));
        const Bytes key = hex(row, "key"), der = hex(row, "der");
        EXPECT_EQ(outcome(verify_der(key, digest_of(row), der)), expected(row));

        // The other two ways to the same question give the same answer wherever they can be asked.
        const auto parsed_key = PublicKey::parse(key);
        const auto signature = Signature::from_der(der);
        if (!parsed_key || !signature) continue;
        EXPECT_EQ(outcome(verify(*parsed_key, digest_of(row), *signature)), expected(row));
        const VerifyJob job{digest_of(row), parsed_key->bytes(), der};
        EXPECT_EQ(outcome(verify_all({&job, 1}, alone).at(0)), expected(row));
    }
}

TEST(KeysVectors, CompressedKeys) {
    const value file = test::own_vectors("crypto/ecdsa.json");
    for (const value& row : rows(file, "keys")) {
        SCOPED_TRACE(text(row, "name"));
        const auto key = PublicKey::parse(hex(row, "key"));
        ASSERT_EQ(outcome(key), expected(row));
        if (!key) continue;
        EXPECT_EQ(key->hex(), text(row, "key"));
        EXPECT_EQ(key->address().hex(), text(row, "address"));
    }
}

TEST(KeysVectors, UncompressedKeys) {
    const value file = test::own_vectors("crypto/ecdsa.json");
    for (const value& row : rows(file, "uncompressed")) {
        SCOPED_TRACE(text(row, "name"));
        const auto key = PublicKey::parse_uncompressed(hex(row, "key"));
        ASSERT_EQ(outcome(key), expected(row));
        if (!key) continue;
        EXPECT_EQ(key->hex(), text(row, "compressed"));
        EXPECT_EQ(*key, *PublicKey::parse(key->bytes()));
    }
}

TEST(KeysVectors, SecretsAndTheirKeys) {
    const value file = test::own_vectors("crypto/ecdsa.json");
    for (const value& row : rows(file, "secrets")) {
        SCOPED_TRACE(text(row, "name"));
        const auto secret = SecretKey::from_bytes(hex(row, "secret"));
        ASSERT_EQ(outcome(secret), expected(row));
        if (!secret) continue;
        EXPECT_EQ(to_hex(secret->reveal()), text(row, "secret"));
        EXPECT_EQ(secret->public_key().hex(), text(row, "key"));
        EXPECT_EQ(secret->public_key().address().hex(), text(row, "address"));
    }
}

void expect_signs(const SecretKey& secret, const Digest& digest, std::string_view der) {
    EXPECT_EQ(to_hex(sign(secret, digest).to_der()), der);
    // Blinding must not show in the result.
    const SigningContext blinded{sha256(as_bytes("entropy")).view()};
    EXPECT_EQ(to_hex(blinded.sign(secret, digest).to_der()), der);
    EXPECT_TRUE(verify(secret.public_key(), digest, sign(secret, digest)).has_value());
}

TEST(KeysVectors, SigningIsDeterministic) {
    const value file = test::own_vectors("crypto/ecdsa.json");
    for (const value& row : rows(file, "sign")) {
        SCOPED_TRACE(text(row, "name"));
        expect_signs(*SecretKey::from_bytes(hex(row, "secret")), digest_of(row), text(row, "der"));
    }
}

TEST(KeysVectors, SigningAgreesWithPublishedRfc6979Rows) {
    const auto file = test::shared_vectors("rfc6979_secp256k1.json");
    if (!file) GTEST_SKIP() << test::absent_vectors("rfc6979_secp256k1.json");
    for (const value& row : rows(*file, "vectors")) {
        SCOPED_TRACE(text(row, "key") + " " + text(row, "msg"));
        const auto secret = SecretKey::from_bytes(hex(row, "key"));
        ASSERT_TRUE(secret.has_value());
        EXPECT_EQ(secret->public_key().hex(), text(row, "pub"));
        const Digest digest = sha256(hex(row, "msg"));
        expect_signs(*secret, digest, text(row, "der"));
        EXPECT_EQ(to_hex(sign(*secret, digest).to_compact()), text(row, "r") + text(row, "s_low"));
    }
}

/// Runs a Wycheproof file; `accepts(key, digest, der)` is the verifier under test. Every row is "valid", "invalid" or
/// "acceptable"; the last may go either way by Wycheproof's rules, but not by ours: what is accepted is canonical.
template <class Accepts>
void run_wycheproof(const value& file, Accepts accepts) {
    std::size_t valid = 0, invalid = 0;
    for (const value& group : rows(file, "testGroups")) {
        const auto key = PublicKey::parse_uncompressed(hex(group.at("publicKey"), "uncompressed"));
        ASSERT_TRUE(key.has_value());
        for (const value& row : rows(group, "tests")) {
            SCOPED_TRACE(fmt::format("tcId {}: {}", row.at("tcId").to_number<int>(), text(row, "comment")));
            const Bytes der = hex(row, "sig");
            const bool accepted = accepts(*key, sha256(hex(row, "msg")), der);
            const std::string result = text(row, "result");
            if (result == "valid") {
                ++valid;
                EXPECT_TRUE(accepted);
            } else if (result == "invalid") {
                ++invalid;
                EXPECT_FALSE(accepted);
            } else {
                ASSERT_EQ(result, "acceptable");
                if (accepted) {
                    EXPECT_EQ(Signature::from_der(der)->to_der(), der);
                }
            }
        }
    }
    EXPECT_GT(valid, 0u);
    EXPECT_GT(invalid, 0u);
}

TEST(KeysVectors, WycheproofWithLowS) {
    const std::string_view name = "wycheproof_ecdsa_secp256k1_sha256_bitcoin_test.json";
    const auto file = test::shared_vectors(name);
    if (!file) GTEST_SKIP() << test::absent_vectors(name);
    run_wycheproof(*file, [](const PublicKey& key, const Digest& digest, ByteView der) {
        return verify_der(key.bytes(), digest, der).has_value();
    });
}

// Plain ECDSA takes high S as well, so this normalises what it parsed; then ours and theirs must agree.
TEST(KeysVectors, WycheproofWithAnyS) {
    const std::string_view name = "wycheproof_ecdsa_secp256k1_sha256_test.json";
    const auto file = test::shared_vectors(name);
    if (!file) GTEST_SKIP() << test::absent_vectors(name);
    run_wycheproof(*file, [](const PublicKey& key, const Digest& digest, ByteView der) {
        const auto signature = Signature::from_der(der);
        return signature && verify(key, digest, signature->normalized()).has_value();
    });
}

}  // namespace
}  // namespace rhizome::crypto
