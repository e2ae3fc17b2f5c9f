// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "sim/passing_layer.h"
#include "sim/testing.h"

/// Events and leases between machines: cut, lost, late, doubled, crashed, flooded.
namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;

TEST(PassingSim, AfterACutWithWritesOnBothSidesAllShowTheSame) {
    Sim sim{{.seed = 21, .machines = 7, .link = {.jitter = 3ms, .loss = 50, .duplicate = 50}, .neighbours = 3}};
    ASSERT_TRUE(testing::grow_up(sim, 7));
    PassingLayer layer{sim};
    for (int i = 0; i < 40; ++i) layer.write(static_cast<std::size_t>(i) % 7, fmt::format("e{}", i), "before");
    EXPECT_TRUE(sim.run_until([&] { return layer.shown(6).size() == 40 && layer.all_equal(); }, 60s));
    sim.split({{0, 1, 2}, {3, 4, 5, 6}});
    sim.run(15s);
    for (int i = 0; i < 40; ++i) {
        layer.write(0, fmt::format("left{}", i), "l");
        layer.write(5, fmt::format("right{}", i), "r");
        layer.write(static_cast<std::size_t>(i) % 7, fmt::format("e{}", i / 2), fmt::format("meanwhile {}", i));
        sim.run(200ms);
    }
    layer.erase(1, "e30");
    layer.erase(6, "e31");
    sim.run(5s);
    EXPECT_FALSE(layer.all_equal());
    sim.heal();
    EXPECT_TRUE(sim.run_until([&] { return layer.all_equal(); }, 60s));
    EXPECT_EQ(layer.shown(0).size(), 40u - 2u + 80u);
    EXPECT_FALSE(layer.shown(6).contains("e30"));
    EXPECT_FALSE(layer.shown(0).contains("e31"));
    // Of each only the last word stands.
    EXPECT_EQ(layer.shown(2).at("e19"), "meanwhile 39");
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(PassingSim, WhatEndsIsGoneEverywhereThoughClocksDiffer) {
    Sim sim{{.seed = 22, .machines = 5}};
    ASSERT_TRUE(testing::grow_up(sim, 5));
    PassingLayer layer{sim};
    sim.set_clock(1, 700ms);
    sim.set_clock(2, -700ms);
    for (std::size_t i = 0; i < 5; ++i) layer.write(i, fmt::format("short{}", i), "s", 20s);
    layer.write(0, "long", "l");
    EXPECT_TRUE(sim.run_until([&] { return layer.shown(4).size() == 6 && layer.all_equal(); }, 10s));
    EXPECT_TRUE(sim.run_until([&] { return layer.shown(2).size() == 1; }, 30s));
    sim.run(30s);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(layer.shown(i).size(), 1u) << "nobody brings back what has ended";
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(PassingSim, WhoComesBackFromAPowerFailureHasWhatTheOthersHave) {
    Sim sim{{.seed = 23, .machines = 4}};
    ASSERT_TRUE(testing::grow_up(sim, 4));
    PassingLayer layer{sim};
    for (int i = 0; i < 500; ++i) layer.write(0, fmt::format("e{}", i), "x");
    EXPECT_TRUE(sim.run_until([&] { return layer.shown(3).size() == 500 && layer.all_equal(); }, 10s));
    sim.crash(0);
    sim.run(5s);
    sim.start(0);
    EXPECT_TRUE(sim.run_until([&] { return layer.shown(0).size() == 500; }, 15s)) << "also what it wrote itself";
    layer.write(0, "e7", "again");
    EXPECT_TRUE(sim.run_until([&] { return layer.shown(3).at("e7") == "again" && layer.all_equal(); }, 5s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(PassingSim, AFloodingMemberIsBoundedAndNamedAndTheOthersGoOn) {
    Sim sim{{.seed = 24, .machines = 5}};
    ASSERT_TRUE(testing::grow_up(sim, 5));
    core::PassingConfig config;
    config.room = {.records_max = 1'000, .writer_records_max = 500};
    config.writer_per_second = 20;
    PassingLayer layer{sim, config};
    for (std::size_t i = 1; i < 5; ++i)
        for (int n = 0; n < 100; ++n) layer.write(i, fmt::format("calm{}-{}", i, n), "c");
    sim.run(2s);
    for (int round = 0; round < 100; ++round) {
        for (int n = 0; n < 100; ++n) layer.write(0, fmt::format("flood{}", round * 100 + n), "f");
        if (round % 10 == 0) layer.write(3, "calm3-0", fmt::format("still here {}", round));
        sim.run(200ms);
        if (round % 10 == 9) {
            EXPECT_EQ(layer.shown(1).at("calm3-0"), fmt::format("still here {}", round - 9));
        }
    }
    std::set<std::size_t> who_named;
    for (const auto& [machine, flooder] : layer.floods()) {
        EXPECT_EQ(flooder, 0u);
        who_named.insert(machine);
    }
    EXPECT_EQ(who_named.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_LE(layer.machine(i).usage().records, 900u);
        for (std::size_t calm = 1; calm < 5; ++calm)
            for (int n = 0; n < 100; ++n) EXPECT_TRUE(layer.shown(i).contains(fmt::format("calm{}-{}", calm, n)));
    }
    EXPECT_TRUE(sim.run_until([&] { return layer.all_equal(); }, 120s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

TEST(PassingSim, AMachineThatIsTakenAwayIsNoLongerHeard) {
    Sim sim{{.seed = 25, .machines = 4}};
    ASSERT_TRUE(testing::grow_up(sim, 4));
    PassingLayer layer{sim};
    layer.write(3, "a", "while it was one");
    sim.run(2s);
    EXPECT_EQ(layer.shown(0).size(), 1u);
    sim.submit(0, remove_machine(sim.node(0).state(), 3));
    EXPECT_TRUE(sim.run_until([&] { return layer.shown(0).empty() && layer.shown(2).empty(); }, 30s));
    layer.write(3, "b", "by nobody");
    sim.run(20s);
    EXPECT_TRUE(layer.shown(0).empty());
    EXPECT_EQ(testing::first_fault(sim), "");
}

}  // namespace
}  // namespace rhizome::sim
