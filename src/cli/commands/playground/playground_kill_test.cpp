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

/// A node that is cut off while nobody writes anything, for longer than a lease, is in lease again soon after the heal.
/// Counted in blocks, of which an idle cluster makes one in a heartbeat, since this machine may be busy.
TEST_F(PlaygroundKill, AfterAnIdleCutAllAreReadyWithinAFewBlocks) {
    good({"up", "--nodes", "3", "--apart", "ports"});
    const auto on = Playground::open(folder());
    ASSERT_TRUE(on);
    const auto status = [&](unsigned node) -> json::Value {
        const auto client = on->client(node);
        auto body = client ? (*client)->get("/rhizome/v1/status") : Result<json::Value>{Fail{client.error()}};
        return body ? *std::move(body) : json::Value{};
    };
    const auto ready_at = [&](unsigned node) {
        std::size_t ready = 0;
        const json::Value said = status(node);
        if (const json::Value* members = said.find("members"); members != nullptr && members->is_array())
            for (const json::Value& one : *members->if_array()) ready += one.find("ready")->if_boolean() == true;
        return ready;
    };
    const auto peers_of = [&](unsigned node) {
        const json::Value said = status(node);
        const json::Value* peers = said.find("peers");
        return peers == nullptr || !peers->is_array() ? 0 : peers->if_array()->size();
    };
    const auto all_ready = [&] { return ready_at(1) == 3 && ready_at(2) == 3 && ready_at(3) == 3; };
    const auto height = [&] { return status(2).number_at({"height"}); };
    ASSERT_TRUE(eventually(all_ready));
    for (const unsigned node : {1U, 3U}) {
        good({"cut", std::to_string(node)});
        ASSERT_TRUE(eventually([&] { return ready_at(2) == 2 && ready_at(node) == 1; }));
        good({"heal"});
        ASSERT_TRUE(eventually([&] { return peers_of(node) == 2; }));
        const auto linked_at = height();
        EXPECT_TRUE(eventually(all_ready));
        EXPECT_LE(height() - linked_at, 5) << "about two heartbeats, with one block in each";
    }
    good({"down"});
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
