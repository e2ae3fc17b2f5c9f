// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/moved_disks_testing.h"
#include "support/seed.h"

/// Directories that were moved, copied or put back: who votes again when, and who never does.
namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;
using testing::CopyAge;
using testing::finalises;
using testing::grow_up;
using testing::move_directories;
using testing::voters_at;

TEST(MovedDisksSim, TheOnlyVoterGoesOnAndOthersCanJoinIt) {
    Sim sim{{.seed = 61, .machines = 3, .running = 1}};
    ASSERT_TRUE(grow_up(sim, 1));
    for (int times = 0; times < 2; ++times) {
        move_directories(sim, {0}, CopyAge::Fresh);
        EXPECT_TRUE(sim.node(0).has(core::Condition::VotesLost));
        EXPECT_TRUE(finalises(sim, 0, "alone" + std::to_string(times), 30s));
        EXPECT_FALSE(sim.node(0).has(core::Condition::VotesLost));
        // What it may sign now a start knows, too.
        sim.crash(0);
        sim.start(0);
        EXPECT_FALSE(sim.node(0).has(core::Condition::VotesLost));
        sim.run(1s);
    }
    sim.start(1);
    sim.start(2);
    EXPECT_TRUE(sim.run_until([&] { return voters_at(sim, 0) == 3; }, 60s));
    EXPECT_TRUE(finalises(sim, 2, "together", 10s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

/// One row for each number of machines and of directories; `MovedDisksSoak` has all of them.
TEST(MovedDisksSim, FinalityComesBackByItselfOrByTheOwnersWord) {
    Random draw{test::seed()};
    for (std::size_t machines = 1; machines <= 5; ++machines)
        for (std::size_t moved = 1; moved <= machines; ++moved) {
            auto who = testing::first_machines(machines);
            draw.shuffle(who);
            std::uint32_t subset = 0;
            for (std::size_t i = 0; i < moved; ++i) subset |= 1u << who[i];
            const CopyAge age = machines > 1 && draw.chance(1, 2) ? CopyAge::Old : CopyAge::Fresh;
            EXPECT_EQ(testing::moved_row(machines, subset, age, draw.next()), "");
        }
}

TEST(MovedDisksSim, ARecoveryGivesNothingToACopyOfWhatItNames) {
    EXPECT_EQ(testing::copy_of_named_record(62), std::vector<std::string>{});
}

TEST(MovedDisksSim, ACopyBesideARunningMachineSignsNothing) {
    for (const std::uint64_t load : {std::uint64_t{10}, std::uint64_t{0}})
        EXPECT_EQ(testing::copy_beside_original(63, load), std::vector<std::string>{}) << load << " orders a second";
}

}  // namespace
}  // namespace rhizome::sim
