// SPDX-License-Identifier: Apache-2.0
#include "cluster/ownership.h"

#include <map>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rhizome::cluster {
namespace {

std::vector<std::string> machines(int count) {
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) names.push_back(fmt::format("n{}", i));
    return names;
}

TEST(Ownership, IsTheSameInWhateverOrderTheNodesAreNamed) {
    auto nodes = machines(7);
    const auto order = order_of("uid-1", nodes);
    ASSERT_EQ(order.size(), 7u);
    std::reverse(nodes.begin(), nodes.end());
    EXPECT_EQ(order_of("uid-1", nodes), order);
    nodes.push_back("n3");
    EXPECT_EQ(order_of("uid-1", nodes), order) << "a node named twice is one";
    for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(rank_of("uid-1", nodes, order[i]), i);
    EXPECT_EQ(rank_of("uid-1", nodes, "stranger"), std::nullopt);
    EXPECT_TRUE(order_of("uid-1", {}).empty());
}

TEST(Ownership, OnlyWhatWasANodesOwnMovesWhenItGoes) {
    const auto nodes = machines(10);
    auto fewer = nodes;
    fewer.erase(fewer.begin() + 4);
    int moved = 0;
    for (int i = 0; i < 2'000; ++i) {
        const std::string uid = fmt::format("uid-{}", i);
        const auto before = order_of(uid, nodes);
        const auto after = order_of(uid, fewer);
        if (before.front() == "n4") {
            ++moved;
            EXPECT_EQ(after.front(), before[1]) << "the next one takes over";
        } else {
            EXPECT_EQ(after.front(), before.front());
        }
    }
    EXPECT_GT(moved, 100);
}

TEST(Ownership, IsShared) {
    const auto nodes = machines(8);
    std::map<std::string, int> owned;
    for (int i = 0; i < 8'000; ++i) ++owned[order_of(fmt::format("uid-{}", i), nodes).front()];
    ASSERT_EQ(owned.size(), 8u);
    for (const auto& [node, count] : owned) {
        EXPECT_GT(count, 800) << node;
        EXPECT_LT(count, 1'200) << node;
    }
}

}  // namespace
}  // namespace rhizome::cluster
