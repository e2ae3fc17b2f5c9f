// SPDX-License-Identifier: Apache-2.0
#include "api/service_token.h"

#include <gtest/gtest.h>

#include "cluster/base64.h"

namespace rhizome::api {
namespace {

TokenClaims sample_claims() {
    return {.chain = "abcd",
            .name_space = "web",
            .account = "robot",
            .account_uid = "u1",
            .audiences = {std::string{kApiAudience}},
            .id = "j1",
            .issued = Time::from_unix_seconds(1'790'000'000),
            .expires = Time::from_unix_seconds(1'790'003'600)};
}

std::string token_of(const TokenClaims& claims) { return token_text(signing_text(claims, "n1"), Bytes(64, 7)); }

TEST(ServiceToken, SaysWhatItWasMadeWith) {
    TokenClaims claims = sample_claims();
    for (const bool bound : {false, true}) {
        if (bound) {
            claims.bound_kind = "Pod";
            claims.bound_name = "p";
            claims.bound_uid = "pu";
        }
        const auto read = read_token(token_of(claims));
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(read->claims, claims);
        EXPECT_EQ(read->key_id, "n1");
        EXPECT_EQ(read->signature, Bytes(64, 7));
        EXPECT_EQ(read->signed_part, signing_text(claims, "n1"));
    }
    const User user = user_of(claims, "n1");
    EXPECT_EQ(user.name, "system:serviceaccount:web:robot");
    EXPECT_TRUE(user.is_in("system:serviceaccounts:web"));
    const auto account = account_of(user.name);
    ASSERT_TRUE(account);
    EXPECT_EQ(account->name_space, "web");
    EXPECT_EQ(account->name, "robot");
    EXPECT_FALSE(account_of("system:serviceaccount:web"));
    EXPECT_FALSE(account_of("alice"));
}

TEST(ServiceToken, OtherAlgorithmsAndFormsAreNotRead) {
    const std::string good = token_of(sample_claims());
    const auto with_header = [&](std::string_view header) {
        return cluster::base64url(as_bytes(header)) + good.substr(good.find('.'));
    };
    EXPECT_TRUE(read_token(with_header(R"({"alg":"EdDSA","kid":"n1"})")));
    std::vector<std::string> bad_ones{"", "a.b", "..", good + ".x", good + "=", good.substr(0, good.size() - 4)};
    for (const char* header : {R"({"alg":"none","kid":"n1"})", R"({"alg":"HS256","kid":"n1"})", R"({"alg":"EdDSA"})",
                               R"({"alg":"EdDSA","kid":"n1","crit":["x"]})", "[]"})
        bad_ones.push_back(with_header(header));
    bad_ones.push_back("!" + good);
    bad_ones.emplace_back(kTokenBytesMax + 1, '.');
    for (const std::string& bad : bad_ones) EXPECT_FALSE(read_token(bad)) << bad.substr(0, 60);
}

TEST(ServiceToken, IsGoodForItsTimeItsClusterAndItsAudience) {
    const TokenClaims claims = sample_claims();
    const std::vector<std::string> us{std::string{kApiAudience}};
    EXPECT_TRUE(check_claims(claims, "abcd", us, claims.issued));
    EXPECT_TRUE(check_claims(claims, "abcd", us, claims.expires - seconds{1}));
    EXPECT_FALSE(check_claims(claims, "abcd", us, claims.expires));
    EXPECT_FALSE(check_claims(claims, "abcd", us, claims.issued - seconds{301}));
    EXPECT_FALSE(check_claims(claims, "ef", us, claims.issued));
    EXPECT_FALSE(check_claims(claims, "abcd", {"vault"}, claims.issued));
    TokenClaims forever = claims;
    forever.expires = claims.issued + seconds{365LL * 24 * 3600};
    EXPECT_FALSE(check_claims(forever, "abcd", us, claims.issued)) << "no member gives more than others do";
}

TEST(Base64, ReadsExactlyWhatItWrites) {
    for (std::size_t size = 0; size < 40; ++size) {
        Bytes bytes;
        for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<std::uint8_t>(i * 37 + size));
        EXPECT_EQ(cluster::from_base64(cluster::base64(bytes)), bytes);
        EXPECT_EQ(cluster::from_base64url(cluster::base64url(bytes)), bytes);
    }
    for (const char* bad : {"A", "AA", "AAA", "AA=A", "====", "AB==", "AAB=", "A-==", "AAAA\n"})
        EXPECT_FALSE(cluster::from_base64(bad)) << bad;
    for (const char* bad : {"A", "AA==", "AB", "A+", "A/"}) EXPECT_FALSE(cluster::from_base64url(bad)) << bad;
}

}  // namespace
}  // namespace rhizome::api
