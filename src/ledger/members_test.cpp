// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crypto/derive.h"
#include "ledger/chain_records.h"
#include "ledger/member.h"
#include "ledger/special_kinds.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::Draft;
using test::lock_of;
using test::TestChain;

std::string member_node(std::string_view name, const ChainId& chain, std::string_view keys_of = {}) {
    const auto keys = test::node_keys_of(keys_of.empty() ? name : keys_of);
    return json::print(json::Object{
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata", json::Object{{"name", name}, {"annotations", member_annotations(keys, name, chain)}}}});
}

std::string report(std::string_view node, std::string_view note) {
    return fmt::format(
        R"({{"apiVersion":"rhizome.dev/v1","kind":"NodeReport","metadata":{{"name":"{}"}},"pods":[],"note":"{}"}})",
        node, note);
}

std::string token(std::uint64_t count, std::string_view expires = "2037-01-01T00:00:00Z") {
    return fmt::format(
        R"({{"apiVersion":"rhizome.dev/v1","kind":"JoinToken","metadata":{{"name":"t"}},"spec":{{"count":{},"expires":"{}"}}}})",
        count, expires);
}

milliseconds lease_of(const TestChain& chain, std::string_view node) {
    const auto key = test::node_keys_of(node).public_keys().chain.bytes();
    const auto* entry = chain.state().view().get(records::lease(key));
    return milliseconds{entry == nullptr ? -1 : static_cast<std::int64_t>(records::decode_number(entry->bytes()))};
}

TEST(Members, ANodeWithItsKeysAndProofIsAMember) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", member_node("n1", chain.chain_id()), lock_of("creator"))});
    const auto key = test::node_keys_of("n1").public_keys().chain.bytes();
    const auto* record = chain.state().view().get(records::member(key));
    ASSERT_NE(record, nullptr);
    EXPECT_EQ(decode_member(record->bytes())->node, "n1");
    // Gone with its Node.
    Draft deletion;
    chain.version(deletion, "/nodes/n1", "creator");
    chain.mine_all({chain.sign(deletion)});
    EXPECT_EQ(chain.state().view().get(records::member(key)), nullptr);
    EXPECT_EQ(chain.state().view().get(records::node("n1")), nullptr);
    EXPECT_EQ(lease_of(chain, "n1"), milliseconds{-1});
}

TEST(Members, KeysWithoutTheirProofAreRefused) {
    TestChain chain;
    const auto verdict = [&](std::string text) { return chain.verdict(chain.create("/", "creator", std::move(text))); };
    EXPECT_EQ(verdict(member_node("n1", chain.chain_id())), "OK");
    EXPECT_EQ(verdict(member_node("n1", ChainId{})), "BadEncoding");  // a proof made for another chain
    std::string other_name = member_node("n1", chain.chain_id());
    other_name.replace(other_name.find("\"n1\""), 4, "\"n2\"");
    EXPECT_EQ(verdict(other_name), "BadEncoding");  // or for another name
    EXPECT_EQ(
        verdict(
            R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","annotations":{"rhizome.dev/vrf-key":"00"}}})"),
        "BadEncoding");
    EXPECT_EQ(verdict(document("v1", "Node", "", "plain")), "OK");
    EXPECT_EQ(verdict(R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"a","pubKey":"02ab"}})"),
              "OK");  // the thesis's
}

TEST(Members, AKeyIsThatOfOneNode) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", member_node("n1", chain.chain_id()), lock_of("creator"))});
    EXPECT_EQ(chain.verdict(chain.create("/", "creator", member_node("n2", chain.chain_id(), "n1"))), "AlreadyExists");
}

TEST(Members, ANodeMayChangeItsKeys) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", member_node("n1", chain.chain_id()), lock_of("creator"))});
    chain.mine_all(
        {chain.update("/nodes/n1", "creator", member_node("n1", chain.chain_id(), "new disk"), lock_of("creator"))});
    const auto old_key = test::node_keys_of("n1").public_keys().chain.bytes();
    const auto new_key = test::node_keys_of("new disk").public_keys().chain.bytes();
    EXPECT_EQ(chain.state().view().get(records::member(old_key)), nullptr);
    EXPECT_NE(chain.state().view().get(records::member(new_key)), nullptr);
}

TEST(Members, ReportsNeedTheMembersChainKeyWhateverTheNodesLock) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", member_node("n1", chain.chain_id()), lock_of("creator")),
                    chain.create("/", "creator", document("v1", "Node", "", "plain"), lock_of("creator"))});
    const auto first_by = [&](std::string_view signer) { return chain.create("/nodes/n1", signer, report("n1", "a")); };
    EXPECT_EQ(chain.verdict(first_by("creator")), "NotAuthorised");
    EXPECT_EQ(chain.verdict(first_by("node:n2")), "NotAuthorised");
    chain.mine_all({first_by("node:n1")});
    EXPECT_EQ(chain.verdict(chain.update("/nodes/n1/report", "creator", report("n1", "b"), {})), "NotAuthorised");
    chain.mine_all({chain.update("/nodes/n1/report", "node:n1", report("n1", "b"), {})});
    EXPECT_EQ(chain.verdict(chain.create("/nodes/plain", "creator", report("plain", "a"))), "NotAuthorised");
}

TEST(Members, LeasesRunOnAClockThatOnlyBlocksAdvance) {
    TestChain chain{R"({"heartbeat":"5s"})"};
    chain.mine_all({chain.create("/", "creator", member_node("n1", chain.chain_id()), lock_of("creator"))}, seconds{1});
    chain.mine_all({}, hours{1});  // nobody minted for an hour: the clock advances by two heartbeats
    const WorkingState state{chain.state().view(), chain.state().index()};
    EXPECT_EQ(lease_clock(state), seconds{11});
    EXPECT_EQ(lease_of(chain, "n1"), seconds{0});
    // A report renews it, and so does being heard by consensus.
    chain.mine_all({chain.create("/nodes/n1", "node:n1", report("n1", "a"))}, seconds{1});
    EXPECT_EQ(lease_of(chain, "n1"), seconds{11});
    chain.consensus.heard = {test::node_keys_of("n1").public_keys().chain.bytes(),
                             test::node_keys_of("stranger").public_keys().chain.bytes()};
    chain.mine_all({}, seconds{1});
    EXPECT_EQ(lease_of(chain, "n1"), seconds{13});
    EXPECT_EQ(lease_of(chain, "stranger"), milliseconds{-1});
}

TEST(Members, AJoinTokenCreatesAsManyNodesAsItSays) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", token(2), lock_of("staging"))});
    const auto join = [&](std::string_view node, std::optional<std::string> next) {
        Draft draft;
        chain.version(draft, "/jointokens/t", "staging");
        draft.outputs.push_back({.value = member_node(node, chain.chain_id()), .locking = lock_of(node)});
        if (next) draft.outputs.push_back({.value = *next, .locking = lock_of("staging")});
        return chain.sign(draft);
    };
    EXPECT_EQ(chain.verdict(join("n1", token(2))), "NotAuthorised");      // not counted down
    EXPECT_EQ(chain.verdict(join("n1", std::nullopt)), "NotAuthorised");  // burnt, though it has a use left
    Draft stranger;
    chain.version(stranger, "/jointokens/t", "stranger");
    stranger.outputs.push_back({.value = member_node("n1", chain.chain_id())});
    stranger.outputs.push_back({.value = token(1), .locking = lock_of("staging")});
    EXPECT_EQ(chain.verdict(chain.sign(stranger)), "NotAuthorised");
    chain.mine_all({join("n1", token(1))});
    EXPECT_EQ(chain.verdict(chain.update("/jointokens/t", "staging", token(9), lock_of("staging"))), "NotAuthorised");
    EXPECT_EQ(chain.verdict(join("n2", token(0))), "BadEncoding");
    chain.mine_all({join("n2", std::nullopt)});
    EXPECT_NE(chain.get("/nodes/n2"), nullptr);
    EXPECT_EQ(chain.get("/jointokens/t"), nullptr);
}

TEST(Members, NoMoreMachinesJoinInAMinuteThanTheClusterTakes) {
    TestChain chain{R"({"joinRate":2})"};
    chain.mine_all({chain.create("/", "creator", token(9), lock_of("staging"))});
    std::uint64_t left = 9;
    const auto join = [&](std::string_view node) {
        Draft draft;
        chain.version(draft, "/jointokens/t", "staging");
        draft.outputs.push_back({.value = member_node(node, chain.chain_id()), .locking = lock_of(node)});
        draft.outputs.push_back({.value = token(left - 1), .locking = lock_of("staging")});
        return chain.sign(draft);
    };
    const auto owned = [&](std::string_view node) {
        return chain.create("/", "creator", member_node(node, chain.chain_id()), lock_of(node));
    };
    const auto joined = [&](std::string_view node) {
        chain.mine_all({join(node)}, seconds{1});
        --left;
    };
    joined("n1");
    joined("n2");
    EXPECT_EQ(chain.verdict(join("n3")), "Throttled");
    EXPECT_EQ(chain.mine({join("n3")}), 0u) << "no block takes it";
    EXPECT_EQ(chain.verdict(owned("n3")), "OK") << "the owner need not wait";
    // A minute after the first one there is room for one again: that block is a second later than the chain's last.
    chain.mine_all({}, seconds{57});
    EXPECT_EQ(chain.verdict(join("n3")), "OK");
    joined("n3");
    EXPECT_EQ(chain.verdict(join("n4")), "OK") << "n2 is a minute old as well";
    chain.mine_all({owned("by-the-owner")}, seconds{1});
    EXPECT_EQ(chain.verdict(join("n4")), "Throttled") << "whoever made it, it is young";
}

TEST(Members, AnExpiredJoinTokenCreatesNothing) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", token(1, "2020-01-01T00:00:00Z"), lock_of("staging"))});
    Draft draft;
    chain.version(draft, "/jointokens/t", "staging");
    draft.outputs.push_back({.value = member_node("n1", chain.chain_id())});
    EXPECT_EQ(chain.verdict(chain.sign(draft)), "Expired");
}

}  // namespace
}  // namespace rhizome::ledger
