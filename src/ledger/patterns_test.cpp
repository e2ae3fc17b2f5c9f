// SPDX-License-Identifier: Apache-2.0
// The thesis's section 6.5 and our own templates, as locks of real resources, opened (or not) by real signatures in
// real blocks.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crypto/derive.h"
#include "ledger/member.h"
#include "script/locks.h"
#include "script/script.h"
#include "script/template.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::Draft;
using test::lock_of;
using test::TestChain;

std::string key(std::string_view person) { return test::key_of(person).public_key().hex(); }

/// A cluster whose namespace `web` has the lock that a template describes.
struct PatternScene {
    TestChain chain;

    explicit PatternScene(const std::string& policy) {
        auto lock = script::compile(policy);
        EXPECT_TRUE(lock) << policy;
        chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), *std::move(lock))});
    }

    /// A pod created under that lock; `words` are what the unlocking script pushes: `sig:NAME`, `key:NAME`, `node:NAME`
    /// (signature and key of a node), or a number.
    SharedTx pod(const std::vector<std::string>& words, std::uint32_t sequence = kSequenceFinal) {
        Draft draft;
        chain.by(draft, "/namespaces/web", "");
        draft.outputs.push_back({.value = document("v1", "Pod", "web", fmt::format("p{}", ++count_))});
        draft.sequences = {sequence};
        draft.expiry = static_cast<std::uint32_t>(chain.now().unix_seconds() + 3600);
        Tx tx = chain.sign_raw(draft);
        const auto bare = check_tx(tx);
        const auto digest =
            signature_digest(**bare, chain.chain_id(), 0, draft.inputs[0].lock, SpentValue::of_authority());
        script::ScriptBuilder unlocking;
        const auto signature = [&](const crypto::SecretKey& secret) {
            Bytes der = crypto::sign(secret, digest).to_der();
            der.push_back(kHashTypeAll);
            return der;
        };
        for (const std::string& word : words) {
            const std::string who = word.substr(word.find(':') + 1);
            if (word.starts_with("sig:")) {
                unlocking.data(signature(test::key_of(who)));
            } else if (word.starts_with("key:")) {
                unlocking.data(test::key_of(who).public_key().bytes());
            } else if (word.starts_with("node:")) {
                const auto keys = test::node_keys_of(who);
                unlocking.data(signature(keys.chain)).data(keys.public_keys().chain.bytes());
            } else {
                unlocking.number(std::stoi(word));
            }
        }
        tx.inputs[0].unlocking = std::move(unlocking).take();
        const auto checked = check_tx(tx);
        EXPECT_TRUE(checked);
        return *checked;
    }
    std::string verdict(const SharedTx& tx) { return chain.verdict(tx); }

private:
    int count_ = 0;
};

constexpr std::uint32_t kFiveDays = script::kSequenceCountsTime | (5 * 24 * 3600 / 512 + 1);

TEST(Patterns, GrantForFiveDays) {
    // The chain's clock starts at 2027-01-15T08:00:00Z.
    PatternScene scene{fmt::format("until 2027-01-20 p2pkh {}", key("guest"))};
    EXPECT_EQ(scene.verdict(scene.pod({"sig:guest", "key:guest"})), "OK");
    EXPECT_EQ(scene.verdict(scene.pod({"sig:stranger", "key:stranger"})), "NotAuthorised");
    EXPECT_TRUE(scene.chain.decide(scene.pod({"sig:guest", "key:guest"}))->depends_on_block);
    scene.chain.mine_all({}, hours{24 * 6});
    const auto late = scene.chain.decide(scene.pod({"sig:guest", "key:guest"}));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, RejectCode::NotAuthorised);
    EXPECT_EQ(late.error().script_error, "EXPIRED");
}

TEST(Patterns, LockForFiveDays) {
    PatternScene scene{fmt::format("after 5d p2pkh {}", key("admin"))};
    EXPECT_EQ(scene.verdict(scene.pod({"sig:admin", "key:admin"})), "NotAuthorised");        // does not say it waits
    EXPECT_EQ(scene.verdict(scene.pod({"sig:admin", "key:admin"}, kFiveDays)), "NonFinal");  // says it, and must
    scene.chain.mine_all({}, hours{24 * 5 + 1});
    EXPECT_EQ(scene.verdict(scene.pod({"sig:admin", "key:admin"}, kFiveDays)), "OK");
    EXPECT_EQ(scene.verdict(scene.pod({"sig:admin", "key:admin"})), "NotAuthorised");
}

TEST(Patterns, ALockThatWaitsCountsFromWhenItWasSetNotFromTheLastEdit) {
    PatternScene scene{fmt::format("after 5d p2pkh {}", key("admin"))};
    scene.chain.mine_all({}, hours{24 * 4});
    Draft edit;  // the creator relabels the namespace, keeping its lock
    const Bytes lock = to_bytes(scene.chain.get("/namespaces/web")->script());
    scene.chain.version(edit, "/namespaces/web").by(edit, "/", "creator");
    edit.outputs.push_back({.value = document("v1", "Namespace", "", "web", "relabelled"), .locking = lock});
    scene.chain.mine_all({scene.chain.sign(edit)});
    scene.chain.mine_all({}, hours{25});
    EXPECT_EQ(scene.verdict(scene.pod({"sig:admin", "key:admin"}, kFiveDays)), "OK");
}

TEST(Patterns, TwoOfThree) {
    PatternScene scene{fmt::format("multisig 2 {} {} {}", key("a"), key("b"), key("c"))};
    EXPECT_EQ(scene.verdict(scene.pod({"0", "sig:a", "sig:c"})), "OK");
    EXPECT_EQ(scene.verdict(scene.pod({"0", "sig:c", "sig:a"})), "NotAuthorised");
    EXPECT_EQ(scene.verdict(scene.pod({"0", "sig:a", "sig:a"})), "NotAuthorised");
    EXPECT_EQ(scene.verdict(scene.pod({"0", "sig:a"})), "NotAuthorised");
    EXPECT_EQ(scene.verdict(scene.pod({"1", "sig:a", "sig:c"})), "NotAuthorised");  // the extra item must be empty
}

TEST(Patterns, TwoSignaturesThenOne) {
    PatternScene scene{
        fmt::format("either multisig 2 {0} {1} {2} or after 5d multisig 1 {0} {1} {2}", key("a"), key("b"), key("c"))};
    EXPECT_EQ(scene.verdict(scene.pod({"0", "sig:a", "sig:b", "1"})), "OK");
    EXPECT_EQ(scene.verdict(scene.pod({"0", "sig:a", "0"}, kFiveDays)), "NonFinal");
    scene.chain.mine_all({}, hours{24 * 6});
    EXPECT_EQ(scene.verdict(scene.pod({"0", "sig:a", "0"}, kFiveDays)), "OK");
    EXPECT_EQ(scene.verdict(scene.pod({"0", "sig:stranger", "0"}, kFiveDays)), "NotAuthorised");
}

TEST(Patterns, AnyMemberOfTheParentsState) {
    PatternScene scene{"member"};
    EXPECT_EQ(scene.verdict(scene.pod({"node:n1"})), "NotAuthorised");
    const auto keys = test::node_keys_of("n1");
    const std::string node = json::print(json::Object{
        {"apiVersion", "v1"},
        {"kind", "Node"},
        {"metadata",
         json::Object{{"name", "n1"}, {"annotations", member_annotations(keys, "n1", scene.chain.chain_id())}}}});
    scene.chain.mine_all({scene.chain.create("/", "creator", node, lock_of("creator"))});
    EXPECT_EQ(scene.verdict(scene.pod({"node:n1"})), "OK");
    EXPECT_EQ(scene.verdict(scene.pod({"node:n2"})), "NotAuthorised");

    // Waiting in the pool when its member goes: the verdict is asked anew.
    PendingPool pool{{}, scene.chain.rules, scene.chain.cache};
    pool.set_tip(scene.chain.state(), scene.chain.next());
    EXPECT_TRUE(pool.admit(scene.pod({"node:n1"}), {}, TxClass::Local));
    RejectCode why{};
    pool.dropped = [&](const SharedTx&, const Reject& reject) { why = reject.code; };
    Draft removal;
    scene.chain.version(removal, "/nodes/n1", "creator");
    scene.chain.mine_all({scene.chain.sign(removal)});
    pool.set_tip(scene.chain.state(), scene.chain.next());
    EXPECT_EQ(pool.size(), 0u);
    EXPECT_EQ(why, RejectCode::NotAuthorised);
}

TEST(Patterns, CosignedByAWatchtower) {
    PatternScene scene{fmt::format("cosigned {} p2pkh {}", key("tower"), key("admin"))};
    EXPECT_EQ(scene.verdict(scene.pod({"sig:admin", "key:admin", "sig:tower"})), "OK");
    EXPECT_EQ(scene.verdict(scene.pod({"sig:admin", "key:admin", "sig:stranger"})), "NotAuthorised");
    EXPECT_EQ(scene.verdict(scene.pod({"sig:admin", "key:admin"})), "NotAuthorised");
}

TEST(Patterns, ARefusalSaysWhereTheScriptSaidNo) {
    PatternScene scene{fmt::format("p2pkh {}", key("admin"))};
    const auto refused = scene.chain.decide(scene.pod({"sig:stranger", "key:stranger"}));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().input, 0);
    EXPECT_EQ(refused.error().script_error, "EQUALVERIFY");
    EXPECT_EQ(refused.error().position, 23u);  // DUP HASH160 <20 bytes> come before it
}

// A namespace deleted, made again and filled, all at once: no order suits one block, so it takes two.
TEST(Patterns, WhatWaitsForEachOtherInACircleTakesTwoBlocks) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("nadia"))});
    Draft deletion;
    chain.version(deletion, "/namespaces/web", "nadia");
    const auto removed = chain.sign(deletion);
    const auto made_again =
        chain.create("/", "creator", document("v1", "Namespace", "", "web", "new"), lock_of("nadia"));
    Draft filling;
    filling.inputs.push_back({{made_again->id, 0}, "nadia", lock_of("nadia"), SpentValue::of_authority()});
    filling.outputs.push_back({.value = document("v1", "Pod", "web", "a")});
    filling.expiry = static_cast<std::uint32_t>(chain.now().unix_seconds() + 3600);
    const auto filled = chain.sign(filling);
    const std::vector<SharedTx> all{filled, made_again, removed};
    EXPECT_EQ(chain.mine(all), 2u);
    EXPECT_EQ(chain.mine({filled}), 1u);
    EXPECT_NE(chain.get("/namespaces/web/core/Pod/a"), nullptr);
}

}  // namespace
}  // namespace rhizome::ledger
