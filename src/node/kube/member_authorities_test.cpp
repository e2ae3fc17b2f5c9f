// SPDX-License-Identifier: Apache-2.0
#include "node/kube/member_authorities.h"
#include "crypto/keys.h"

#include <gtest/gtest.h>

#include "cluster/base64.h"
#include "ledger/chain_records.h"
#include "ledger/member.h"
#include "node/kube/authority.h"
#include "runtime/clock.h"
#include "state/tree.h"
#include "support/temp_folder.h"

namespace rhizome::node {
namespace {

class MemberAuthoritiesTest : public ::testing::Test {
protected:
    stream::Identity authority(const std::string& name) { return *open_authority(temp_.path() / name, now_); }
    [[nodiscard]] stream::Certificate client(const stream::Identity& of, seconds lasts = seconds{3600}) const {
        return client_identity(of, {.user = "alice", .groups = {"system:masters"}, .lasts = lasts}, now_)
            ->chain.front();
    }
    static ledger::MemberKey key_of(std::uint8_t number) {
        return crypto::SecretKey::from_bytes(Bytes(32, number))->public_key().bytes();
    }
    void add_member(std::uint8_t number, const std::string& node) {
        const ledger::Member member{.node = node, .chain = key_of(number)};
        put(*state::Entry::plain(ledger::records::member(key_of(number)), ledger::encode(member)));
    }
    void report(const std::string& node, const std::string& authority_text) {
        const auto path = *state::Path::node_report(node);
        put(*state::Entry::written(
            path, {}, {},
            json::print(json::Object{{"apiVersion", "rhizome.dev/v1"},
                                     {"kind", "NodeReport"},
                                     {"metadata", json::Object{{"name", node}}},
                                     {"status", json::Object{{"apiAuthority", authority_text}}}})));
    }
    void report(const std::string& node, const stream::Identity& of) {
        report(node, cluster::base64(of.chain.front().to_der()));
    }
    void remove_member(std::uint8_t number) {
        state::Batch batch{state_};
        batch.erase(ledger::records::member(key_of(number)));
        state_ = std::move(batch).finish().view;
    }

    test::TempFolder temp_;
    Time now_ = runtime::now();
    state::StateView state_{};

private:
    void put(state::EntryPtr entry) {
        state::Batch batch{state_};
        batch.put(std::move(entry));
        state_ = std::move(batch).finish().view;
    }
};

TEST_F(MemberAuthoritiesTest, AMemberVouchesAsLongAsItIsOne) {
    const auto own = authority("n1");
    const auto other = authority("n2");
    MemberAuthorities vouching{own.chain.front()};
    const auto mine = client(own);
    const auto theirs = client(other);
    EXPECT_EQ(vouching.voucher_of(mine, state_, now_), "");
    EXPECT_EQ(vouching.voucher_of(theirs, state_, now_), std::nullopt) << "a stranger's";
    report("n2", other);
    EXPECT_EQ(vouching.voucher_of(theirs, state_, now_), std::nullopt) << "a Node that is no member vouches for nobody";
    add_member(2, "n2");
    EXPECT_EQ(vouching.voucher_of(theirs, state_, now_), "n2");
    EXPECT_EQ(vouching.voucher_of(theirs, state_, now_), "n2") << "remembered";
    remove_member(2);
    EXPECT_EQ(vouching.voucher_of(theirs, state_, now_), std::nullopt) << "remembered or not";
    EXPECT_EQ(vouching.voucher_of(mine, state_, now_), "");
}

TEST_F(MemberAuthoritiesTest, CertificatesEndWithTheirTime) {
    const auto own = authority("n1");
    const auto other = authority("n2");
    add_member(2, "n2");
    report("n2", other);
    MemberAuthorities vouching{own.chain.front()};
    for (const auto* of : {&own, &other}) {
        const auto shown = client(*of, seconds{60});
        EXPECT_TRUE(vouching.voucher_of(shown, state_, now_));
        EXPECT_FALSE(vouching.voucher_of(shown, state_, now_ + seconds{61})) << "remembered, and over";
        EXPECT_FALSE(MemberAuthorities{own.chain.front()}.voucher_of(shown, state_, now_ + seconds{61}));
        EXPECT_FALSE(vouching.voucher_of(shown, state_, now_ - seconds{2 * 3600})) << "not yet";
    }
}

TEST_F(MemberAuthoritiesTest, AServersCertificateIsNoClients) {
    const auto own = authority("n1");
    MemberAuthorities vouching{own.chain.front()};
    const auto server = server_identity(own, {"localhost"}, now_);
    ASSERT_TRUE(server);
    EXPECT_EQ(vouching.voucher_of(server->chain.front(), state_, now_), std::nullopt);
}

TEST_F(MemberAuthoritiesTest, WhatIsNoAuthorityVouchesForNobody) {
    const auto own = authority("n1");
    const auto other = authority("n2");
    MemberAuthorities vouching{own.chain.front()};
    add_member(2, "n2");
    const auto shown = client(other);
    for (const std::string& text : {std::string{}, std::string{"!"}, cluster::base64(as_bytes("rubbish")),
                                    cluster::base64(shown.to_der()), std::string(8'192, 'A')}) {
        report("n2", text);
        EXPECT_EQ(vouching.voucher_of(shown, state_, now_), std::nullopt) << text.substr(0, 40);
    }
    // A member that shows this node's own authority as its own wins nothing by it.
    report("n2", own);
    EXPECT_EQ(vouching.voucher_of(client(own), state_, now_), "");
    EXPECT_EQ(vouching.voucher_of(shown, state_, now_), std::nullopt);
}

}  // namespace
}  // namespace rhizome::node
