// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/liars.h"
#include "sim/sim.h"
#include "sim/testing.h"

/// Who was away, who lies about where it is, and what a heal costs.
namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;
using testing::grow_up;

std::uint64_t height_of(const Sim& sim, std::size_t machine) { return sim.node(machine).tip().height.number(); }

/// Blocks come fast enough that a minute is hundreds of them.
void let_them_write(Sim& sim, const std::vector<std::size_t>& machines, microseconds duration) {
    sim.load(40, machines);
    sim.run(duration);
    sim.load(0, {});
}

TEST(SyncSim, WhoMissedHundredsOfBlocksGetsThemHeadersFirstFromSeveralPeers) {
    sim::Setup setup{.seed = 5, .machines = 5, .link = {.delay = 5ms, .jitter = 2ms}};
    // The first peer alone would have sent all of them before the next one is linked.
    setup.config.bodies_ahead_max = 16;
    setup.config.ask_bodies_max = 4;
    Sim sim{setup};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.crash(4);
    const std::uint64_t before = height_of(sim, 0);
    let_them_write(sim, {0, 1, 2, 3}, 60s);
    const std::uint64_t missed = height_of(sim, 0) - before;
    ASSERT_GT(missed, 300u);
    std::set<std::size_t> asked;
    sim.overhear = [&](std::size_t from, std::size_t to, const core::Message& message) {
        if (from == 4 && std::holds_alternative<core::WantBodies>(message)) asked.insert(to);
    };
    sim.start(4);
    EXPECT_TRUE(sim.run_until([&] { return height_of(sim, 4) >= before + missed; }, 3s));
    const auto& traffic = sim.node(4).traffic();
    EXPECT_GE(traffic.bodies_heard, missed - 64);
    EXPECT_EQ(traffic.false_guides, 0u);
    EXPECT_GE(asked.size(), 2u) << "bodies come from several";
    EXPECT_LE(traffic.bodies_heard, missed + 64) << "and each of them once";
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(SyncSim, WhoLiesAboutItsTipIsLeftAndBlamedAndHurtsNobody) {
    Sim sim{{.seed = 6, .machines = 5, .link = {.delay = 5ms, .jitter = 2ms}}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.corrupt(3, make_liar(Lie::FalseTip, 1));
    std::size_t blamed = 0;
    sim.watch = [&](const Seen& seen) {
        if (const auto* one = std::get_if<Blamed>(&seen.what)) blamed += one->whom == 3 ? 1 : 0;
    };
    sim.crash(4);
    const std::uint64_t before = height_of(sim, 0);
    let_them_write(sim, {0, 1, 2}, 60s);
    const std::uint64_t there = height_of(sim, 0);
    ASSERT_GT(there, before + 200);
    for (const std::size_t machine : {0u, 1u, 2u}) EXPECT_GE(height_of(sim, machine) + 2, there) << "of " << machine;
    // One comes back that is behind in truth, and has the liar among those it can follow.
    sim.start(4);
    EXPECT_TRUE(sim.run_until([&] { return height_of(sim, 4) >= there; }, 30s)) << height_of(sim, 4);
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 30s));
    EXPECT_GT(sim.node(0).traffic().false_guides, 0u);
    EXPECT_GT(blamed, 0u);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(SyncSim, WhoFollowsOneThatIsSilentTriesTheOthersFirst) {
    Sim sim{{.seed = 6, .machines = 5, .link = {.delay = 5ms}}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.crash(4);
    let_them_write(sim, {0, 1, 2, 3}, 20s);
    const std::uint64_t there = height_of(sim, 0);
    for (const std::size_t silent : {1u, 2u}) sim.set_link(4, silent, {.delay = 60s});
    sim.start(4);
    EXPECT_TRUE(sim.run_until([&] { return height_of(sim, 4) >= there; }, 20s)) << height_of(sim, 4);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(SyncSim, AnswersThatComeLateAreFollowedAllTheSame) {
    Sim sim{{.seed = 6, .machines = 5, .link = {.delay = 5ms}}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.crash(4);
    let_them_write(sim, {0, 1, 2, 3}, 20s);
    const std::uint64_t there = height_of(sim, 0);
    // Longer than anybody is waited for at first. A status, headers and bodies twice are four of them.
    for (const std::size_t slow : {0u, 1u, 2u, 3u}) sim.set_link(slow, 4, {.delay = 2500ms});
    sim.start(4);
    EXPECT_TRUE(sim.run_until([&] { return height_of(sim, 4) >= there; }, 12s)) << height_of(sim, 4);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(SyncSim, APeerThatReadsSlowlyHoldsUpNobody) {
    Sim sim{{.seed = 5, .machines = 5, .link = {.delay = 5ms}}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.crash(4);
    const std::uint64_t before = height_of(sim, 0);
    let_them_write(sim, {0, 1, 2, 3}, 60s);
    const std::uint64_t there = height_of(sim, 0);
    ASSERT_GT(there, before + 300);
    // What is meant for two of those who could help lies about for twenty seconds before it is read.
    sim.set_link(4, 1, {.delay = 20s});
    sim.set_link(4, 2, {.delay = 20s});
    sim.start(4);
    EXPECT_TRUE(sim.run_until([&] { return height_of(sim, 4) >= there; }, 15s)) << height_of(sim, 4);
    EXPECT_GT(sim.node(4).traffic().bodies_asked_again, 0u) << "it was asked, and then others were";
    // The slow ones are no worse off than their links.
    sim.set_link(4, 1, {.delay = 5ms});
    sim.set_link(4, 2, {.delay = 5ms});
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0 && sim.distinct_tips() == 1; }, 60s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(SyncSim, AThousandTransactionsReturnAfterAHealAndAreNamedRatherThanSent) {
    Sim sim{{.seed = 9, .machines = 5, .link = {.delay = 2ms}}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.split({{0, 1}, {2, 3, 4}});
    sim.run(10s);
    constexpr std::size_t kOrders = 1'000;
    std::vector<std::size_t> orders;
    for (std::size_t i = 0; i < kOrders; ++i) {
        orders.push_back(sim.submit_new(i % 2, fmt::format("returning{}", i)));
        sim.run(5ms);
    }
    ASSERT_TRUE(sim.run_until(
        [&] {
            return std::all_of(orders.begin(), orders.end(),
                               [&](std::size_t one) { return sim.orders()[one].stage == core::Stage::Included; });
        },
        30s));
    const auto sent = [&] {
        std::uint64_t all = 0;
        for (std::size_t i = 0; i < sim.size(); ++i) all += sim.node(i).traffic().txs_sent;
        return all;
    };
    const std::uint64_t before = sent();
    sim.heal();
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 60s)) << sim.open_orders();
    for (const std::size_t one : orders) EXPECT_EQ(sim.orders()[one].stage, core::Stage::Final);
    // Three machines lack them: told by two who have them, and by each other.
    EXPECT_LE(sent() - before, 2 * 3 * kOrders);
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1; }, 10s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(SyncSim, WhoBringsBlocksAndVotesIsPraisedAndWhoRepeatsThemIsNot) {
    Sim sim{{.seed = 12, .machines = 4, .link = {.delay = 2ms}}};
    // Machine 3 is far away: whatever it passes on, the others have had for long.
    for (const std::size_t other : {0u, 1u, 2u}) sim.set_link(3, other, {.delay = 400ms});
    ASSERT_TRUE(grow_up(sim, 4));
    std::map<std::pair<std::size_t, std::size_t>, std::size_t> praised;
    sim.praised = [&](std::size_t machine, std::size_t other) { ++praised[{machine, other}]; };
    let_them_write(sim, {0, 1, 2}, 20s);
    sim.praised = nullptr;
    for (const std::size_t machine : {0u, 1u, 2u}) {
        std::size_t near = 0;
        for (const std::size_t other : {0u, 1u, 2u}) near = std::max(near, praised[{machine, other}]);
        EXPECT_GE(near, 10u) << "somebody near is of use every second";
        EXPECT_LE(near, 21u) << "and that is said once a second at most";
    }
    EXPECT_GE(praised[std::pair(3u, 0u)] + praised[std::pair(3u, 1u)] + praised[std::pair(3u, 2u)], 10u);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(SyncSim, BlocksTravelAsShortIdsAndWhatIsMissingIsFilledIn) {
    Sim sim{{.seed = 11, .machines = 4, .link = {.delay = 10ms, .jitter = 15ms, .loss = 20}}};
    ASSERT_TRUE(grow_up(sim, 4));
    for (std::size_t i = 0; i < 600; ++i) {
        (void)sim.submit_new(i % 4, fmt::format("short{}", i));
        sim.run(3ms);
    }
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 60s));
    core::Node::Traffic all;
    for (std::size_t i = 0; i < sim.size(); ++i) {
        const auto& one = sim.node(i).traffic();
        all.compact_sent += one.compact_sent;
        all.compact_saved += one.compact_saved;
        all.compact_heard += one.compact_heard;
        all.compact_fill_ins += one.compact_fill_ins;
        all.compact_fallbacks += one.compact_fallbacks;
    }
    EXPECT_GT(all.compact_sent, 20u);
    EXPECT_GT(all.compact_saved, 10'000u);
    EXPECT_GT(all.compact_fill_ins, 0u) << "transactions get lost on such links";
    EXPECT_LE(all.compact_fallbacks, all.compact_heard / 10);
    EXPECT_EQ(testing::first_fault(sim), "");
}

}  // namespace
}  // namespace rhizome::sim
