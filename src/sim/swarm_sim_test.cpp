// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/swarm.h"

namespace rhizome::sim {
namespace {

/// Enough to notice a fault at once; releases run many more.
constexpr std::uint64_t kSeeds = 40;

TEST(SwarmSim, HistoriesFromSeedsAreClean) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        const Verdict verdict = run_seed(seed);
        std::string story;
        for (const std::string& line : verdict.weather) story += "\n  " + line;
        EXPECT_TRUE(verdict.clean()) << verdict.replay_line() << "\n" << verdict.faults.front() << story;
    }
}

}  // namespace
}  // namespace rhizome::sim
