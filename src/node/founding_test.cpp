// SPDX-License-Identifier: Apache-2.0
#include "node/founding.h"

#include <gtest/gtest.h>

#include "consensus/judge.h"
#include "ledger/chain_records.h"
#include "ledger/codec.h"

namespace rhizome::node {
namespace {

crypto::SecretKey owner() { return *crypto::SecretKey::from_bytes(Bytes(32, 7)); }
crypto::NodeKeys machine() { return crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes("seed")).view()}); }

TEST(Founding, TheTwoBlocksAreGoodForStrangers) {
    const auto key = owner();
    const auto keys = machine();
    const ledger::Rules rules;
    const consensus::CurveSignatures signatures;
    const consensus::Judge judge{signatures};
    Inline parallel;
    const auto founded = found_cluster({.cluster = "demo",
                                        .spec = {{"heartbeat", "2s"}},
                                        .node = "n1",
                                        .now = Time{microseconds{1'800'000'000'000'123}},
                                        .owner = key,
                                        .node_keys = keys},
                                       rules, parallel);
    ASSERT_TRUE(founded) << founded.error().message;

    const auto genesis = ledger::decode_block(ledger::encode(founded->genesis.block)).value();
    const auto first = ledger::decode_block(ledger::encode(founded->first)).value();
    const auto part = judge.judge_genesis(genesis);
    ASSERT_TRUE(part) << to_text(part.error());
    const auto commit = ledger::apply_genesis(genesis, *part);
    ASSERT_TRUE(commit) << to_text(commit.error());
    ledger::LedgerState state{commit->view};
    ledger::SignatureCache cache;
    const auto applied = judge_and_apply(state, genesis.header, first, {rules, judge}, cache, parallel);
    ASSERT_TRUE(applied) << to_text(applied.error());
    EXPECT_EQ(applied->commit.view.root(), founded->first_applied.commit.view.root());
    state.advance(applied->commit);
    EXPECT_EQ(state.chain(), founded->chain);
    EXPECT_EQ(state.parameters().heartbeat, milliseconds{2000});
    for (const auto* path :
         {"/", "/nodes/n1", "/namespaces/default", "/namespaces/kube-system", "/namespaces/kube-public",
          "/namespaces/kube-node-lease", "/global/rbac.authorization.k8s.io/ClusterRole/cluster-admin",
          "/global/rbac.authorization.k8s.io/ClusterRoleBinding/system:basic-user"})
        EXPECT_NE(state.view().get(state::Path::parse(path).value()), nullptr) << path;
    EXPECT_NE(state.view().get(ledger::records::member(keys.public_keys().chain.bytes())), nullptr);
}

TEST(Founding, ABadSpecIsNamed) {
    const auto key = owner();
    const auto keys = machine();
    Inline parallel;
    const struct {
        json::Object spec;
        const char* error;
    } rows[] = {
        {{{"hartbeat", "2s"}}, "hartbeat"},
        {{{"heartbeat", 2}}, "spec.heartbeat is no duration"},
        {{{"consensus", "luck"}}, "spec.consensus is none of"},
    };
    for (const auto& row : rows) {
        const auto founded = found_cluster(
            {.cluster = "demo", .spec = row.spec, .node = "n1", .now = Time{}, .owner = key, .node_keys = keys}, {},
            parallel);
        ASSERT_FALSE(founded);
        EXPECT_EQ(founded.error().kind, ErrorKind::Invalid);
        EXPECT_NE(founded.error().message.find(row.error), std::string::npos) << founded.error().message;
    }
}

TEST(Founding, NamesAreSubdomains) {
    for (const auto* good : {"a", "n1", "web-1.example.org", "0", "a.b"}) EXPECT_TRUE(is_subdomain(good)) << good;
    for (const auto* bad : {"", "-a", "a-", ".a", "a.", "a..b", "a.-b", "a-.b", "A", "a_b", "a/b", "ä", "a b"})
        EXPECT_FALSE(is_subdomain(bad)) << bad;
    EXPECT_TRUE(is_subdomain(std::string(253, 'a')));
    EXPECT_FALSE(is_subdomain(std::string(254, 'a')));
}

}  // namespace
}  // namespace rhizome::node
