// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "sim/moved_disks_testing.h"
#include "support/seed.h"

namespace rhizome::sim {
namespace {

/// Every subset of one to five directories, each row of the table once.
TEST(MovedDisksSoak, FinalityComesBackWhateverWasMovedAtOnce) {
    const std::uint64_t seed = test::seed();
    for (std::size_t machines = 1; machines <= 5; ++machines)
        for (std::uint32_t subset = 1; subset < 1u << machines; ++subset)
            for (const auto age : {testing::CopyAge::Fresh, testing::CopyAge::Old}) {
                // An older copy of the only voter is another history: nobody has what it lost.
                if (machines == 1 && age == testing::CopyAge::Old) continue;
                EXPECT_EQ(testing::moved_row(machines, subset, age, seed + subset), "");
            }
}

}  // namespace
}  // namespace rhizome::sim
