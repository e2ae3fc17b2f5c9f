// SPDX-License-Identifier: Apache-2.0
#include "ledger/pending_pool.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using Admission = PendingPool::Admission;
using test::document;
using test::Draft;
using test::lock_of;
using test::TestChain;

/// A chain with the namespace `web` of nadia, and a pool on its tip.
struct PoolScene {
    TestChain chain;
    PendingPool pool;
    std::vector<std::pair<TxId, RejectCode>> dropped;

    explicit PoolScene(PoolLimits limits = {}) : pool(limits, chain.rules, chain.cache) {
        chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("nadia"))});
        pool.dropped = [this](const SharedTx& tx, const Reject& why) { dropped.emplace_back(tx->id, why.code); };
        pool.set_tip(chain.state(), chain.next());
    }
    SharedTx pod(std::string_view name, std::string_view note = "x") const {
        return chain.create("/namespaces/web", "nadia", document("v1", "Pod", "web", name, note), lock_of("olga"));
    }
    std::string admit(const SharedTx& tx, TxClass tx_class = TxClass::Relayed, std::string_view sender = "s") {
        const auto admission = pool.admit(tx, crypto::hash160(as_bytes(sender)), tx_class);
        if (!admission) return std::string{name(admission.error().code)};
        return *admission == Admission::Added ? "Added" : *admission == Admission::Known ? "Known" : "Waiting";
    }
    void mine(const std::vector<SharedTx>& txs, const std::vector<SharedTx>& returned = {}) {
        chain.mine_all(txs);
        std::vector<TxId> ids;
        for (const auto& tx : txs) ids.push_back(tx->id);
        pool.set_tip(chain.state(), chain.next(), ids, returned);
    }
};

TEST(PendingPool, KeepsTheFirstOfTwoThatConflict) {
    PoolScene scene;
    EXPECT_EQ(scene.admit(scene.pod("a", "first")), "Added");
    EXPECT_EQ(scene.admit(scene.pod("a", "second")), "AlreadyExists");
    EXPECT_EQ(scene.admit(scene.pod("a", "first")), "Known");
    EXPECT_EQ(scene.pool.size(), 1u);
}

TEST(PendingPool, KeepsOneVariantOfAnId) {
    PoolScene scene;
    // 2 of 3: the same change, signed by others.
    scene.mine({scene.chain.create("/", "creator", document("v1", "Namespace", "", "team"),
                                   test::lock_of_any(2, {"a", "b", "c"}))});
    const auto by_ab = scene.chain.create("/namespaces/team", "a,b", document("v1", "Pod", "team", "p"));
    const auto by_bc = scene.chain.create("/namespaces/team", "b,c", document("v1", "Pod", "team", "p"));
    ASSERT_EQ(by_ab->id, by_bc->id);
    ASSERT_NE(by_ab->wire_id, by_bc->wire_id);
    EXPECT_EQ(scene.admit(by_ab), "Added");
    EXPECT_EQ(scene.admit(by_bc), "Known");
    EXPECT_EQ(scene.pool.find(by_ab->id)->wire_id, by_ab->wire_id);
}

TEST(PendingPool, ABrokenVariantDoesNotKeepTheGoodOneOut) {
    PoolScene scene;
    const auto good = scene.pod("a");
    Tx broken = good->tx;
    broken.inputs[0].unlocking[5] ^= 1;
    const auto checked = check_tx(broken);
    ASSERT_TRUE(checked);
    ASSERT_EQ((*checked)->id, good->id);
    EXPECT_EQ(scene.admit(*checked), "NotAuthorised");
    EXPECT_EQ(scene.admit(good), "Added");
}

TEST(PendingPool, ChildrenComeInWhenTheirParentsDo) {
    PoolScene scene;
    // Written on a copy of the chain where the parents are already in.
    PoolScene later;
    const auto parent = later.pod("a");
    later.mine({parent});
    const auto child = later.chain.update("/namespaces/web/core/Pod/a", "olga", document("v1", "Pod", "web", "a", "2"),
                                          lock_of("olga"));
    later.mine({child});
    const auto grandchild = later.chain.update("/namespaces/web/core/Pod/a", "olga",
                                               document("v1", "Pod", "web", "a", "3"), lock_of("olga"));
    EXPECT_EQ(scene.admit(grandchild), "Waiting");
    EXPECT_EQ(scene.admit(child), "Waiting");
    EXPECT_EQ(scene.pool.size(), 0u);
    EXPECT_EQ(scene.admit(parent), "Added");
    EXPECT_EQ(scene.pool.size(), 3u);
    EXPECT_EQ(scene.pool.waiting(), 0u);
    // All three fit one block, in their order, though the pool hands them out by class and arrival.
    EXPECT_EQ(scene.chain.mine(scene.pool.best()), 3u);
}

TEST(PendingPool, WhatABlockIncludedOrMadeImpossibleLeaves) {
    PoolScene scene;
    const auto included = scene.pod("a");
    const auto rival = scene.pod("b", "ours");
    const auto other = scene.pod("c");
    for (const auto& tx : {included, rival, other}) EXPECT_EQ(scene.admit(tx), "Added");
    scene.mine({included, scene.pod("b", "theirs")});
    EXPECT_EQ(scene.pool.size(), 1u);
    EXPECT_NE(scene.pool.find(other->id), nullptr);
    EXPECT_EQ(scene.dropped, (std::vector<std::pair<TxId, RejectCode>>{{rival->id, RejectCode::AlreadyExists}}));
}

TEST(PendingPool, AChangedLockDropsAllThatUsedIt) {
    PoolScene scene;
    for (const char* name : {"a", "b", "c"}) EXPECT_EQ(scene.admit(scene.pod(name)), "Added");
    scene.mine(
        {scene.chain.update("/namespaces/web", "nadia", document("v1", "Namespace", "", "web"), lock_of("new owner"))});
    // They wait (the lock could come back with a reorganisation) but no block takes them.
    EXPECT_EQ(scene.pool.size(), 0u);
    EXPECT_EQ(scene.pool.waiting(), 3u);
}

TEST(PendingPool, WhatLostItsBlockComesBackFirst) {
    PoolScene scene;
    const auto lost = scene.pod("a", "lost its block");
    const auto rival = scene.pod("a", "came later");
    // The chain with `lost` is left for one without it.
    scene.pool.set_tip(scene.chain.state(), scene.chain.next(), {}, {lost});
    EXPECT_EQ(scene.admit(rival), "AlreadyExists");
    EXPECT_EQ(scene.pool.best().front()->id, lost->id);
}

TEST(PendingPool, ExpiryIsAskedAgainWithEveryTip) {
    PoolScene scene;
    const auto soon = scene.pod("a");
    EXPECT_EQ(scene.admit(soon), "Added");
    scene.chain.mine_all({}, hours{2});
    scene.pool.set_tip(scene.chain.state(), scene.chain.next());
    EXPECT_EQ(scene.pool.size(), 0u);
    ASSERT_EQ(scene.dropped.size(), 1u);
    EXPECT_EQ(scene.dropped[0].second, RejectCode::Expired);
}

TEST(PendingPool, OneSenderCannotFillIt) {
    PoolScene scene{{.sender_bytes_max = 2000}};
    std::string last;
    int added = 0;
    for (int i = 0; i < 20; ++i) {
        last = scene.admit(scene.pod(fmt::format("p{}", i)), TxClass::Relayed, "greedy");
        added += last == "Added" ? 1 : 0;
    }
    EXPECT_EQ(last, "TooManyPending");
    EXPECT_GT(added, 2);
    EXPECT_EQ(scene.admit(scene.pod("other"), TxClass::Relayed, "modest"), "Added");
    EXPECT_EQ(scene.admit(scene.pod("report"), TxClass::System, "greedy"), "Added");
}

TEST(PendingPool, AFullPoolMakesRoomFromItsLowestClass) {
    PoolScene scene{{.count_max = 10}};
    for (int i = 0; i < 10; ++i) EXPECT_EQ(scene.admit(scene.pod(fmt::format("p{}", i))), "Added");
    EXPECT_EQ(scene.admit(scene.pod("relayed")), "TooManyPending");
    EXPECT_EQ(scene.admit(scene.pod("local"), TxClass::Local), "Added");
    EXPECT_EQ(scene.pool.size(), 10u);
    ASSERT_EQ(scene.dropped.size(), 1u);
    EXPECT_EQ(scene.dropped[0].second, RejectCode::TooManyPending);
    EXPECT_EQ(scene.pool.best().front()->outputs[0].resource.name, "local");
}

TEST(PendingPool, WaitingIsBounded) {
    PoolScene scene{{.waiting_count_max = 2}};
    Draft orphan;
    scene.chain.by(orphan, "/namespaces/web", "nadia");
    std::string last;
    for (std::uint8_t i = 0; i < 3; ++i) {
        Tx tx = scene.chain.sign_raw(orphan);
        tx.inputs[0].previous.change = crypto::sha256(ByteView{&i, 1});
        tx.outputs.push_back({.value = document("v1", "Pod", "web", fmt::format("o{}", i))});
        last = scene.admit(*check_tx(tx));
    }
    EXPECT_EQ(last, "MissingInput");
    EXPECT_EQ(scene.pool.waiting(), 2u);
}

}  // namespace
}  // namespace rhizome::ledger
