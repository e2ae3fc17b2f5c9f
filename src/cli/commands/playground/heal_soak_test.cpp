// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/heal_world.h"

/// The whole of what `heal_kill_test.cpp` shows a round of.
namespace rhizome::cli::playground {
namespace {

using HealSoak = testing::HealWorld;

TEST_F(HealSoak, AThousandPairsOfWritesAcrossCuts) {
    constexpr std::size_t kCuts = 10;
    constexpr std::size_t kPairs = 100;
    good({"up", "--nodes", "5", "--apart", "ports"});
    for (std::size_t cut = 0; cut < kCuts && !HasFailure(); ++cut) expect_every_loser_told(cut * kPairs, kPairs);
}

}  // namespace
}  // namespace rhizome::cli::playground
