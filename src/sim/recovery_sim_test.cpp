// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/recovery.h"
#include "sim/testing.h"
#include "support/seed.h"

namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;

TEST(RecoverySim, ThoseWhoComeBackTakeBackWhatWasFinal) {
    for (const RecoveryCase& one : recovery_table(test::seed_for(100)))
        EXPECT_EQ(run_recovery(one), "") << one.describe();
}

TEST(RecoverySim, ThoseWhoStayGoOnFinalisingWithoutThoseWhoAreLost) {
    for (const std::size_t machines : {2u, 3u, 5u}) {
        Sim sim{{.seed = 12, .machines = machines}};
        ASSERT_TRUE(testing::grow_up(sim, machines));
        const std::size_t left = (machines - 1) / 2 + (machines == 2 ? 1 : 0);
        std::vector<std::size_t> there;
        for (std::size_t one = 0; one < machines; ++one) {
            if (one < left) {
                there.push_back(one);
            } else {
                sim.crash(one);
            }
        }
        sim.run(1s);
        sim.submit(0, recover(sim.node(0).state(), 1, there));
        sim.run(90s);
        const auto state = [&] { return sim.node(0).tip().height.number() - sim.node(0).final_height().number(); };
        EXPECT_LE(state(), 2u) << machines << " machines: blocks that nobody finalises";
        EXPECT_EQ(testing::voters_at(sim, 0), left);
        EXPECT_EQ(testing::first_fault(sim), "");
    }
}

TEST(RecoverySim, OfTwoWithOneNumberNeitherTakesBackTheOtherAndAThirdMendsIt) {
    Sim sim{{.seed = 21, .machines = 5}};
    ASSERT_TRUE(testing::grow_up(sim, 5));
    sim.checks().expect_conflict(1);
    ASSERT_TRUE(testing::recover_both_sides(sim, {0, 1}, {2, 3, 4}));
    const auto left = sim.node(0).final_block();
    const auto right = sim.node(2).final_block();
    sim.heal();
    sim.run(10s);
    EXPECT_EQ(sim.distinct_tips(), 2u);
    const auto still_has = [&](std::size_t machine, ledger::BlockHash wanted) {
        const auto height = sim.archive().block(wanted)->header.height;
        auto at = sim.archive().block(sim.node(machine).final_block());
        while (at && at->header.height > height) at = sim.archive().block(at->header.previous);
        return at && hash_of(at->header) == wanted;
    };
    for (const std::size_t one : {0u, 1u}) EXPECT_TRUE(still_has(one, left)) << one;
    for (const std::size_t one : {2u, 3u, 4u}) EXPECT_TRUE(still_has(one, right)) << one;

    sim.submit(0, recover(sim.node(0).state(), 2, {0, 1, 2, 3, 4}));
    EXPECT_TRUE(sim.run_until(
        [&] {
            for (std::size_t one = 0; one < 5; ++one)
                if (sim.node(one).final_generation() != 2 || sim.node(one).has(core::Condition::ConflictingFinals))
                    return false;
            return sim.distinct_tips() == 1;
        },
        10s));
    EXPECT_EQ(testing::first_fault(sim), "");
}

}  // namespace
}  // namespace rhizome::sim
