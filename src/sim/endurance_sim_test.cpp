// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include <gtest/gtest.h>

#include "sim/liars.h"
#include "sim/sim.h"
#include "sim/testing.h"

/// Scenarios with many machines, long times, or much load.
namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;
using testing::grow_up;
using testing::voters_at;

/// `./run test sim-long` takes its time.
bool is_long_run() { return std::getenv("RHIZOME_SIM_LONG") != nullptr; }

std::vector<std::size_t> from_to(std::size_t begin, std::size_t end) {
    std::vector<std::size_t> all(end - begin);
    std::iota(all.begin(), all.end(), begin);
    return all;
}

/// Members whose leases have ended by the chain's own clock: whose pods would be moved.
std::size_t ended_leases(const Sim& sim, std::size_t machine) { return sim.ended_leases(machine).size(); }

/// A network in which both sides of a cut stay in one piece, as nodes that look for other peers would make it.
std::vector<std::pair<std::size_t, std::size_t>> links_for(const std::vector<std::vector<std::size_t>>& sides,
                                                           Random random) {
    std::vector<std::pair<std::size_t, std::size_t>> links;
    for (const auto& side : sides)
        for (std::size_t i = 0; i < side.size(); ++i) {
            links.emplace_back(side[i], side[(i + 1) % side.size()]);
            links.emplace_back(side[i], side[(i + 2 + random.below(side.size() - 3)) % side.size()]);
            const auto& other = sides[&side == &sides.front() ? 1 : 0];
            links.emplace_back(side[i], other[random.below(other.size())]);
        }
    return links;
}

/// Splits 51 from 49; whether the majority's chain is the one that all follow in the end.
bool majority_wins(std::uint64_t seed, bool only_minority_has_load) {
    constexpr std::size_t kMajority = 51;
    auto all = from_to(0, 100);
    Random random{seed};
    random.shuffle(all);
    const std::vector<std::size_t> major{all.begin(), all.begin() + kMajority};
    const std::vector<std::size_t> minor{all.begin() + kMajority, all.end()};
    // Where 51 of 100 are no quorum nothing is final, and weight alone decides.
    Sim sim{{.seed = seed,
             .machines = 100,
             .spec = seed % 2 == 0 ? R"({"trust":"byzantine"})" : "{}",
             .link = {.delay = 1ms, .jitter = 1ms},
             .links = links_for({major, minor}, random.fork("links"))}};
    EXPECT_TRUE(grow_up(sim, 100));
    sim.split({major, minor});
    sim.load(2, only_minority_has_load ? minor : all);
    sim.run(20s);
    sim.load(0, {});
    // Some blocks below the tip all of the majority agree; what was sealed last may still lose against its own kind.
    auto agreed = sim.archive().block(sim.node(major.front()).tip_hash());
    for (int i = 0; i < 3; ++i) agreed = sim.archive().block(agreed->header.previous);
    const auto majority_block = hash_of(agreed->header);
    const auto height = agreed->header.height;
    sim.heal();
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1 && sim.open_orders() == 0; }, 60s))
        << sim.distinct_tips() << " tips, " << sim.open_orders() << " orders open, seed " << seed;
    EXPECT_EQ(testing::first_fault(sim), "");
    auto at = sim.archive().block(sim.node(0).tip_hash());
    while (at && at->header.height > height) at = sim.archive().block(at->header.previous);
    return at && hash_of(at->header) == majority_block;
}

TEST(EnduranceSim, FiftyOneOfAHundredWinOverFortyNine) {
    // A hundred in the long run; the rule decides, not luck, so two show a fault as well: one where finality decides,
    // one where weight does.
    const std::uint64_t seeds = is_long_run() ? 100 : 2;
    std::size_t won = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) won += majority_wins(seed, seed % 4 >= 2) ? 1 : 0;
    EXPECT_GE(won * 100, seeds * 99);
}

TEST(EnduranceSim, JustUnderAThirdLiesAndNothingFinalIsUndone) {
    for (std::size_t lie = 0; lie < kLies; ++lie) {
        Sim sim{{.seed = 100 + lie,
                 .machines = 10,
                 .spec = R"({"trust":"byzantine"})",
                 .link = {.delay = 2ms, .jitter = 2ms}}};
        ASSERT_TRUE(grow_up(sim, 10));
        for (std::size_t liar = 7; liar < 10; ++liar) sim.corrupt(liar, make_liar(static_cast<Lie>(lie), liar));
        sim.load(5, from_to(0, 7));
        for (int i = 0; i < 20; ++i) {
            for (std::size_t liar = 7; liar < 10; ++liar) sim.let_lie(liar);
            sim.run(1s);
        }
        sim.load(0, {});
        EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0 && sim.distinct_tips() == 1; }, 60s))
            << "lie " << lie << ": " << sim.open_orders() << " open, " << sim.distinct_tips() << " tips";
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(EnduranceSim, TwoCutForAnHourVoteAgainAtOnce) {
    Sim sim{{.seed = 31, .machines = 2}};
    ASSERT_TRUE(grow_up(sim, 2));
    sim.split({{0}, {1}});
    sim.load(1, {0});
    sim.run(3'600s);
    sim.load(0, {});
    for (int i = 0; i < 5; ++i) {
        sim.submit_new(1, "quiet" + std::to_string(i));
        sim.run(1s);
    }
    const auto before = sim.lowest_final();
    sim.heal();
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1; }, 6s)) << sim.distinct_tips();
    EXPECT_TRUE(sim.run_until([&] { return sim.lowest_final() > before + 100; }, 6s)) << sim.lowest_final().number();
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 20s)) << sim.open_orders();
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, ThreeHundredInThreeZonesWithHalfOfEachDead) {
    Sim sim{{.seed = 41, .machines = 300, .link = {.delay = 1ms, .jitter = 2ms}, .neighbours = 4}};
    for (std::size_t left = 0; left < 300; ++left)
        for (const std::size_t right : sim.neighbours(left))
            if (left % 3 != right % 3) sim.set_link(left, right, {.delay = 20ms, .jitter = 5ms});
    ASSERT_TRUE(grow_up(sim, 300));
    sim.run(5s);
    for (std::size_t machine = 0; machine < 150; ++machine) sim.crash(machine, 1'000);
    sim.run(10s);
    const auto final_before = sim.lowest_final();
    const std::size_t mine = sim.submit_new(200, "half");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[mine].stage == core::Stage::Included; }, 10s));
    sim.run(10s);
    EXPECT_EQ(sim.orders()[mine].stage, core::Stage::Included) << "150 of 300 are no quorum";
    EXPECT_EQ(sim.lowest_final(), final_before);
    sim.start(0);
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[mine].stage == core::Stage::Final; }, 30s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, AllOffForAnHourAndOneBootsEarlyEndsNoLease) {
    Sim sim{{.seed = 51, .machines = 5}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.run(10s);
    for (std::size_t machine = 0; machine < 5; ++machine) sim.crash(machine, 1'000);
    sim.run(3'600s);
    sim.start(2);
    for (int i = 0; i < 20; ++i) {
        sim.run(500ms);
        EXPECT_EQ(ended_leases(sim, 2), 0u) << "after " << i * 500 << " ms";
    }
    for (const std::size_t machine : {0u, 1u, 3u, 4u}) sim.start(machine);
    for (int i = 0; i < 60; ++i) {
        sim.run(500ms);
        EXPECT_EQ(ended_leases(sim, 2), 0u) << "after " << 10'000 + i * 500 << " ms";
    }
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1; }, 6s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, HundredsIdleForTenMinutesKeepTheirLeases) {
    // 300 of them cost nine times as much as 100.
    const std::size_t machines = is_long_run() ? 300 : 100;
    Sim sim{{.seed = 61, .machines = machines, .link = {.delay = 2ms, .jitter = 3ms}, .neighbours = 4}};
    ASSERT_TRUE(grow_up(sim, machines));
    for (int minute = 0; minute < 10; ++minute) {
        const auto before = sim.lowest_final();
        sim.run(60s);
        EXPECT_GT(sim.lowest_final(), before) << "minute " << minute;
        EXPECT_EQ(ended_leases(sim, 0), 0u) << "minute " << minute;
    }
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, FastBlocksOverSlowLinksAreFinalWithinASecond) {
    Sim sim{{.seed = 71, .machines = 5, .spec = R"({"minInterval":"20ms"})", .link = {.delay = 80ms}}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.load(50, from_to(0, 5));
    sim.run(20s);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 10s));
    std::vector<microseconds> waits;
    for (const Order& order : sim.orders())
        if (order.stage == core::Stage::Final) waits.push_back(*order.finished - order.asked);
    std::sort(waits.begin(), waits.end());
    ASSERT_GT(waits.size(), 500u);
    EXPECT_LE(waits[waits.size() / 2], microseconds{1s}) << "half of them";
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, ANamespaceRelabelledAllTheTimeRefusesNobody) {
    Sim sim{{.seed = 81, .machines = 4}};
    ASSERT_TRUE(grow_up(sim, 4));
    std::function<void(int)> relabel = [&](int left) {
        if (left == 0) return;
        sim.submit(left % 4u, relabel_namespace(sim.node(left % 4u).state(), std::to_string(left)));
        sim.after(50ms, [&relabel, left] { relabel(left - 1); });
    };
    std::function<void(int)> create = [&](int left) {
        if (left == 0) return;
        sim.submit_new(left % 4u, "map" + std::to_string(left));
        sim.after(1ms, [&create, left] { create(left - 1); });
    };
    relabel(60);
    create(3'000);
    sim.run(3s);
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0; }, 10s)) << sim.open_orders();
    std::size_t refused_creations = 0;
    for (const Order& order : sim.orders()) refused_creations += order.is_new && order.refused ? 1 : 0;
    EXPECT_EQ(refused_creations, 0u);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, VotesThatGoRoundByNameReachEverybodyOnFastLinks) {
    core::Config config;
    config.push_votes_max = 4;
    Sim sim{{.seed = 85, .machines = 20, .link = {.delay = 1ms, .jitter = 1ms}, .neighbours = 3, .config = config}};
    ASSERT_TRUE(grow_up(sim, 20));
    sim.load(5, from_to(0, 20));
    sim.run(20s);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0 && sim.distinct_tips() == 1; }, 10s))
        << sim.open_orders();
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, VotesThatGoAlongTreesReachEverybodyThoughMachinesDieAndMessagesAreLost) {
    core::Config config;
    config.tree_from = 2;
    Sim sim{{.seed = 86,
             .machines = 40,
             .link = {.delay = 1ms, .jitter = 1ms, .loss = 50},
             .neighbours = 4,
             .config = config}};
    ASSERT_TRUE(grow_up(sim, 40));
    // Whoever sealed last is where all votes meet.
    for (std::size_t dead = 1; dead < 40; dead += 8) {
        sim.crash(dead, 1'000);
        const std::size_t order = sim.submit_new(0, "map" + std::to_string(dead));
        EXPECT_TRUE(sim.run_until([&] { return !sim.orders()[order].open; }, 10s)) << dead;
    }
    sim.set_links({.delay = 1ms, .jitter = 1ms});
    for (std::size_t dead = 1; dead < 40; dead += 8) sim.start(dead);
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0 && sim.distinct_tips() == 1; }, 20s))
        << sim.open_orders();
    // Nobody's votes are left behind: an idle hour later all are voters, and in good standing.
    sim.run(60s);
    EXPECT_EQ(voters_at(sim, 0), 40u);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, WhoStartsFromASnapshotDecidesTheSame) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Sim sim{{.seed = seed, .machines = 4}};
        ASSERT_TRUE(grow_up(sim, 4));
        sim.load(10, {0, 1, 2});
        sim.run(microseconds{sim.random().between(1'000'000, 20'000'000)});
        sim.crash(3, 1'000);
        sim.run(5s);
        sim.install_snapshot(3, 0);
        sim.start(3);
        sim.load(10, {0, 1, 2, 3});
        EXPECT_TRUE(sim.run_until([&] { return !sim.node(3).has(core::Condition::VotesLost); }, 20s));
        // With only two others it is needed for every quorum.
        sim.crash(2, 1'000);
        sim.run(10s);
        sim.load(0, {});
        EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0 && sim.distinct_tips() == 1; }, 30s))
            << sim.open_orders() << " open, " << sim.distinct_tips() << " tips";
        EXPECT_EQ(sim.node(3).state().view().root(), sim.node(0).state().view().root());
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(EnduranceSim, OneClockAlmostTwoSecondsFastDisturbsNobody) {
    Sim sim{{.seed = 91, .machines = 4}};
    ASSERT_TRUE(grow_up(sim, 4));
    sim.set_clock(3, 1'900ms);
    sim.load(10, {0, 1, 2, 3});
    sim.run(20s);
    EXPECT_TRUE(sim.node(3).has(core::Condition::ClockOff));
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return sim.open_orders() == 0 && sim.distinct_tips() == 1; }, 20s));
    sim.set_clock(3, 0ms);
    EXPECT_TRUE(sim.run_until([&] { return !sim.node(3).has(core::Condition::ClockOff); }, 5s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(EnduranceSim, WhoBootsIn2036NeitherSealsNorVotesUntilItsClockIsRight) {
    constexpr auto kTenYears = std::chrono::hours{24 * 3'652};
    Sim sim{{.seed = 92, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.crash(2, 1'000);
    sim.set_clock(2, kTenYears);
    sim.split({{0, 1}, {2}});
    sim.start(2);
    sim.run(5s);
    EXPECT_TRUE(sim.node(2).has(core::Condition::ClockOff)) << "nobody to ask, and ten years since the last block";
    const auto tip = sim.node(2).tip_hash();
    sim.run(30s);
    EXPECT_EQ(sim.node(2).tip_hash(), tip);
    sim.heal();
    sim.load(10, {0, 1});
    sim.run(10s);
    EXPECT_TRUE(sim.node(2).has(core::Condition::ClockOff));
    sim.set_clock(2, 0ms);
    EXPECT_TRUE(sim.run_until([&] { return !sim.node(2).has(core::Condition::ClockOff); }, 5s));
    // It is needed again, and can vote.
    sim.crash(1, 1'000);
    sim.load(0, {});
    const std::size_t mine = sim.submit_new(2, "now");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[mine].stage == core::Stage::Final; }, 20s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

}  // namespace
}  // namespace rhizome::sim
