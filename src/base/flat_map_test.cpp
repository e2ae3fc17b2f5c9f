// SPDX-License-Identifier: Apache-2.0
#include "base/flat_map.h"

#include <map>

#include <gtest/gtest.h>

#include "base/random.h"

namespace rhizome {
namespace {

TEST(FlatMap, DoesWhatATreeDoes) {
    FlatMap<std::uint64_t, int> flat;
    std::map<std::uint64_t, int> tree;
    Random random{7};
    for (int i = 0; i < 2'000; ++i) {
        const std::uint64_t key = random.below(100);
        if (random.chance(1, 3)) {
            EXPECT_EQ(flat.erase(key), tree.erase(key) == 1);
        } else {
            const auto [value, fresh] = flat.try_emplace(key, i);
            const auto expected = tree.try_emplace(key, i);
            EXPECT_EQ(fresh, expected.second);
            EXPECT_EQ(*value, expected.first->second) << "an entry that is there is not replaced";
        }
        const int* found = flat.find(key);
        const auto expected = tree.find(key);
        ASSERT_EQ(found != nullptr, expected != tree.end());
        if (found != nullptr) {
            EXPECT_EQ(*found, expected->second);
        }
    }
    EXPECT_TRUE(std::equal(flat.begin(), flat.end(), tree.begin(), tree.end(), [](const auto& left, const auto& right) {
        return left.first == right.first && left.second == right.second;
    })) << "in the order of the keys";
    flat.erase_if([](const auto& entry) { return entry.first % 2 == 0; });
    for (const auto& [key, value] : flat) EXPECT_EQ(key % 2, 1u);
    flat.clear();
    EXPECT_TRUE(flat.empty());
}

}  // namespace
}  // namespace rhizome
