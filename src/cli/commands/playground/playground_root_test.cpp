// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/playground_world.h"

/// `rhizome playground` with nodes in networks of their own.
namespace rhizome::cli::playground {
namespace {

class PlaygroundRoot : public testing::World {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root, for network namespaces";
    }
};

TEST_F(PlaygroundRoot, InNetworksBothSidesOfACutTakeOrdersAndTheHealMergesThem) {
    good({"up", "--nodes", "3"});
    const auto look = data({"status"});
    EXPECT_EQ(look.text_at({"apart"}), "networks");
    expect_both_sides_and_a_merge();

    expect_all_serve_kubernetes();

    // One way: two of three can still talk through the third.
    good({"cut", "1>2"});
    EXPECT_TRUE(eventually([&] { return write(2, fmt::format("one-way-{}", ++orders_)) == "final"; }));
    const std::string last = fmt::format("one-way-{}", orders_);
    EXPECT_TRUE(eventually([&] { return has_namespace(1, last); }));

    // Alone, with two of three dead.
    good({"heal"});
    good({"kill", "2"});
    good({"kill", "3"});
    EXPECT_EQ(write(1, "alone"), "included");
    good({"start", "2"});
    good({"start", "3"});
    EXPECT_TRUE(eventually([&] { return has_namespace(2, "alone") && has_namespace(3, "alone"); }));
    EXPECT_TRUE(eventually([&] {
        const auto now = data({"status"});
        return tip(now, 1) == tip(now, 2) && tip(now, 1) == tip(now, 3);
    }));

    const auto started = processes();
    EXPECT_EQ(started.size(), 4U) << "three nodes, and who keeps the networks";
    good({"down"});
    expect_nothing_is_left(started);
}

}  // namespace
}  // namespace rhizome::cli::playground
