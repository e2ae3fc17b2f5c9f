// SPDX-License-Identifier: Apache-2.0
#include "ledger/draft.h"

#include <gtest/gtest.h>

#include "ledger/limits.h"
#include "ledger/signing.h"
#include "script/template.h"
#include "support/sample_state.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::key_of;
using test::lock_of;
using test::TestChain;

/// Drafts, signs with the people in turn, and says what the next block would.
class Drafts : public ::testing::Test {
protected:
    Drafts() { test::fill_sample(chain); }

    DraftWish writing(std::string text, std::optional<Bytes> lock = {}) const {
        return {.changes = {{std::move(text), std::move(lock)}}, .now = chain.now()};
    }
    DraftWish deleting(std::string_view path) const {
        return {.changes = {{deletion_of(chain.get(path)->document()), {}}}, .now = chain.now()};
    }
    Tx draft(const DraftWish& wish) const {
        auto tx = make_draft(wish, chain.state().view());
        EXPECT_TRUE(tx) << to_text(tx.error());
        return tx ? *tx : Tx{};
    }
    std::string refusal(const DraftWish& wish) const {
        const auto tx = make_draft(wish, chain.state().view());
        return tx ? "OK" : std::string{name(tx.error().code)};
    }
    Tx signed_by(Tx tx, const std::vector<std::string>& people) {
        for (const std::string& person : people) {
            const auto checked = check_tx(tx);
            EXPECT_TRUE(checked);
            const auto uses = uses_of_inputs(**checked, chain.state());
            missing.clear();
            const auto secret = key_of(person);
            const Signer signer{secret, secret.public_key()};
            for (std::size_t i = 0; i < uses.size(); ++i) {
                auto progress = advance(**checked, i, uses[i], chain.chain_id(), chain.state(), &signer);
                missing.push_back(progress.missing);
                tx.inputs[i].unlocking = progress.unlocking;
            }
        }
        return tx;
    }
    std::string verdict(const Tx& tx) {
        const auto checked = check_tx(tx);
        return checked ? chain.verdict(*checked) : std::string{name(checked.error().code)};
    }
    std::string judged(const DraftWish& wish, const std::vector<std::string>& people) {
        return verdict(signed_by(draft(wish), people));
    }
    Bytes locked(std::string_view text) const {
        class Names final : public script::KeyResolver {
            std::optional<crypto::PublicKey> find(std::string_view name) const override {
                return key_of(name).public_key();
            }
        } names;
        return script::compile(text, &names).value();
    }

    TestChain chain;
    std::vector<std::string> missing;  ///< of the last signing
};

state::Path at(std::string_view text) { return state::Path::parse(text).value(); }

TEST_F(Drafts, ACreationNamesTheNearestAncestorWithALock) {
    const Tx tx = draft(writing(document("v1", "Pod", "web", "new"), lock_of("carol")));
    ASSERT_EQ(tx.inputs.size(), 1u);
    EXPECT_EQ(tx.inputs[0].previous, chain.get("/namespaces/web")->origin().lock.output);
    EXPECT_EQ(tx.expiry, chain.now().unix_seconds() + kExpirySecondsDefault) << "it consumes nothing";
    EXPECT_EQ(tx.outputs[0].locking, lock_of("carol"));
    EXPECT_EQ(verdict(signed_by(tx, {"alice"})), "OK");
    EXPECT_EQ(verdict(signed_by(tx, {"bob"})), "NotAuthorised");
    auto wish = writing(document("v1", "Pod", "web", "new"));
    wish.by = at("/");
    EXPECT_EQ(judged(wish, {"creator"}), "OK");
    EXPECT_EQ(judged(wish, {"alice"}), "NotAuthorised");
    EXPECT_TRUE(draft(wish).outputs[0].locking.empty());
}

TEST_F(Drafts, AnUpdateConsumesTheVersionByItsOwnLock) {
    const auto wish = writing(document("v1", "Pod", "web", "db", "second"));
    const Tx tx = draft(wish);
    EXPECT_EQ(tx.expiry, 0u);
    EXPECT_EQ(tx.outputs[0].locking, lock_of("bob")) << "the lock stays";
    EXPECT_EQ(judged(wish, {"bob"}), "OK");
    EXPECT_EQ(judged(wish, {"alice"}), "NotAuthorised");
}

TEST_F(Drafts, AnUpdateByAnAncestorLeavesTheVersionUnsigned) {
    auto wish = writing(document("v1", "Pod", "web", "db", "second"));
    for (const auto& [by, person] : {std::pair{"/namespaces/web", "alice"}, std::pair{"/", "creator"}}) {
        wish.by = at(by);
        const Tx tx = signed_by(draft(wish), {person});
        ASSERT_EQ(tx.inputs.size(), 2u);
        EXPECT_TRUE(tx.inputs[0].unlocking.empty());
        EXPECT_EQ(verdict(tx), "OK") << by;
        EXPECT_EQ(judged(wish, {"bob"}), "NotAuthorised");
    }
    wish.by = at("/namespaces/team");
    EXPECT_EQ(refusal(wish), "NotAuthorised") << "no ancestor";
}

TEST_F(Drafts, WhatHasNoLockIsDecidedByItsAncestor) {
    chain.mine_all({chain.create("/namespaces/web", "alice", document("v1", "ConfigMap", "web", "open"))});
    EXPECT_EQ(judged(writing(document("v1", "ConfigMap", "web", "open", "x")), {"alice"}), "OK");
    EXPECT_EQ(judged(deleting("/namespaces/web/core/ConfigMap/open"), {"alice"}), "OK");
    auto wish = writing(document("v1", "ConfigMap", "web", "open", "x"));
    wish.by = at("/namespaces/web/core/ConfigMap/open");
    EXPECT_EQ(judged(wish, {"alice"}), "OK") << "its own lock cannot decide: it has none";
}

TEST_F(Drafts, DeletionsGoByTheOwnLockOrAnAncestors) {
    auto wish = deleting("/namespaces/web/core/Pod/db");
    EXPECT_EQ(draft(wish).expiry, 0u);
    EXPECT_EQ(judged(wish, {"bob"}), "OK");
    EXPECT_EQ(judged(wish, {"alice"}), "NotAuthorised");
    wish.by = at("/namespaces/web");
    EXPECT_NE(draft(wish).expiry, 0u) << "whatever version there is then, so it consumes none";
    EXPECT_EQ(judged(wish, {"alice"}), "OK");
    EXPECT_EQ(refusal(deleting("/")), "NotAuthorised");
    EXPECT_EQ(
        refusal({.changes =
                     {{R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"web","name":"no"},"deleted":true})",
                       {}}}}),
        "NotFound");
}

TEST_F(Drafts, SeveralChangesShareInputs) {
    auto wish = writing(document("v1", "Namespace", "", "web", "edited"));
    wish.changes.push_back({document("v1", "Pod", "web", "a"), {}});
    wish.changes.push_back({document("v1", "Pod", "web", "b"), {}});
    EXPECT_EQ(draft(wish).inputs.size(), 1u) << "its latest output is its lock point";
    EXPECT_EQ(judged(wish, {"alice"}), "OK");
    chain.mine_all({*check_tx(signed_by(draft(wish), {"alice"}))});
    wish = writing(document("v1", "Namespace", "", "web", "again"));
    wish.changes.push_back({document("v1", "Pod", "web", "c"), {}});
    EXPECT_EQ(draft(wish).inputs.size(), 2u) << "now they are two outputs";
    EXPECT_EQ(judged(wish, {"alice"}), "OK");
    wish = writing(document("v1", "Namespace", "", "fresh"));
    wish.changes.push_back({document("v1", "Pod", "fresh", "a"), {}});
    EXPECT_EQ(judged(wish, {"creator"}), "OK") << "the namespace is made by the same transaction";
    wish.changes.push_back({document("v1", "Pod", "fresh", "a"), {}});
    EXPECT_EQ(refusal(wish), "DuplicateOutput");
    EXPECT_EQ(refusal(writing(document("v1", "Pod", "nowhere", "a"))), "OrphanParent");
    EXPECT_EQ(refusal({}), "BadEncoding");
}

TEST_F(Drafts, AMultisigIsSignedInAnyOrder) {
    const auto wish = writing(document("v1", "Pod", "team", "p"));
    const std::vector<std::vector<std::string>> good{{"alice", "bob"},          {"bob", "alice"},
                                                     {"carol", "alice"},        {"carol", "bob"},
                                                     {"alice", "bob", "carol"}, {"bob", "bob", "carol"}};
    for (const auto& people : good) EXPECT_EQ(judged(wish, people), "OK") << people[0] << people[1];
    EXPECT_EQ(judged(wish, {"alice"}), "NotAuthorised");
    EXPECT_EQ(missing[0], "1 more of " + key_of("bob").public_key().hex() + ", " + key_of("carol").public_key().hex());
    EXPECT_EQ(judged(wish, {"alice", "alice"}), "NotAuthorised");
    EXPECT_EQ(judged(wish, {"mallory"}), "NotAuthorised");
}

TEST_F(Drafts, TemplatesAreOpenedByTheWayThatFits) {
    const struct {
        const char* lock;
        std::vector<std::string> people;
        std::uint32_t sequence;
        const char* verdict;
    } rows[] = {
        {"p2pk alice", {"alice"}, kSequenceFinal, "OK"},
        {"cosigned carol p2pkh alice", {"alice", "carol"}, kSequenceFinal, "OK"},
        {"cosigned carol p2pkh alice", {"carol", "alice"}, kSequenceFinal, "OK"},
        {"cosigned carol p2pkh alice", {"alice"}, kSequenceFinal, "NotAuthorised"},
        {"cosigned carol multisig 2 alice bob", {"bob", "carol", "alice"}, kSequenceFinal, "OK"},
        {"either p2pkh alice or p2pkh bob", {"alice"}, kSequenceFinal, "OK"},
        {"either p2pkh alice or p2pkh bob", {"bob"}, kSequenceFinal, "OK"},
        {"either multisig 2 alice bob carol or after 2 blocks p2pkh bob", {"bob", "carol"}, kSequenceFinal, "OK"},
        {"either multisig 2 alice bob carol or after 2 blocks p2pkh bob", {"bob"}, kSequenceFinal, "NotAuthorised"},
        {"either multisig 2 alice bob carol or after 2 blocks p2pkh bob", {"bob"}, 2, "NonFinal"},
        {"either multisig 2 alice bob carol or after 1 blocks p2pkh bob", {"bob"}, 1, "OK"},
        {"either multisig 3 alice bob carol or p2pkh mallory", {"carol", "alice", "bob"}, kSequenceFinal, "OK"},
        {"either p2pkh alice or after 5d p2pkh bob", {"bob"}, kSequenceFinal, "NotAuthorised"},
        {"until 2030-01-01 p2pkh alice", {"alice"}, kSequenceFinal, "OK"},
        {"until 2020-01-01 p2pkh alice", {"alice"}, kSequenceFinal, "NotAuthorised"},
    };
    for (const auto& row : rows) {
        TestChain fresh;
        chain = std::move(fresh);
        chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "n"), locked(row.lock))});
        auto wish = writing(document("v1", "Pod", "n", "p"));
        wish.sequence = row.sequence;
        EXPECT_EQ(judged(wish, row.people), row.verdict) << row.lock << " by " << row.people[0];
    }
}

TEST_F(Drafts, SignaturesThatFitNoMoreAreDropped) {
    Tx tx = signed_by(draft(writing(document("v1", "Pod", "team", "p"))), {"alice"});
    tx.lock_time = 1;
    const auto checked = check_tx(tx);
    ASSERT_TRUE(checked);
    const auto uses = uses_of_inputs(**checked, chain.state());
    const auto secret = key_of("bob");
    const Signer signer{secret, secret.public_key()};
    const auto progress = advance(**checked, 0, uses[0], chain.chain_id(), chain.state(), &signer);
    EXPECT_EQ(progress.unfitting, 1u);
    EXPECT_EQ(progress.signatures, 1u);
    EXPECT_FALSE(progress.complete);
    EXPECT_EQ(verdict(signed_by(tx, {"bob", "carol"})), "OK");
}

TEST_F(Drafts, LocksOfNoKnownFormAreLeftAlone) {
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "odd"), {0x51})});
    Tx tx = draft(writing(document("v1", "Pod", "odd", "p")));
    tx.inputs[0].unlocking = {0x52};
    const Tx after = signed_by(tx, {"alice"});
    EXPECT_EQ(after, tx);
    EXPECT_EQ(missing[0], "a script written by hand: its lock is of no known form");
    tx.inputs[0].previous.index = 9;
    (void)signed_by(tx, {"alice"});
    EXPECT_EQ(missing[0], "an output that is current: it names none");
}

}  // namespace
}  // namespace rhizome::ledger
