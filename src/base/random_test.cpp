// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"

#include <numeric>

#include <gtest/gtest.h>

#include "base/bytes.h"

namespace rhizome {
namespace {

TEST(Random, SameSeedSameNumbersOnEveryMachine) {
    // Computed once with the published reference code of SplitMix64 and xoshiro256**: a change breaks every replay
    // line.
    Random random{42};
    EXPECT_EQ(random.next(), 1546998764402558742u);
    EXPECT_EQ(random.next(), 6990951692964543102u);
    EXPECT_EQ(random.next(), 12544586762248559009u);
}

TEST(Random, NumbersStayInTheirRange) {
    Random random{1};
    for (int i = 0; i < 1000; ++i) {
        EXPECT_LT(random.below(7), 7u);
        const auto number = random.between(-3, 3);
        EXPECT_TRUE(number >= -3 && number <= 3);
    }
    EXPECT_EQ(random.below(1), 0u);
    (void)random.between(INT64_MIN, INT64_MAX);
    EXPECT_FALSE(random.chance(0, 5));
    EXPECT_TRUE(random.chance(5, 5));
}

TEST(Random, EveryNumberIsAboutAsLikely) {
    Random random{2};
    std::array<int, 6> seen{};
    for (int i = 0; i < 60'000; ++i) ++seen[random.below(6)];
    for (const int count : seen) EXPECT_NEAR(count, 10'000, 500);  // five standard deviations
}

TEST(Random, AShuffleKeepsItsItems) {
    std::array<int, 20> items{};
    std::iota(items.begin(), items.end(), 0);
    const auto before = items;
    Random{3}.shuffle(items);
    EXPECT_NE(items, before);
    std::sort(items.begin(), items.end());
    EXPECT_EQ(items, before);
}

TEST(Random, ForksForDifferentPurposesDiffer) {
    EXPECT_NE(Random{4}.fork("network").next(), Random{4}.fork("disk").next());
    EXPECT_EQ(Random{4}.fork("disk").next(), Random{4}.fork("disk").next());
}

TEST(Random, FillsEveryByte) {
    Bytes bytes(37);
    Random{5}.fill(bytes);
    EXPECT_LT(std::count(bytes.begin(), bytes.end(), 0), 5);
}

}  // namespace
}  // namespace rhizome
