// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "consensus/evidence.h"
#include "consensus/vote_book.h"
#include "sim/liars.h"
#include "sim/sim.h"
#include "sim/testing.h"

namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;
using testing::grow_up;
using testing::voters_at;

std::size_t order(Sim& sim, std::size_t machine, const std::string& name) {
    return sim.submit(machine, create_map(sim.node(machine).state(), name, "by " + name_of(machine), sim.now()));
}

bool all_closed(Sim& sim) { return sim.open_orders() == 0; }

TEST(ScenarioSim, MachinesAgreeFinaliseAndAnswerEveryOrder) {
    Sim sim{{.seed = 7, .machines = 4}};
    sim.load(10, {0, 1, 2, 3});
    sim.run(30s);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim) && sim.distinct_tips() == 1; }, 10s));
    EXPECT_EQ(voters_at(sim, 0), 4u);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, TheSameSeedGivesTheSameTrace) {
    const auto trace = [](std::uint64_t seed) {
        Sim sim{{.seed = seed, .machines = 5, .link = {.delay = 2ms, .jitter = 3ms, .loss = 20}}};
        sim.load(20, {0, 1, 2, 3, 4});
        sim.run(10s);
        return sim.trace();
    };
    EXPECT_EQ(trace(3), trace(3));
    EXPECT_NE(trace(3), trace(4));
}

TEST(ScenarioSim, APowerFailureTakesNothingThatWasAnsweredAsIncluded) {
    Sim sim{{.seed = 1, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.crash(1);
    sim.crash(2);
    sim.clog(0, 200ms, 200ms);
    const std::size_t mine = order(sim, 0, "kept");
    const auto height = sim.node(0).tip().height;
    ASSERT_TRUE(sim.run_until([&] { return sim.node(0).tip().height > height; }, 5s));
    EXPECT_EQ(sim.orders()[mine].stage, core::Stage::Accepted) << "its block is on no disk yet";
    ASSERT_TRUE(sim.run_until([&] { return sim.orders()[mine].stage == core::Stage::Included; }, 1s));
    const auto tip = sim.node(0).tip_hash();
    sim.crash(0);
    sim.start(0);
    EXPECT_EQ(sim.node(0).tip_hash(), tip);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, ADiskThatFillsAtOnceTakesNothingServesAndCatchesUp) {
    Sim sim{{.seed = 21, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.load(20, {0, 1});
    sim.run(5s);
    sim.set_disk_full(2, true);
    const std::size_t mine = order(sim, 2, "refused");
    ASSERT_TRUE(sim.orders()[mine].refused) << "somebody's order finds out at once";
    EXPECT_EQ(sim.orders()[mine].refused->code, ledger::RejectCode::TooManyPending);
    const auto served = sim.node(2).tip().height;
    const auto final_before = sim.node(0).final_height();
    sim.run(120s);
    EXPECT_EQ(sim.node(2).tip().height, served) << "it follows nobody";
    EXPECT_GT(sim.node(0).final_height(), final_before + 100) << "the others go on";
    EXPECT_LE(sim.writes_waiting(2), 40u) << "what one step handed over, and some marks";
    // Also over a restart.
    sim.crash(2);
    sim.start(2);
    sim.run(20s);
    EXPECT_TRUE(sim.node(2).has(core::Condition::DiskFull));
    EXPECT_LE(sim.node(2).tip().height, served);
    sim.set_disk_full(2, false);
    EXPECT_TRUE(sim.run_until([&] { return sim.node(2).tip().height + 20 > sim.node(0).tip().height; }, 10s))
        << sim.node(2).tip().height.number() << " of " << sim.node(0).tip().height.number();
    sim.load(0, {});
    // It votes: without the third nothing becomes final.
    sim.crash(1);
    const std::size_t after = order(sim, 2, "after");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[after].stage == core::Stage::Final; }, 20s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, AllDisksFillAtOnceAndNothingThatWasToldIsLost) {
    for (const bool power_fails : {false, true}) {
        Sim sim{{.seed = 22, .machines = 3}};
        ASSERT_TRUE(grow_up(sim, 3));
        sim.load(50, {0, 1, 2});
        sim.run(3s);
        for (std::size_t who = 0; who < 3; ++who) sim.set_disk_full(who, true);
        sim.run(6s);
        sim.load(0, {});
        for (std::size_t who = 0; who < 3; ++who) {
            EXPECT_TRUE(sim.node(who).has(core::Condition::DiskFull));
            if (!power_fails) continue;
            sim.crash(who);
            sim.start(who);
        }
        sim.run(5s);
        for (std::size_t who = 0; who < 3; ++who) sim.set_disk_full(who, false);
        EXPECT_TRUE(sim.run_until([&] { return all_closed(sim) && sim.distinct_tips() == 1; }, 30s))
            << sim.open_orders() << " orders open, " << sim.distinct_tips() << " tips";
        for (const Order& one : sim.orders())
            EXPECT_TRUE(!one.is_new || !one.included || one.stage == core::Stage::Final);
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(ScenarioSim, ALoneVotersDiskFillsWhileItSeals) {
    Sim sim{{.seed = 23, .machines = 1}};
    sim.run(10s);
    sim.set_disk_full(0, true);
    const auto final_before = sim.node(0).final_height();
    sim.run(30s);
    EXPECT_LE(sim.node(0).final_height(), final_before) << "what is on no disk is not final";
    sim.crash(0);
    sim.start(0);
    sim.run(30s);
    sim.set_disk_full(0, false);
    const std::size_t after = order(sim, 0, "after");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[after].stage == core::Stage::Final; }, 10s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, ALoneMachineKeepsAccepting) {
    Sim sim{{.seed = 1, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.crash(1);
    sim.crash(2);
    const std::size_t mine = order(sim, 0, "alone");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[mine].stage == core::Stage::Included; }, 5s));
    sim.run(20s);
    EXPECT_NE(sim.orders()[mine].stage, core::Stage::Final) << "one of three finalises nothing";
    sim.start(1);
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim); }, 20s));
    EXPECT_EQ(sim.orders()[mine].stage, core::Stage::Final);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, BothSidesOfACutTakeOrdersAndTheMajoritysChainSurvives) {
    Sim sim{{.seed = 5, .machines = 5}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.split({{0, 1}, {2, 3, 4}});
    sim.run(2s);
    const std::size_t minor = order(sim, 0, "minor");
    const std::size_t major = order(sim, 3, "major");
    const std::size_t both_minor = order(sim, 1, "both");
    const std::size_t both_major = order(sim, 4, "both");
    sim.run(20s);
    EXPECT_EQ(sim.orders()[minor].stage, core::Stage::Included);
    EXPECT_EQ(sim.orders()[major].stage, core::Stage::Final);
    EXPECT_EQ(sim.orders()[both_minor].stage, core::Stage::Included);
    const auto survivor = sim.node(3).final_block();
    sim.heal();
    // One tip within a heartbeat and a second.
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1; }, 6s)) << sim.distinct_tips();
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim); }, 20s));
    EXPECT_EQ(sim.orders()[minor].stage, core::Stage::Final) << "it is taken in again";
    EXPECT_EQ(sim.orders()[both_major].stage, core::Stage::Final);
    ASSERT_EQ(sim.orders()[both_minor].stage, core::Stage::Refused);
    EXPECT_EQ(sim.orders()[both_minor].refused->code, ledger::RejectCode::AlreadyExists);
    EXPECT_NE(sim.archive().block(survivor), nullptr);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, AWriteThatAHealTakesBackIsToldByItsMachineWhoeverStillWaits) {
    Sim sim{{.seed = 41, .machines = 5}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.let_leave(true);
    sim.split({{0, 1}, {2, 3, 4}});
    sim.run(2s);
    // Pairs that conflict, and on the smaller side some that nothing stands against.
    constexpr std::size_t kPairs = 20;
    std::vector<std::size_t> losers;
    std::vector<std::size_t> others;
    for (std::size_t i = 0; i < kPairs; ++i) {
        losers.push_back(order(sim, i % 2, fmt::format("both{}", i)));
        others.push_back(order(sim, 2 + i % 3, fmt::format("both{}", i)));
        others.push_back(order(sim, i % 2, fmt::format("mine{}", i)));
        sim.run(200ms);
    }
    sim.run(5s);
    for (const std::size_t one : losers) EXPECT_TRUE(sim.orders()[one].left) << one;
    // Each machine knows whether a quorum is there.
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_EQ(sim.node(i).reach().reachable, i < 2 ? 2u : 3u) << i;
        EXPECT_EQ(sim.node(i).reach().is_quorum, i >= 2) << i;
    }
    // A power failure forgets none of it.
    sim.crash(1, 0);
    sim.start(1);
    sim.run(2s);
    sim.heal();
    const auto settled = [&] {
        for (std::size_t i = 0; i < sim.size(); ++i)
            if (sim.node(i).usage().accepted > 0) return false;
        return sim.distinct_tips() == 1;
    };
    EXPECT_TRUE(sim.run_until(settled, 30s));
    for (const std::size_t one : losers) {
        EXPECT_TRUE(sim.orders()[one].told_lost) << one;
        ASSERT_TRUE(sim.orders()[one].refused) << one;
        EXPECT_EQ(sim.orders()[one].refused->code, ledger::RejectCode::AlreadyExists);
    }
    for (const std::size_t one : others) EXPECT_FALSE(sim.orders()[one].told_lost) << one;
    sim.check_left(sim.node(0).tip_hash(), false);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, AMachineThatWasAwayTakesOrdersOnceItHasComparedItsTip) {
    Sim sim{{.seed = 43, .machines = 3, .link = {.delay = 50ms}}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.crash(2);
    order(sim, 0, "meanwhile");
    sim.run(20s);
    sim.start(2);
    EXPECT_TRUE(sim.node(2).has(core::Condition::Starting));
    const std::size_t stale = order(sim, 2, "meanwhile");
    const std::size_t fresh = order(sim, 2, "new");
    ASSERT_TRUE(sim.run_until([&] { return !sim.node(2).has(core::Condition::Starting); }, 3s));
    EXPECT_GE(sim.node(2).tip().height + 1, sim.node(0).tip().height);
    EXPECT_TRUE(sim.orders()[stale].refused_at_once) << "nobody is told that it is in a block";
    EXPECT_TRUE(sim.orders()[fresh].was_accepted);
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[fresh].stage == core::Stage::Final; }, 10s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, AMachineThatStartsAloneTakesOrdersAfterAHeartbeatAndAClusterOfOneAtOnce) {
    Sim sim{{.seed = 44, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    for (std::size_t i = 0; i < 3; ++i) sim.crash(i);
    sim.run(10s);
    sim.start(1);
    const std::size_t alone = order(sim, 1, "alone");
    sim.run(4'900ms);
    EXPECT_FALSE(sim.orders()[alone].was_accepted);
    sim.run(200ms);
    EXPECT_TRUE(sim.orders()[alone].was_accepted);
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[alone].included.has_value(); }, 30s));
    EXPECT_EQ(testing::first_fault(sim), "");

    Sim one{{.seed = 45, .machines = 1}};
    EXPECT_FALSE(one.node(0).has(core::Condition::Starting));
}

TEST(ScenarioSim, AMachineTakesNoMoreThanItCanKeepItsWordAbout) {
    Sim sim{{.seed = 42, .machines = 3, .config = {.accepted_max = 8}}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.let_leave(true);
    sim.split({{0}, {1, 2}});
    std::size_t taken = 0;
    for (std::size_t i = 0; i < 12; ++i) {
        const std::size_t one = order(sim, 0, fmt::format("alone{}", i));
        sim.run(500ms);
        taken += sim.orders()[one].refused_at_once ? 0 : 1;
        if (!sim.orders()[one].refused_at_once) continue;
        EXPECT_EQ(sim.orders()[one].refused->code, ledger::RejectCode::TooManyPending);
    }
    EXPECT_EQ(taken, 8u);
    EXPECT_EQ(sim.node(0).usage().accepted, 8u);
    sim.heal();
    EXPECT_TRUE(sim.run_until([&] { return sim.node(0).usage().accepted == 0; }, 20s));
    const std::size_t again = order(sim, 0, "again");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[again].included.has_value(); }, 5s));
    sim.check_left(sim.node(0).tip_hash(), false);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, OneThatMadeThousandsOfBlocksAloneStartsAgain) {
    // More blocks above the final one than a start looks back over otherwise.
    Sim sim{{.seed = 77, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.split({{0}, {1, 2}});
    const auto final_before = sim.node(0).final_height();
    sim.load(150, {0});
    sim.run(20s);
    sim.load(0, {});
    const auto alone = sim.archive().block(sim.node(0).tip_hash())->header.height;
    ASSERT_GT(alone.number(), final_before.number() + 1'024) << "too few blocks to show anything";
    sim.crash(0, 1'000);
    sim.start(0);
    sim.run(2s);
    EXPECT_GE(sim.archive().block(sim.node(0).tip_hash())->header.height, alone);
    sim.heal();
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1 && sim.open_orders() == 0; }, 60s))
        << sim.distinct_tips() << " tips, " << sim.open_orders() << " orders open";
    EXPECT_TRUE(sim.checks().clean()) << sim.checks().faults().front();
}

TEST(ScenarioSim, ThreeWaysApartNobodyFinalisesAndAllMerge) {
    Sim sim{{.seed = 9, .machines = 6}};
    ASSERT_TRUE(grow_up(sim, 6));
    sim.split({{0, 1}, {2, 3}, {4, 5}});
    sim.run(1s);
    const auto before = sim.checks().highest_final();
    for (const std::size_t machine : {0u, 2u, 4u}) order(sim, machine, "from" + std::to_string(machine));
    sim.run(15s);
    EXPECT_LE(sim.checks().highest_final(), before + 1) << "what was voted on just before the cut";
    sim.heal();
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1 && all_closed(sim); }, 20s));
    for (const Order& one : sim.orders()) EXPECT_EQ(one.stage, core::Stage::Final);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, TwoEqualSidesWithoutOrdersAgreeAfterTheHeal) {
    // When the heal falls between two heartbeats, and how far these are apart, is different in each.
    for (unsigned i = 0; i < 60; ++i) {
        Sim sim{{.seed = 1'000 + i, .machines = 4, .link = {.delay = 20ms}}};
        ASSERT_TRUE(grow_up(sim, 4));
        sim.split({{0, 1}, {2, 3}});
        sim.run(20s + i * 171ms);
        ASSERT_EQ(sim.distinct_tips(), 2u);
        sim.heal();
        EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1; }, 16s)) << "seed " << 1'000 + i;
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

/// Idle cuts of 5 to 120 s between a larger and a smaller side: how long, how many machines and how far apart they are
/// is different in each round. All are ready within two heartbeats of being linked again, and stay so.
void heal_idle_cuts(std::size_t rounds) {
    constexpr milliseconds kShortest{5'000};
    constexpr milliseconds kStep{2'347};  // 5 to 120 s in 50 rounds; no multiple of a slot
    for (std::size_t i = 0; i < rounds; ++i) {
        const std::size_t machines = 3 + i % 5;
        const std::size_t few = 1 + i % ((machines - 1) / 2);
        Sim sim{{.seed = 9'000 + i, .machines = machines, .link = {.delay = i % 2 == 0 ? 1ms : 20ms}}};
        ASSERT_TRUE(grow_up(sim, machines));
        std::vector<std::vector<std::size_t>> sides(2);
        for (std::size_t who = 0; who < machines; ++who) sides[who < few ? 0 : 1].push_back(who);
        sim.split(sides);
        const auto length = kShortest + kStep * static_cast<std::int64_t>(i);
        sim.run(length);
        sim.heal();
        EXPECT_EQ(testing::gone_after_heal(sim), "")
            << "round " << i << ": " << few << " of " << machines << " were cut off for " << length.count() << " ms";
        for (int more = 0; more < 30; ++more) {
            sim.run(1s);
            for (std::size_t at = 0; at < machines; ++at)
                EXPECT_TRUE(sim.ended_leases(at).empty()) << "round " << i << ": somebody is gone again at " << at;
        }
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(ScenarioSim, AfterAnIdleCutAllAreReadyWithinTwoHeartbeats) { heal_idle_cuts(50); }

TEST(ScenarioSim, OneThatRemovesTheTwoItWasCutFromDoesNotWin) {
    Sim sim{{.seed = 2, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.split({{0}, {1, 2}});
    sim.run(1s);
    sim.submit(0, remove_machine(sim.node(0).state(), 1));
    sim.submit(0, remove_machine(sim.node(0).state(), 2));
    sim.run(30s);
    EXPECT_EQ(voters_at(sim, 0), 3u) << "it cannot vote the others out";
    sim.heal();
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1; }, 6s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, PowerLostBeforeTheSyncNeverMakesAVoteTwice) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Sim sim{{.seed = seed, .machines = 3, .sync_min = 5ms, .sync_max = 120ms}};
        ASSERT_TRUE(grow_up(sim, 3));
        sim.load(20, {0, 1, 2});
        for (int i = 0; i < 20; ++i) {
            sim.run(microseconds{sim.random().between(100'000, 900'000)});
            sim.crash(2, sim.random().below(1'001));
            sim.start(2);
        }
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(ScenarioSim, ARestoredBackupVotesOnlyWhenItIsSafe) {
    Sim sim{{.seed = 4, .machines = 4}};
    ASSERT_TRUE(grow_up(sim, 4));
    sim.back_up(3);
    sim.load(5, {0, 1, 2});
    sim.run(10s);
    sim.crash(3);
    ASSERT_TRUE(sim.restore_backup(3));
    sim.start(3);
    EXPECT_TRUE(sim.node(3).has(core::Condition::VotesLost));
    EXPECT_TRUE(sim.run_until([&] { return !sim.node(3).has(core::Condition::VotesLost); }, 10s));
    sim.run(5s);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, ANewDiskThatWaitedAloneSealsOnNothingItMayHaveSealedOnBefore) {
    Sim sim{{.seed = 31, .machines = 4}};
    ASSERT_TRUE(grow_up(sim, 4));
    sim.load(30, {0, 1, 2, 3});
    sim.run(10s);
    sim.crash(3);
    sim.replace_disk(3);
    // Longer than a lease it hears nobody; then it follows hundreds of blocks, its own old ones among them.
    sim.split({{0, 1, 2}, {3}});
    sim.start(3);
    sim.run(30s);
    sim.heal();
    sim.run(15s);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return sim.distinct_tips() == 1 && sim.open_orders() == 0; }, 30s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, OfTwoOneMissesATurnAndTheOtherDies) {
    Sim sim{{.seed = 6, .machines = 2}};
    ASSERT_TRUE(grow_up(sim, 2));
    sim.pause(0, 8s);
    order(sim, 1, "missed");
    sim.run(9s);
    sim.crash(1);
    const std::size_t mine = order(sim, 0, "alone");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[mine].stage == core::Stage::Included; }, 4s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, UnstartedMachinesDoNotStopFinality) {
    Sim sim{{.seed = 3, .machines = 6, .running = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    const std::size_t mine = order(sim, 1, "here");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[mine].stage == core::Stage::Final; }, 10s));
    EXPECT_EQ(voters_at(sim, 0), 3u);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, ARelayThatStripsAttestationsIsRefusedAndNobodyIsAccused) {
    Sim sim{{.seed = 8, .machines = 4}};
    ASSERT_TRUE(grow_up(sim, 4));
    sim.corrupt(3, make_liar(Lie::WrongSeal, 1));
    sim.load(5, {0, 1, 2});
    sim.run(20s);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim) && sim.distinct_tips() == 1; }, 20s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, OneOfTwoLostForGoodIsRecoveredFrom) {
    Sim sim{{.seed = 12, .machines = 2}};
    ASSERT_TRUE(grow_up(sim, 2));
    sim.crash(1);
    sim.run(10s);
    const auto stuck = sim.node(0).final_height();
    sim.submit(0, recover(sim.node(0).state(), 1, {0}));
    EXPECT_TRUE(sim.run_until([&] { return sim.node(0).final_height().number() > stuck.number() + 1; }, 30s));
    EXPECT_EQ(sim.node(0).final_generation(), 1u);
    EXPECT_EQ(testing::first_fault(sim), "");
}

/// Proof of work: 100 nonces a second each, so that real nonces are found in no time.
constexpr const char* kWork = R"({"consensus":"work","work":{"hashRate":400,"blockTime":"1s","period":16}})";

TEST(ScenarioSim, MinersAgreeFinaliseAndAnswerEveryOrder) {
    Sim sim{{.seed = 31, .machines = 4, .spec = kWork}};
    ASSERT_TRUE(grow_up(sim, 4));
    sim.load(5, {0, 1, 2, 3});
    const auto before = sim.node(0).tip().height;
    sim.run(60s);
    const auto made = sim.node(0).tip().height - before;
    EXPECT_GT(made, 30u) << "one block a second is asked for";
    EXPECT_LT(made, 120u);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim); }, 30s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, MinersCutApartGoOnAndMostWorkWins) {
    Sim sim{{.seed = 32, .machines = 5, .spec = kWork}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.split({{0, 1}, {2, 3, 4}});
    sim.load(5, {0, 1, 2, 3, 4});
    sim.run(30s);
    EXPECT_GE(sim.distinct_tips(), 2u);
    const auto of_the_three = sim.node(2).final_block();
    sim.heal();
    sim.load(0, {});
    // Blocks go on all the time, so tips are never the same for long.
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim); }, 60s));
    EXPECT_TRUE(sim.run_until([&] { return sim.node(0).final_block() == sim.node(2).final_block(); }, 10s));
    EXPECT_NE(sim.node(0).final_block(), of_the_three);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, DifficultyFollowsTheMachinesThatAreThere) {
    Sim sim{{.seed = 33, .machines = 4, .spec = kWork}};
    ASSERT_TRUE(grow_up(sim, 4));
    for (std::size_t i = 0; i < 4; ++i) sim.set_hash_rate(i, 1'600);
    // Two periods of 16 blocks at least, then as many blocks a second as before.
    sim.run(60s);
    const auto before = sim.node(0).tip().height;
    sim.run(60s);
    const auto made = sim.node(0).tip().height - before;
    EXPECT_GT(made, 30u);
    EXPECT_LT(made, 120u);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, AMinerThatLostItsPowerNeverSealsTwiceOnOneBlock) {
    Sim sim{{.seed = 34, .machines = 3, .spec = kWork}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.load(10, {0, 1, 2});
    for (int i = 0; i < 30; ++i) {
        sim.crash_when_it_speaks(static_cast<std::size_t>(i) % 3, 100ms);
        sim.run(1s);
    }
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim); }, 60s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, AProposerKilledEveryFifthOfASecondStopsNobody) {
    Sim sim{{.seed = 11, .machines = 5}};
    ASSERT_TRUE(grow_up(sim, 5));
    sim.load(10, {0, 1, 2, 3, 4});
    for (int i = 0; i < 40; ++i) {
        sim.run(200ms);
        const std::size_t victim = sim.random().below(5);
        sim.crash(victim, 500);
        sim.run(50ms);
        sim.start(victim);
    }
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim) && sim.distinct_tips() == 1; }, 30s)) << sim.open_orders();
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ScenarioSim, EquivocatorsAreFoundAndNothingFinalIsUndone) {
    Sim sim{{.seed = 21, .machines = 7, .spec = R"({"trust":"byzantine"})"}};
    ASSERT_TRUE(grow_up(sim, 7));
    sim.corrupt(5, make_liar(Lie::Equivocate, 1));
    sim.corrupt(6, make_liar(Lie::Equivocate, 2));
    sim.load(10, {0, 1, 2, 3, 4});
    sim.run(30s);
    sim.load(0, {});
    EXPECT_TRUE(sim.run_until([&] { return all_closed(sim) && sim.distinct_tips() == 1; }, 30s)) << sim.open_orders();
    const auto& state = sim.node(0).state();
    EXPECT_TRUE(consensus::is_accused(sim.key(5), state.view()) || consensus::is_accused(sim.key(6), state.view()));
    EXPECT_EQ(testing::first_fault(sim), "");
}

/// A clone of one machine on either side of a cut: each side has a quorum.
TEST(ScenarioSim, WhereACloneMadeTwoHistoriesFinalEverybodySaysSo) {
    constexpr std::size_t kClone = 5;
    for (std::uint64_t round = 0; round < 20; ++round) {
        // The founder, two more and so on; the last one is never started with its own keys.
        const std::size_t machines = round % 2 == 0 ? 3 : 5;
        Sim sim{{.seed = 700 + round, .machines = kClone + 1, .running = machines, .link = {.delay = 5ms}}};
        ASSERT_TRUE(grow_up(sim, machines));
        sim.crash(machines - 1);
        sim.clone(kClone, machines - 1);
        std::vector<std::vector<std::size_t>> sides(2);
        for (std::size_t i = 0; i + 1 < machines; ++i) sides[i < machines / 2 ? 0 : 1].push_back(i);
        sides[0].push_back(machines - 1);
        sides[1].push_back(kClone);
        sim.split(sides);
        sim.start(machines - 1);
        sim.start(kClone);
        if (round % 4 < 2) sim.load(5, {sides[0].front(), sides[1].front()});
        sim.run(5s + round * 1'117ms);
        sim.load(0, {});
        const auto left = sim.node(sides[0].front()).final_block();
        const auto right = sim.node(sides[1].front()).final_block();
        ASSERT_NE(left, right) << round;
        sim.heal();
        const auto all_say_so = [&] {
            for (std::size_t i = 0; i < sim.size(); ++i)
                if (sim.is_up(i) && !sim.node(i).has(core::Condition::ConflictingFinals)) return false;
            return true;
        };
        EXPECT_TRUE(sim.run_until(all_say_so, 15s)) << "round " << round;
        std::vector<ledger::BlockHash> tips;
        for (const auto& side : sides)
            for (const std::size_t i : side) tips.push_back(sim.node(i).tip_hash());
        sim.run(20s);
        for (const auto& side : sides)
            for (const std::size_t i : side)
                EXPECT_NE(std::find(tips.begin(), tips.end(), sim.node(i).tip_hash()), tips.end())
                    << "somebody went on sealing in round " << round;
    }
}

TEST(ScenarioSim, AMemberThatClaimsFalseFinalsStopsNobody) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Sim sim{{.seed = 40 + seed, .machines = 4}};
        ASSERT_TRUE(grow_up(sim, 4));
        sim.corrupt(3, make_liar(Lie::FalseFinal, seed));
        std::uint64_t questions = 0;
        sim.overhear = [&](std::size_t, std::size_t to, const core::Message& message) {
            questions += to == 3 && std::holds_alternative<core::WantVotes>(message) ? 1 : 0;
        };
        sim.load(5, {0, 1, 2});
        sim.run(120s);
        EXPECT_LE(questions, 3 * (120 / 2)) << "one each in two seconds at most";
        sim.load(0, {});
        for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(sim.node(i).has(core::Condition::ConflictingFinals)) << i;
        EXPECT_TRUE(sim.run_until([&] { return all_closed(sim); }, 30s));
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(ScenarioSim, AFloodDoesNotGrowMemoryPastItsBounds) {
    Sim sim{{.seed = 22, .machines = 4}};
    ASSERT_TRUE(grow_up(sim, 4));
    sim.corrupt(3, make_liar(Lie::Flood, 1));
    for (int i = 0; i < 60; ++i) {
        sim.let_lie(3);
        sim.run(250ms);
        const auto usage = sim.node(0).usage();
        const core::Config& config = sim.setup().config;
        EXPECT_LE(usage.orphans, config.orphans_max);
        EXPECT_LE(usage.future, config.future_max);
        EXPECT_LE(usage.parked, config.parked_max);
        EXPECT_LE(usage.votes, consensus::VoteBook::kEpochsKept * 4 + 16);
        EXPECT_LE(usage.pending_bytes, config.pool.bytes_max);
    }
    const std::size_t mine = order(sim, 1, "still");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[mine].stage == core::Stage::Final; }, 10s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

}  // namespace
}  // namespace rhizome::sim
