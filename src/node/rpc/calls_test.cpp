// SPDX-License-Identifier: Apache-2.0
// What a node answers, over its local socket.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ledger/proof_files.h"
#include "ledger/state_export.h"
#include "support/rpc_world.h"

namespace rhizome::node::rpc {
namespace {

constexpr std::size_t kMax = 16u << 20;

class RpcCalls : public test::RpcWorld {
protected:
    json::Value good(const std::string& path) {
        auto body = local->get("/rhizome/v1/" + path);
        EXPECT_TRUE(body) << path << ": " << body.error().message;
        return body ? *std::move(body) : json::Value{};
    }
    Error bad(const std::string& path) {
        const auto body = local->get("/rhizome/v1/" + path);
        EXPECT_FALSE(body) << path;
        return body ? Error{} : body.error();
    }
    static std::int64_t number(const json::Value& value, std::string_view key) {
        const json::Value* found = value.find(key);
        return found == nullptr ? -1 : found->if_int64().value_or(-1);
    }
};

TEST_F(RpcCalls, AnAcceptedTransactionIsNeverUnknownOnItsWayIntoABlock) {
    for (int i = 0; i < 100; ++i) {
        const auto tx = namespace_tx(fmt::format("way-{}", i));
        const auto taken = local->ask("POST", "/rhizome/v1/txs?wait=accepted", text_of(tx));
        ASSERT_TRUE(taken && taken->is_good());
        const auto known = local->get("/rhizome/v1/txs/" + ledger::id_of(tx).hex());
        ASSERT_TRUE(known) << i << ": " << known.error().message;
    }
}

TEST_F(RpcCalls, ATransactionIsFoundWhereverItStands) {
    const std::string id = make_namespace("web");
    const auto found = good("txs/" + id);
    EXPECT_EQ(found.text_at({"status"}), "final");
    EXPECT_EQ(found.find("changes")->if_array()->front().text_at({"path"}), "/namespaces/web");
    EXPECT_EQ(found.find("changes")->if_array()->front().text_at({"verb"}), "created");

    // Of two that create the same the second is refused, and that is remembered.
    const auto first = namespace_tx("twin");
    auto twin = first;
    twin.outputs.front().value = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"twin","labels":{}}})";
    twin = sign(twin);
    ASSERT_TRUE(local->post("/rhizome/v1/txs?wait=final", text_of(first)));
    auto refused = local->ask("POST", "/rhizome/v1/txs", text_of(twin));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status, 409u) << json::print(refused->body);
    const auto known = good("txs/" + ledger::id_of(twin).hex());
    EXPECT_EQ(known.text_at({"status"}), "refused");
    EXPECT_EQ(known.text_at({"refused", "code"}), "AlreadyExists");

    EXPECT_EQ(bad("txs/" + std::string(64, 'a')).kind, ErrorKind::NotFound);
    EXPECT_EQ(bad("txs/abc").kind, ErrorKind::Usage);
}

TEST_F(RpcCalls, ADryRunChangesNothingAndShowsTheScriptThatRefuses) {
    const auto tx = namespace_tx("web");
    const auto before = number(good("status"), "pending");
    auto judged = local->post("/rhizome/v1/txs?dryRun=true", text_of(tx));
    ASSERT_TRUE(judged) << judged.error().message;
    EXPECT_TRUE(judged->find("ok")->if_boolean().value());
    EXPECT_EQ(*judged->find("creates")->if_array()->front().if_string(), "/namespaces/web");
    EXPECT_EQ(number(good("status"), "pending"), before);
    EXPECT_EQ(bad("state?path=/namespaces/web").kind, ErrorKind::NotFound);

    auto unsigned_tx = tx;
    unsigned_tx.inputs.front().unlocking.clear();
    judged = local->post("/rhizome/v1/txs?dryRun=true&trace=true", text_of(unsigned_tx));
    ASSERT_TRUE(judged);
    EXPECT_FALSE(judged->find("ok")->if_boolean().value());
    EXPECT_EQ(judged->text_at({"code"}), "NotAuthorised");
    ASSERT_NE(judged->find("trace"), nullptr) << json::print(*judged);
    EXPECT_FALSE(judged->find_path({"trace", "steps"})->if_array()->empty());
    EXPECT_EQ(local->post("/rhizome/v1/txs?trace=true", text_of(tx)).error().kind, ErrorKind::Invalid);
}

TEST_F(RpcCalls, ADraftIsSignedWithItsContextAloneAndTaken) {
    make_namespace("web");
    const auto answer = local->text("POST", "/rhizome/v1/drafts", R"({"changes":[{"delete":"namespace/web"}]})", kMax);
    ASSERT_TRUE(answer) << answer.error().message;
    std::string_view tx_text, context;
    const auto slices = json::slices(*answer).value();
    for (const json::Slice& slice : slices) (slice.key == "transaction" ? tx_text : context) = slice.text;
    auto tx = ledger::tx_from_json(tx_text).value();
    const auto part = ledger::import_state(context);
    ASSERT_TRUE(part) << part.error().message;
    // A part: other Namespaces are not in it.
    EXPECT_EQ(part->view.get(state::Path::parse("/namespaces/default").value()), nullptr);
    const ledger::LedgerState state{part->view};
    const auto draft = ledger::check_tx(tx).value();
    const auto uses = ledger::uses_of_inputs(*draft, state);
    const ledger::Signer signer{owner, owner.public_key()};
    for (std::size_t i = 0; i < uses.size(); ++i)
        tx.inputs[i].unlocking = ledger::advance(*draft, i, uses[i], part->chain, state, &signer).unlocking;
    auto reply = local->ask("POST", "/rhizome/v1/txs?wait=final", text_of(tx));
    ASSERT_TRUE(reply);
    EXPECT_TRUE(reply->is_good()) << json::print(reply->body);
    EXPECT_EQ(bad("state?path=/namespaces/web").kind, ErrorKind::NotFound);
    for (const auto* wish :
         {"", "{}", R"({"changes":[]})", R"({"changes":[{}]})", R"({"changes":[{"delete":"x"}]})",
          R"({"changes":[{"document":[]}]})", R"({"change":1})", R"({"changes":[{"document":{},"lock":"zz"}]})"})
        EXPECT_FALSE(local->post("/rhizome/v1/drafts", wish)) << wish;
}

TEST_F(RpcCalls, ProofsHoldWithoutTheChain) {
    const std::string id = make_namespace("web");
    const auto tx =
        ledger::tx_proof_from_json(local->text("GET", "/rhizome/v1/txs/" + id + "/proof", {}, kMax).value());
    ASSERT_TRUE(tx) << tx.error().message;
    EXPECT_TRUE(ledger::check(*tx));
    for (const auto& [path, present] : {std::pair{"/namespaces/web", true}, std::pair{"/namespaces/none", false}}) {
        const auto proof = ledger::state_proof_from_json(
            local->text("GET", std::string{"/rhizome/v1/state/proof?path="} + path, {}, kMax).value());
        ASSERT_TRUE(proof) << proof.error().message;
        const auto finding = ledger::check(*proof);
        ASSERT_TRUE(finding);
        EXPECT_EQ(std::holds_alternative<state::Presence>(*finding), present) << path;
    }
}

TEST_F(RpcCalls, StatesAreListedInPagesAndAtOlderHeights) {
    for (const auto* name : {"a", "b", "c"}) make_namespace(name);
    const auto height = number(good("state?path=/namespaces/c"), "height");
    std::vector<std::string> paths;
    std::string after;
    std::size_t pages = 0;
    do {
        const auto page = good("state/list?prefix=/namespaces&limit=2" + (after.empty() ? "" : "&after=" + after));
        for (const json::Value& item : *page.find("items")->if_array()) paths.emplace_back(item.text_at({"path"}));
        after = std::string{page.text_at({"next"})};
        ++pages;
    } while (!after.empty() && pages < 10);
    EXPECT_EQ(paths, (std::vector<std::string>{"/namespaces/a", "/namespaces/b", "/namespaces/c", "/namespaces/default",
                                               "/namespaces/kube-node-lease", "/namespaces/kube-public",
                                               "/namespaces/kube-system"}));
    EXPECT_EQ(pages, 4u);
    const auto born = good("state?path=/namespaces/c").find_path({"born", "height"})->if_int64().value();
    EXPECT_EQ(bad(fmt::format("state?path=/namespaces/c&at={}", born - 1)).kind, ErrorKind::NotFound);
    EXPECT_EQ(number(good(fmt::format("state?path=/namespaces/c&at={}", born)), "height"), born);
    EXPECT_EQ(bad(fmt::format("state?path=/&at={}", height + 1'000)).kind, ErrorKind::NotFound);
    EXPECT_EQ(bad("state?path=/&at=yesterday").kind, ErrorKind::Usage);
    EXPECT_EQ(bad("state/list?limit=0").kind, ErrorKind::Invalid);
    // Without its change the way back is closed, and the refusal says how far it goes. (Genesis has no change to undo.)
    EXPECT_EQ(number(good("state?path=/&at=0"), "height"), 0);
}

TEST_F(RpcCalls, WhatIsNotKnownIsNamed) {
    EXPECT_EQ(bad("nothing").kind, ErrorKind::NotFound);
    EXPECT_NE(bad("status?verbose=1").message.find("there are none"), std::string::npos);
    EXPECT_NE(bad("state?pth=/").message.find("there are path, resource"), std::string::npos);
    const auto put = local->ask("PUT", "/rhizome/v1/status");
    ASSERT_TRUE(put);
    EXPECT_EQ(put->status, 405u);
    EXPECT_EQ(put->body.text_at({"code"}), "MethodNotAllowed");
}

}  // namespace
}  // namespace rhizome::node::rpc
