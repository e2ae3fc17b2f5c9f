// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/request_auth.h"

#include <gtest/gtest.h>

namespace rhizome::node {
namespace {

const crypto::SecretKey& secret() {
    static const crypto::SecretKey made = *crypto::SecretKey::from_bytes(Bytes(32, 7));
    return made;
}
ledger::MemberKey node_key() { return crypto::SecretKey::from_bytes(Bytes(32, 8))->public_key().bytes(); }

std::string field() {
    return sign_request(secret(), secret().public_key(), node_key(), "POST", "/rhizome/v1/txs?wait=final", "{}",
                        Time::from_unix_millis(1'800'000'000'123), {1, 2, 3});
}

TEST(RequestAuth, IsReadAsItWasWritten) {
    const auto auth = parse_request_auth(field());
    ASSERT_TRUE(auth) << auth.error().message;
    EXPECT_EQ(to_text(*auth), field());
    EXPECT_EQ(auth->time, 1'800'000'000'123u);
    EXPECT_EQ(auth->body, crypto::sha256(as_bytes("{}")));
    EXPECT_TRUE(is_signed(*auth, node_key(), "POST", "/rhizome/v1/txs?wait=final"));
}

/// What a client in another language has to come to: docs/spec/rpc.md shows the same.
TEST(RequestAuth, TheSignedLinesAreAsDocumented) {
    const auto auth = parse_request_auth(field());
    ASSERT_TRUE(auth);
    const std::string lines = "rhizome-request-1\n" + to_hex(node_key()) + "\n" + secret().public_key().hex() +
                              "\nPOST\n/rhizome/v1/txs?wait=final\n1800000000123\n01020300000000000000000000000000\n"
                              "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\n";
    EXPECT_EQ(request_digest(*auth, node_key(), "POST", "/rhizome/v1/txs?wait=final").hex(),
              crypto::tagged_hash(crypto::HashTag::Request, as_bytes(lines)).hex());
}

TEST(RequestAuth, EveryPartIsSigned) {
    const auto good = *parse_request_auth(field());
    const std::string target = "/rhizome/v1/txs?wait=final";
    EXPECT_FALSE(is_signed(good, node_key(), "GET", target));
    EXPECT_FALSE(is_signed(good, node_key(), "POST", target + "&x=1"));
    EXPECT_FALSE(is_signed(good, secret().public_key().bytes(), "POST", target));
    auto changed = good;
    changed.time += 1;
    EXPECT_FALSE(is_signed(changed, node_key(), "POST", target));
    changed = good;
    changed.nonce[15] ^= 1;
    EXPECT_FALSE(is_signed(changed, node_key(), "POST", target));
    changed = good;
    changed.body = crypto::sha256(as_bytes("[]"));
    EXPECT_FALSE(is_signed(changed, node_key(), "POST", target));
    changed = good;
    changed.key = node_key();
    EXPECT_FALSE(is_signed(changed, node_key(), "POST", target));
}

TEST(RequestAuth, OneSpellingOnly) {
    const std::string good = field();
    for (const auto& [what, with] :
         std::vector<std::pair<std::string, std::string>>{{"Rhizome ", "rhizome "},
                                                          {"Rhizome ", "Rhizome"},
                                                          {", time=", ",time="},
                                                          {"time=1", "time=01"},
                                                          {"time=1", "time=-1"},
                                                          {"time=", "tyme="},
                                                          {"nonce=01", "nonce=1"},
                                                          {"signature=", "signature= "},
                                                          {"key=0", "key=g"},
                                                          {"time=1", "time=99999999999999999999"}}) {
        std::string text = good;
        text.replace(text.find(what), what.size(), with);
        EXPECT_FALSE(parse_request_auth(text)) << text;
    }
    for (const std::string& text :
         {std::string{}, std::string{"Rhizome "}, good + ",", good + " ", good.substr(0, 200)})
        EXPECT_FALSE(parse_request_auth(text)) << text;
}

}  // namespace
}  // namespace rhizome::node
