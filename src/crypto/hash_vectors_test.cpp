// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crypto/detail/sha256_engine.h"
#include "crypto/hash.h"
#include "support/vectors.h"

namespace rhizome::crypto {
namespace {

using test::own_vectors;
using test::text;

Bytes bytes_of(const boost::json::value& row, std::string_view key) {
    const auto bytes = from_hex(text(row, key));
    EXPECT_TRUE(bytes) << row;
    return bytes.value_or(Bytes{});
}

/// With every implementation that this machine can run.
class HashVectors : public testing::TestWithParam<const detail::Sha256Engine*> {
protected:
    detail::EngineForTest use_{*GetParam()};
    boost::json::value file_ = own_vectors("crypto/hash.json");
};

TEST_P(HashVectors, Hashes) {
    const auto& rows = file_.at("hashes").as_array();
    ASSERT_GT(rows.size(), 20u);
    for (const auto& row : rows) {
        const Bytes piece = bytes_of(row, "message");
        const std::int64_t repeat = row.as_object().contains("repeat") ? row.at("repeat").as_int64() : 1;
        Bytes message;
        Sha256 pieces;
        Sha512 pieces512;
        for (std::int64_t i = 0; i < repeat; ++i) {
            message.insert(message.end(), piece.begin(), piece.end());
            pieces.update(piece);
            pieces512.update(piece);
        }
        SCOPED_TRACE(fmt::format("{} × {}", repeat, text(row, "message")));
        EXPECT_EQ(sha256(message).hex(), text(row, "sha256"));
        EXPECT_EQ(pieces.finish().hex(), text(row, "sha256"));
        EXPECT_EQ(hash256d(message).hex(), text(row, "sha256_twice"));
        EXPECT_EQ(sha512(message).hex(), text(row, "sha512"));
        EXPECT_EQ(pieces512.finish().hex(), text(row, "sha512"));
        EXPECT_EQ(sha1(message).hex(), text(row, "sha1"));
        EXPECT_EQ(ripemd160(message).hex(), text(row, "ripemd160"));
        EXPECT_EQ(hash160(message).hex(), text(row, "hash160"));
    }
}

TEST_P(HashVectors, Hmac) {
    const auto& rows = file_.at("hmac_sha256").as_array();
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        EXPECT_EQ(hmac_sha256(bytes_of(row, "key"), bytes_of(row, "message")).hex(), text(row, "mac")) << row;
    }
}

TEST_P(HashVectors, Tagged) {
    const auto& rows = file_.at("tagged").as_array();
    ASSERT_FALSE(rows.empty());
    for (const auto& row : rows) {
        const auto tag = static_cast<HashTag>(row.at("number").as_int64());
        EXPECT_EQ(name(tag), text(row, "tag"));
        EXPECT_EQ(tagged_hash(tag, bytes_of(row, "message")).hex(), text(row, "hash")) << row;
    }
}

std::vector<const detail::Sha256Engine*> engines() {
    std::vector<const detail::Sha256Engine*> all{&detail::openssl_engine()};
    if (const auto* fast = detail::sha_ni_engine()) all.push_back(fast);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Engines, HashVectors, testing::ValuesIn(engines()), [](const auto& engine) {
    return engine.param == &detail::openssl_engine() ? "OpenSsl" : "ShaNi";
});

}  // namespace
}  // namespace rhizome::crypto
