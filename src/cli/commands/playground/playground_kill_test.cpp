// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/playground_world.h"

/// `rhizome playground` on ports, as people without root have it, and what is left when its commands are killed.
namespace rhizome::cli::playground {
namespace {

using PlaygroundKill = testing::World;

TEST_F(PlaygroundKill, OnPortsBothSidesOfACutTakeOrdersAndTheHealMergesThem) {
    good({"up", "--nodes", "3", "--apart", "ports"});
    expect_both_sides_and_a_merge();

    // Refusals, word for word.
    std::string all;
    all += refused({"up"}, 5);
    all += refused({"cut", "1>2"}, 1);
    all += refused({"cut", "4"}, 2);
    all += refused({"heal", "1"}, 3);
    all += refused({"start", "1"}, 5);
    all += refused({"write", "9"}, 2);
    all += refused({"write", "1", "a/b"}, 1);
    good({"kill", "2"});
    all += refused({"kill", "2"}, 5);
    all += refused({"write", "2"}, 6);
    all += refused({"kubeconfig", "2"}, 6);
    test::expect_golden("cli/playground_refusals.txt", all);

    // One that was killed comes back with what it missed, also when a cut was made meanwhile.
    EXPECT_EQ(write(1, "while-away"), "final");
    good({"cut", "2"});
    good({"start", "2"});
    EXPECT_FALSE(has_namespace(2, "while-away"));
    EXPECT_NE(good({"status"}).find("\ncut: 2\n"), std::string::npos);
    good({"heal"});
    EXPECT_TRUE(eventually([&] { return has_namespace(2, "while-away"); }));
    EXPECT_NE(good({"logs", "2"}).find("the node runs"), std::string::npos);

    // Also the one that was started again is asked where it was before.
    expect_all_serve_kubernetes();

    const auto started = processes();
    EXPECT_EQ(started.size(), 3U);
    good({"down"});
    expect_nothing_is_left(started);
    EXPECT_EQ(refused({"down"}, 3),
              "error: there is no playground in DIR\nhint: 'rhizome playground up' makes one; --dir names another "
              "directory\n");
}

TEST_F(PlaygroundKill, AnUpThatIsKilledOrInterruptedLeavesNothing) {
    for (const int signal : {SIGKILL, SIGINT}) {
        auto up = runtime::hold_process({.program = program(),
                                         .arguments = {"playground", "up", "--nodes", "3", "--dir", folder().native()},
                                         .output = temp_ / "said"});
        ASSERT_TRUE(up && up->begin());
        // In the middle: one node was begun.
        ASSERT_TRUE(eventually([&] {
            const auto record = read_record(folder());
            return record && record->nodes[0].process.pid != 0;
        }));
        const auto started = processes();
        ASSERT_TRUE(runtime::send_signal(up->id(), signal));
        ASSERT_TRUE(runtime::wait_for_end(up->id(), seconds{180}));
        if (signal == SIGKILL) {
            EXPECT_NE(refused({"status"}, 5).find("'up' was ended before it was done"), std::string::npos);
            good({"down"});
        }
        expect_nothing_is_left(started);
    }
}

}  // namespace
}  // namespace rhizome::cli::playground
