// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "ledger/chain_records.h"
#include "sim/liars.h"
#include "sim/testing.h"

/// Clocks that are wrong, jump, and are set right.
namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;
using std::chrono::hours;
using std::chrono::seconds;
using testing::grow_up;

/// Writes something at this machine; how long it took to become final, at most `most`.
std::optional<microseconds> final_after(Sim& sim, std::size_t at, microseconds most) {
    static std::size_t number = 0;  // names only
    const Time asked = sim.now();
    const std::size_t order = sim.submit_new(at, fmt::format("clock{}", number++));
    if (!sim.run_until([&] { return sim.orders()[order].stage == core::Stage::Final; }, most)) return std::nullopt;
    return sim.now() - asked;
}

struct WrongClocks {
    const char* name;
    std::size_t machines;
    std::vector<microseconds> ahead;  ///< of the last machines
};

/// Fewer than half.
std::vector<WrongClocks> minorities() {
    const auto day = microseconds{hours{24}};
    return {
        {"one of three, 1.2 s ahead", 3, {1'200ms}},
        {"one of three, 90 s ahead", 3, {90s}},
        {"one of three, 90 s behind", 3, {-90s}},
        {"one of three, 2 h behind", 3, {-2h}},
        {"one of three, ten years ahead", 3, {3'652 * day}},
        {"one of three, ten years behind", 3, {-3'652 * day}},
        {"one of four, 2 h behind", 4, {-2h}},
        {"two of five, apart", 5, {90s, -2h}},
        {"two of five, both ahead", 5, {90s, 91s}},
        {"two of five, both behind", 5, {-1h, -1h}},
        {"three of seven", 7, {3s, -3s, 12h}},
    };
}

TEST(ClockSim, FewerThanHalfOfTheClocksStopNobodyElse) {
    for (const WrongClocks& one : minorities()) {
        Sim sim{{.seed = 501, .machines = one.machines}};
        ASSERT_TRUE(grow_up(sim, one.machines));
        const std::size_t right = one.machines - one.ahead.size();
        for (int round = 0; round < 3; ++round) {
            // Constant in the first round; then it jumps, to the other side as well.
            for (std::size_t i = 0; i < one.ahead.size(); ++i)
                sim.set_clock(right + i, round == 1 ? -one.ahead[i] / 2 : one.ahead[i]);
            sim.run(7s);
            for (std::size_t at = 0; at < right; ++at) EXPECT_TRUE(final_after(sim, at, 5s)) << one.name << " " << at;
        }
        for (std::size_t i = 0; i < one.ahead.size(); ++i) sim.set_clock(right + i, 0s);
        sim.run(7s);
        for (std::size_t at = 0; at < one.machines; ++at) {
            EXPECT_TRUE(final_after(sim, at, 5s)) << one.name << ", set right, " << at;
            EXPECT_FALSE(sim.node(at).has(core::Condition::ClockOff)) << one.name;
            EXPECT_FALSE(sim.node(at).has(core::Condition::ChainAhead)) << one.name;
        }
        EXPECT_EQ(testing::first_fault(sim), "") << one.name;
    }
}

TEST(ClockSim, WhoseClockIsBehindTakesPartByTheOthersTime) {
    Sim sim{{.seed = 502, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.set_clock(2, -2h);
    sim.run(5s);
    EXPECT_TRUE(sim.node(2).has(core::Condition::ChainAhead)) << "it is said";
    EXPECT_GT(sim.node(2).chain_ahead(), 1h);
    sim.crash(1, 1'000);
    sim.run(10s);
    EXPECT_TRUE(final_after(sim, 2, 10s)) << "it is needed for a quorum";
    // Also after a restart, when the tip is all it knows.
    sim.crash(2, 1'000);
    sim.run(60s);
    sim.start(2);
    sim.run(10s);
    EXPECT_TRUE(final_after(sim, 0, 10s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ClockSim, AMemberThatLiesAboutItsClockStopsNobody) {
    for (const std::size_t machines : {3u, 4u}) {
        Sim sim{{.seed = 503, .machines = machines, .spec = R"({"trust":"crash"})"}};
        ASSERT_TRUE(grow_up(sim, machines));
        sim.corrupt(machines - 1, make_liar(Lie::WrongClock, 7));
        for (int round = 0; round < 10; ++round) {
            sim.run(3s);
            for (std::size_t at = 0; at + 1 < machines; ++at) {
                EXPECT_TRUE(final_after(sim, at, 5s));
                EXPECT_FALSE(sim.node(at).has(core::Condition::ClockOff));
                EXPECT_FALSE(sim.node(at).has(core::Condition::ChainAhead)) << "and sets no clock";
            }
        }
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(ClockSim, OfTwoTheOneThatIsAheadWaitsAndOrdersAreTaken) {
    Sim sim{{.seed = 504, .machines = 2}};
    ASSERT_TRUE(grow_up(sim, 2));
    sim.set_clock(1, 90s);
    sim.run(7s);
    EXPECT_TRUE(sim.node(1).has(core::Condition::ClockOff));
    EXPECT_FALSE(sim.node(0).has(core::Condition::ClockOff));
    const std::size_t order = sim.submit_new(1, "pair");
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[order].included.has_value(); }, 5s));
    sim.set_clock(1, 0s);
    EXPECT_TRUE(sim.run_until([&] { return sim.orders()[order].stage == core::Stage::Final; }, 15s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

std::uint64_t lease_clock_of(const Sim& sim, std::size_t machine) {
    const state::Entry* clock = sim.node(machine).state().view().get(ledger::records::clock());
    return clock == nullptr ? 0 : ledger::records::decode_number(clock->bytes());
}

/// Chain time of all machines is ahead; they are set right within `span`. The chain goes on, slower than time does.
void goes_on_from_the_future(std::size_t machines, microseconds ahead, microseconds span, bool restart,
                             std::uint64_t load) {
    SCOPED_TRACE(fmt::format("{} machines {} ahead, set right within {}, restart {}, load {}", machines,
                             rhizome::to_text(ahead), rhizome::to_text(span), restart, load));
    Sim sim{{.seed = 505, .machines = machines}};
    sim.checks().allow_lease_leap(10s);
    for (std::size_t i = 0; i < machines; ++i) sim.set_clock(i, ahead);
    ASSERT_TRUE(grow_up(sim, machines));
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < machines; ++i) all.push_back(i);
    if (load > 0) sim.load(load, all);
    sim.run(11s);
    for (std::size_t i = 0; i < machines; ++i) {
        if (restart) sim.crash(i, 1'000);
        sim.set_clock(i, 0s);
        if (restart) sim.start(i);
        if (i + 1 < machines) sim.run(span / static_cast<std::int64_t>(machines - 1));
    }
    sim.run(3s);
    // Not standing.
    const Time begun = sim.now();
    const Time tip = sim.node(0).tip().time;
    const std::uint64_t leases = lease_clock_of(sim, 0);
    ASSERT_GT(tip, sim.now() + 10s) << "still ahead";
    for (int round = 0; round < 4; ++round)
        for (std::size_t at = 0; at < machines; ++at) {
            EXPECT_TRUE(sim.node(at).has(core::Condition::ChainAhead)) << "it is said, by " << at;
            const auto took = final_after(sim, at, 10s);
            EXPECT_TRUE(took) << at;
            sim.run(700ms);
        }
    if (load > 0) sim.run(10s);
    // Nor faster, whoever seals and however many.
    const microseconds passed = sim.now() - begun;
    EXPECT_LT(sim.node(0).tip().time - tip, passed / 2 + 5'500ms) << "the tip was at most an idle heartbeat old";
    EXPECT_LT(milliseconds{lease_clock_of(sim, 0) - leases}, passed / 2 + 5'500ms);
    sim.load(0, {});
    // Clocks catch up: then everything goes by them.
    EXPECT_TRUE(sim.run_until(
        [&] {
            for (std::size_t i = 0; i < machines; ++i)
                if (sim.node(i).has(core::Condition::ChainAhead)) return false;
            return true;
        },
        3 * ahead));
    sim.run(7s);
    for (std::size_t at = 0; at < machines; ++at) EXPECT_TRUE(final_after(sim, at, 5s));
    EXPECT_LT(sim.node(0).tip().time, sim.now() + 500ms);
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ClockSim, AChainWhoseClocksWereAheadGoesOnWhenTheyAreSetRight) {
    for (const std::size_t machines : {1u, 2u, 3u, 5u})
        for (const microseconds ahead : {microseconds{90s}, microseconds{1h}})
            for (const std::uint64_t load : {0u, 20u}) {
                if (ahead > 2min && machines == 5) continue;
                goes_on_from_the_future(machines, ahead, 0s, false, load);
            }
}

TEST(ClockSim, AlsoWhenTheyAreSetRightOneAfterTheOther) {
    for (const std::size_t machines : {2u, 3u, 4u})
        for (const microseconds span : {microseconds{2s}, microseconds{40s}})
            goes_on_from_the_future(machines, 5min, span, false, 5);
}

TEST(ClockSim, AlsoWhenTheMachinesRestartMeanwhile) {
    for (const std::size_t machines : {1u, 3u}) goes_on_from_the_future(machines, 90s, 6s, true, 5);
}

TEST(ClockSim, WhoComesBackWithARightClockFindsTheTimeThatTheOthersGoBy) {
    Sim sim{{.seed = 506, .machines = 3}};
    ASSERT_TRUE(grow_up(sim, 3));
    sim.crash(2, 1'000);
    sim.checks().allow_lease_leap(10s);
    for (const std::size_t at : {0u, 1u}) sim.set_clock(at, 10min);
    sim.load(5, {0, 1});
    sim.run(30s);
    for (const std::size_t at : {0u, 1u}) sim.set_clock(at, 0s);
    sim.run(10s);
    sim.start(2);
    EXPECT_TRUE(sim.run_until([&] { return sim.node(2).final_height() + 5 > sim.node(0).final_height(); }, 20s))
        << "it follows";
    sim.load(0, {});
    sim.crash(1, 1'000);
    sim.run(10s);
    EXPECT_TRUE(final_after(sim, 2, 10s)) << "and votes";
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(ClockSim, AStamperOfTheFuturePushesNoClock) {
    Sim sim{{.seed = 507, .machines = 4, .spec = R"({"trust":"byzantine"})"}};
    sim.checks().allow_lease_leap(10s);
    for (std::size_t i = 0; i < 4; ++i) sim.set_clock(i, 5min);
    ASSERT_TRUE(grow_up(sim, 4));
    sim.load(20, {0, 1, 2, 3});
    sim.run(5s);
    for (std::size_t i = 0; i < 4; ++i) sim.set_clock(i, 0s);
    sim.run(2s);
    const Time begun = sim.now();
    const std::uint64_t leases = lease_clock_of(sim, 0);
    // Its stamps are as far ahead as the others take, all the time.
    for (int i = 0; i < 240; ++i) {
        sim.set_clock(3, sim.node(0).chain_ahead() + 900ms);
        sim.run(250ms);
    }
    EXPECT_LT(milliseconds{lease_clock_of(sim, 0) - leases}, (sim.now() - begun) / 2 + 2s);
    EXPECT_TRUE(final_after(sim, 0, 10s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

}  // namespace
}  // namespace rhizome::sim
