// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/passing_set_testing.h"

namespace rhizome::core {
namespace {

using detail::PassingSet;
using passing_testing::kShare;
using passing_testing::offer;
using passing_testing::record_of;
using passing_testing::room_of;

std::set<std::string> names_in(const PassingSet& set) {
    std::set<std::string> names;
    for (const SharedRecord& record : passing_testing::all_of(set)) names.emplace(record->path.name());
    return names;
}
using Names = std::set<std::string>;

TEST(PassingSet, WhatFindsNoRoomMakesNothingElseGo) {
    // Three, of which the older two are small and large.
    const auto small = record_of(1, "small", 30);
    const auto middle = record_of(1, "middle", 20, 5 * kShare);
    const auto newest = record_of(1, "newest", 10, 5 * kShare);
    PassingSet set{room_of(16, 8)};
    EXPECT_TRUE(offer(set, newest));
    EXPECT_TRUE(offer(set, small));
    EXPECT_FALSE(offer(set, middle));
    EXPECT_EQ(names_in(set), (Names{"newest", "small"}));
    // The other way round the small one goes with the middle one; who has it is asked when they compare.
    PassingSet other{room_of(16, 8)};
    for (const auto& one : {small, middle, newest}) EXPECT_TRUE(offer(other, one));
    EXPECT_EQ(names_in(other), (Names{"newest"}));
    EXPECT_TRUE(offer(other, small));
    EXPECT_EQ(names_in(other), names_in(set));
}

TEST(PassingSet, ManySmallRecordsAndAFewLargeOnesAreMeasuredAlike) {
    // The first writer has most records, the second most bytes. With two measures one set, full in bytes, had no room
    // for the second's oldest, and the other, full in records, none for the first's.
    std::vector<SharedRecord> common;
    for (int i = 0; i < 6; ++i) common.push_back(record_of(1, fmt::format("small{}", i), i));
    for (int i = 0; i < 2; ++i) common.push_back(record_of(2, fmt::format("large{}", i), i, 63 * kShare / 20));
    PassingSet left{room_of(10, 10)};
    PassingSet right{room_of(10, 10)};
    for (const auto& one : common) offer(left, one);
    for (const auto& one : common) offer(right, one);
    for (int i = 0; i < 2; ++i) offer(left, record_of(1, fmt::format("a{}", i), 10 + i, kShare));
    for (int i = 0; i < 2; ++i) offer(right, record_of(2, fmt::format("b{}", i), 10 + i));
    for (int round = 0; round < 5; ++round) {
        const auto told = passing_testing::all_of(left);
        for (const auto& one : passing_testing::all_of(right)) offer(left, one);
        for (const auto& one : told) offer(right, one);
    }
    EXPECT_EQ(names_in(left), names_in(right));
    EXPECT_LE(left.bytes(), 10 * kShare);
}

TEST(PassingSet, ThreeNodesDoNotTakeThingsFromEachOtherInACircle) {
    // What is newer of one writer is larger, and what is smaller is older; a third is of another writer.
    const auto base = record_of(1, "base", 1, 4 * kShare);
    const auto small = record_of(1, "small", 9);
    const auto large = record_of(1, "large", 5, 10 * kShare);
    const auto other = record_of(2, "other", 7, 10 * kShare);
    PassingSet set{room_of(14, 14)};
    EXPECT_TRUE(offer(set, base));
    std::size_t changes = 0;
    for (int round = 0; round < 10; ++round)
        for (const auto& one : {other, small, large}) changes += offer(set, one) ? 1 : 0;
    EXPECT_LE(changes, 3u);
}

TEST(PassingSet, ADeletionHoldsThoughThereIsNoRoomForIt) {
    PassingSet set{room_of(4, 2)};
    offer(set, record_of(1, "a", 90));
    offer(set, record_of(2, "b", 10));
    offer(set, record_of(2, "c", 20));
    PassingRecord deleted = *record_of(2, "a", 80);
    deleted.entry = {};
    EXPECT_TRUE(offer(set, std::make_shared<const PassingRecord>(deleted)));
    EXPECT_EQ(names_in(set), (Names{"b", "c"}));
}

TEST(PassingSet, TwoSetsWithTheSameTagsAtOtherDocumentsHaveOtherSums) {
    const auto sum_of = [](std::uint8_t first, std::uint8_t second) {
        PassingSet set{{}};
        for (std::uint8_t number = 0; number < 2; ++number) {
            const auto record = record_of(1, fmt::format("e{}", number), 10);
            PassingId id;  // both of the first group
            id.writable()[1] = number;
            PassingVersion version{.stamp = record->stamp};
            version.tag.writable()[15] = number == 0 ? first : second;
            (void)set.put(id, record, version);
        }
        return set.sum().sum;
    };
    EXPECT_EQ(sum_of(7, 9), sum_of(7, 9));
    EXPECT_NE(sum_of(7, 9), sum_of(9, 7)) << "adding up would not tell";
    EXPECT_NE(sum_of(7, 7), sum_of(9, 9)) << "nor would it here";
}

TEST(PassingSet, AGroupsSumFollowsEveryChange) {
    PassingSet set{room_of(10, 10)};
    const auto empty = set.sum().sum;
    offer(set, record_of(1, "a", 20));
    const auto one = set.sum().sum;
    EXPECT_NE(one, empty);
    offer(set, record_of(1, "a", 10));
    EXPECT_NE(set.sum().sum, one);
    set.keep_only({});
    EXPECT_EQ(set.sum().sum, empty);
    offer(set, record_of(1, "a", 20));
    EXPECT_EQ(set.sum().sum, one);
}

}  // namespace
}  // namespace rhizome::core
