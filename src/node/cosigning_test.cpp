// SPDX-License-Identifier: Apache-2.0
// A lock that wants a co-signer, real commands as conditions, and a chain that takes what was signed.
#include "node/cosigning.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "script/template.h"
#include "support/rpc_world.h"
#include "support/waiting.h"

namespace rhizome::node {
namespace {

class CosigningTest : public test::RpcWorld {
protected:
    void TearDown() override {
        cosigning.reset();
        RpcWorld::TearDown();
    }
    /// A namespace that the owner changes together with the tower.
    void make_guarded() {
        const auto view = daemon->host().view();
        ledger::DraftWish wish{.now = runtime::now()};
        wish.changes.push_back(
            {.document = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"web"}})",
             .lock = script::compile(fmt::format("cosigned {} p2pkh {}", to_hex(tower.chain.public_key().bytes()),
                                                 owner.public_key().address().hex()))
                         .value()});
        const auto tx = sign(ledger::make_draft(wish, view->state).value());
        submit(tx);
    }
    void submit(const ledger::Tx& tx) {
        const auto reply = local->ask("POST", "/rhizome/v1/txs?wait=final", text_of(tx));
        ASSERT_TRUE(reply && reply->is_good()) << (reply ? json::print(reply->body) : reply.error().message);
    }
    /// The owner wants another label; by the namespace's own lock.
    ledger::Tx relabel(std::string_view label, bool is_signed = true) {
        ledger::DraftWish wish{.by = state::Path::parse("/namespaces/web").value(), .now = runtime::now()};
        wish.changes.push_back(
            {.document = fmt::format(
                 R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"web","labels":{{"is":"{}"}}}}}})",
                 label)});
        auto tx = ledger::make_draft(wish, daemon->host().view()->state).value();
        return is_signed ? sign(std::move(tx)) : tx;
    }
    void start_tower(const std::string& rules) {
        cosigning = std::make_unique<Cosigning>(daemon->host(), tower, follow::cosign_rules_from(rules).value(), Log{});
    }
    Result<json::Object> ask(const ledger::Tx& tx) {
        test::Waited<std::optional<Result<json::Object>>> told;
        cosigning->cosign(tx, [&](Result<json::Object> answer) {
            const auto hold = told.lock();
            told.value() = std::move(answer);
            told.notify();
        });
        EXPECT_TRUE(told.wait([](const auto& answer) { return answer.has_value(); }));
        const auto hold = told.lock();
        return *std::move(told.value());
    }
    void expect_refused(const ledger::Tx& tx, ErrorKind kind, std::string_view why) {
        const auto answer = ask(tx);
        ASSERT_FALSE(answer) << why;
        EXPECT_EQ(answer.error().kind, kind) << answer.error().message;
        EXPECT_NE(answer.error().message.find(why), std::string::npos) << answer.error().message;
    }

    crypto::NodeKeys tower = crypto::derive(crypto::NodeSeed{crypto::sha256(as_bytes("tower")).view()});
    std::unique_ptr<Cosigning> cosigning;
};

TEST_F(CosigningTest, WhatMeetsTheRulesIsSignedAndTheChainTakesIt) {
    make_guarded();
    start_tower("rules: [{name: labels, below: [/namespaces/web], verbs: [update]}]");
    const auto tx = relabel("new");
    EXPECT_EQ(local->ask("POST", "/rhizome/v1/txs?wait=final", text_of(tx))->body.text_at({"refused", "code"}),
              "NotAuthorised")
        << "the owner alone is not enough";
    const auto answer = ask(tx);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(json::print(*answer->find("rules")), R"(["labels"])");
    const auto cosigned = ledger::tx_from_json(json::print(*answer->find("transaction"))).value();
    EXPECT_EQ(id_of(cosigned), id_of(tx));
    submit(cosigned);
    const auto entry = local->get("/rhizome/v1/state?path=/namespaces/web");
    EXPECT_EQ(entry->text_at({"document", "metadata", "labels", "is"}), "new");
}

TEST_F(CosigningTest, AllElseIsRefusedWithTheReason) {
    make_guarded();
    start_tower(
        "rules: [{name: labels, below: [/namespaces/web], verbs: [delete]}, {name: other, below: [/nodes/n1]}]");
    expect_refused(relabel("x"), ErrorKind::Denied, "no rule of this co-signer lets it update /namespaces/web");
    expect_refused(relabel("x", false), ErrorKind::Denied, "a co-signer signs last");
    expect_refused(namespace_tx("mine"), ErrorKind::Denied, "signature is not wanted");
    start_tower("rules: [{name: one, below: [/namespaces/web], perMinute: 1}]");
    EXPECT_TRUE(ask(relabel("x")));
    expect_refused(relabel("y"), ErrorKind::Exhausted, "try again in a moment");
    // A member's key signs nothing for others.
    const auto identity = load_identity(folder());
    cosigning = std::make_unique<Cosigning>(daemon->host(), identity->keys,
                                            follow::cosign_rules_from("rules: [{name: a, below: [/]}]").value(), Log{});
    expect_refused(relabel("x"), ErrorKind::Denied, "this node is a member");
}

TEST_F(CosigningTest, ACommandDecidesWithinItsTime) {
    make_guarded();
    const auto with = [&](std::string_view command, std::string_view timeout = "5s") {
        start_tower(fmt::format("rules: [{{name: oracle, below: [/namespaces/web], command: {}, timeout: {}}}]",
                                command, timeout));
    };
    with(R"([/bin/grep, -q, '"is":"high"'])");  // it reads the transaction
    EXPECT_TRUE(ask(relabel("high")));
    expect_refused(relabel("low"), ErrorKind::Denied, "the command of rule \"oracle\" says no");
    with(R"([/bin/sh, -c, 'echo the load is low; exit 3'])");
    expect_refused(relabel("x"), ErrorKind::Denied, "says no: the load is low");
    with(R"([/bin/sh, -c, 'yes; exit 1'])", "500ms");
    expect_refused(relabel("x"), ErrorKind::Unavailable, "could not be asked");
    with("[/no/such/program]");
    expect_refused(relabel("x"), ErrorKind::Unavailable, "could not be asked");
}

}  // namespace
}  // namespace rhizome::node
