// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <gtest/gtest.h>

#include <fmt/core.h>

#include "support/playground_world.h"

/// `rhizome recover` on one side of a cut, and what becomes of the machines of the other when they come back.
namespace rhizome::cli {
namespace {

class RecoverKill : public playground::testing::World {
protected:
    json::Value status(unsigned node) {
        const auto on = playground::Playground::open(folder());
        if (!on) return {};
        const auto client = on->client(node);
        if (!client) return {};
        auto body = (*client)->get("/rhizome/v1/status");
        return body ? *std::move(body) : json::Value{};
    }
    static std::int64_t number(const json::Value& value, std::initializer_list<std::string_view> path) {
        const json::Value* found = value.find_path(path);
        return found == nullptr ? -1 : found->if_int64().value_or(-1);
    }
    /// Names the voters from now on at this node's chain.
    void recover(unsigned node, const std::vector<std::string>& voters) {
        const auto on = playground::Playground::open(folder());
        ASSERT_TRUE(on);
        std::vector<std::string> words{"recover", "--data", on->data_of(node).native(), "--keys", on->keys().native(),
                                       "--force", "--yes"};
        for (const std::string& voter : voters) words.insert(words.end(), {"--voter", voter});
        const auto end =
            runtime::run_process({.program = program(), .arguments = words, .deadline = milliseconds{180'000}});
        ASSERT_TRUE(end);
        EXPECT_TRUE(end->succeeded()) << end->out << end->err;
    }
    /// All of them follow one chain of that generation, and each makes something final on it.
    void expect_one_chain(std::initializer_list<unsigned> nodes, std::int64_t generation, const std::string& name) {
        for (const unsigned node : nodes) {
            EXPECT_TRUE(eventually([&] { return number(status(node), {"generation"}) == generation; })) << node;
            EXPECT_TRUE(eventually([&] {
                return status(node).text_at({"final", "hash"}) == status(*nodes.begin()).text_at({"final", "hash"});
            })) << node;
            EXPECT_EQ(write(node, fmt::format("{}-{}", name, node)), "final") << node;
        }
        for (const unsigned node : nodes) EXPECT_TRUE(number(status(node), {"height"}) > 0) << node << " is gone";
    }
};

TEST_F(RecoverKill, ThoseWhoComeBackTakeBackWhatTheyHadMadeFinalAndStartAgain) {
    good({"up", "--nodes", "3", "--apart", "ports"});
    EXPECT_EQ(write(1, "before"), "final");
    good({"cut", "1"});
    for (int i = 0; i < 10; ++i) EXPECT_EQ(write(2, fmt::format("lost-{}", i)), "final");
    recover(1, {"n1"});
    EXPECT_EQ(write(1, "smaller"), "final");
    good({"heal"});
    expect_one_chain({1, 2, 3}, 1, "after");
    EXPECT_TRUE(has_namespace(2, "smaller"));
    EXPECT_TRUE(has_namespace(3, "before"));

    for (const char* node : {"2", "3"}) good({"kill", node});
    for (const char* node : {"2", "3"}) good({"start", node});
    expect_one_chain({1, 2, 3}, 1, "again");
}

}  // namespace
}  // namespace rhizome::cli
