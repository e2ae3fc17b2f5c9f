// SPDX-License-Identifier: Apache-2.0
#include "ledger/order.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::Draft;
using test::lock_of;
using test::TestChain;

constexpr std::string_view kWeb = "/namespaces/web";
constexpr std::string_view kPod = "/namespaces/web/core/Pod/p";

/// Changes that rest on each other and are all still pending: each is written on a chain that has those before it.
struct Pending {
    TestChain chain;
    TestChain ahead;
    std::vector<SharedTx> txs;

    Pending() {
        chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("nadia"))});
        ahead = chain.fork(chain.blocks().size());
    }
    void add(const SharedTx& tx) {
        ahead.mine_all({tx}, std::chrono::seconds{600});
        txs.push_back(tx);
    }
    void create(std::string_view note) {
        add(ahead.create(kWeb, "nadia", document("v1", "Pod", "web", "p", note), lock_of("olga")));
    }
    void change(std::string_view note) {
        add(ahead.update(kPod, "olga", document("v1", "Pod", "web", "p", note), lock_of("olga")));
    }
    void remove(std::string_view path, std::string_view signer) {
        Draft deletion;
        ahead.version(deletion, path, signer);
        add(ahead.sign(deletion));
    }
    /// What they do one after another.
    [[nodiscard]] std::vector<Effects> effects() {
        WorkingState state{chain.state().view(), chain.state().index()};
        const auto next = chain.next(std::chrono::seconds{600});
        const Place place = place_of(chain.state(), next);
        std::vector<Effects> all;
        for (const SharedTx& tx : txs) {
            all.push_back(decide(tx, state, place, chain.rules, chain.cache, 1000).value());
            perform(all.back(), state, place);
        }
        return all;
    }
    /// From the pool's decisions, which is checked against deciding again.
    std::vector<SharedTx> mine() {
        PendingPool pool{{}, chain.rules, chain.cache};
        pool.set_tip(chain.state(), chain.next());
        for (const SharedTx& tx : txs) EXPECT_TRUE(pool.admit(tx, {}, TxClass::Local));
        const auto next = chain.next(std::chrono::seconds{600});
        const auto build = [&](const auto& candidates) {
            return build_block(chain.state(), next, candidates, {}, 0, chain.rules, chain.cache, chain.parallel);
        };
        const BlockDraft draft = build(pool.decided());
        EXPECT_EQ(draft.header, build(pool.best()).header);
        chain.mine_all(draft.txs, std::chrono::seconds{600});
        std::erase_if(txs, [&](const SharedTx& tx) {
            return std::find(draft.txs.begin(), draft.txs.end(), tx) != draft.txs.end();
        });
        return draft.txs;
    }
};

using Positions = std::vector<std::size_t>;

TEST(Order, WhatASetMakesAndDeletesAgainIsMadeFirst) {
    Pending pending;
    pending.create("1");
    pending.change("2");
    pending.remove(kPod, "olga");
    const auto effects = pending.effects();
    const Ordering ordering = canonical_order(effects);
    EXPECT_EQ(ordering.order, (Positions{0, 1, 2}));
    EXPECT_EQ(ordering.left_out, Positions{});
    const auto txs = pending.txs;
    EXPECT_EQ(pending.mine(), txs);
    EXPECT_EQ(pending.chain.get(kPod), nullptr);
}

TEST(Order, WhatExistedIsDeletedBeforeItIsMadeAgain) {
    Pending pending;
    pending.create("before");
    pending.mine();
    pending.remove(kPod, "olga");
    pending.create("again");
    const auto txs = pending.txs;
    EXPECT_EQ(pending.mine(), txs);
    EXPECT_NE(pending.chain.get(kPod), nullptr);
}

TEST(Order, ASecondCreationOfAPathWaitsForTheNextBlock) {
    Pending pending;
    pending.create("1");
    pending.remove(kPod, "olga");
    pending.create("2");
    pending.remove(kPod, "olga");
    pending.create("3");
    const auto effects = pending.effects();
    const Ordering ordering = canonical_order(effects);
    EXPECT_EQ(ordering.left_out, (Positions{2, 4}));
    std::size_t blocks = 0;
    for (; !pending.txs.empty(); ++blocks) ASSERT_FALSE(pending.mine().empty()) << "stuck after " << blocks;
    EXPECT_EQ(blocks, 3u);
    EXPECT_EQ(pending.chain.get(kPod)->document(), document("v1", "Pod", "web", "p", "3"));
}

// The last of these waits for nothing but the one before it, and both are left out: it was in the order as well then,
// and another in neither.
TEST(Order, EachIsInTheOrderOrLeftOutAlsoWhereWhatIsLeftOutRestsOnWhatIsLeftOut) {
    Pending pending;
    const auto pod = [](std::string_view name, std::string_view note) {
        return Output{document("v1", "Pod", "web", name, note), lock_of("olga")};
    };
    Draft both;
    pending.ahead.by(both, kWeb, "nadia");
    both.outputs = {pod("p", "1"), pod("r", "1")};
    pending.add(pending.ahead.sign(both));
    pending.remove(kWeb, "nadia");
    // The namespace again, and in it what was there before.
    Draft again;
    pending.ahead.by(again, "/", "creator");
    again.outputs = {{document("v1", "Namespace", "", "web", "2"), lock_of("nadia")}, pod("p", "2"), pod("q", "2")};
    pending.add(pending.ahead.sign(again));
    Draft last;
    pending.ahead.version(last, "/namespaces/web/core/Pod/q", "olga").by(last, kWeb, "nadia");
    last.outputs = {pod("q", "3"), pod("r", "3")};
    pending.add(pending.ahead.sign(last));

    const auto effects = pending.effects();
    const Ordering ordering = canonical_order(effects);
    EXPECT_EQ(ordering.order, (Positions{0, 1}));
    EXPECT_EQ(ordering.left_out, (Positions{2, 3}));
}

}  // namespace
}  // namespace rhizome::ledger
