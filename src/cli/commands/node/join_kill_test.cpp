// SPDX-License-Identifier: Apache-2.0
#include "support/cluster_processes.h"

#include <gtest/gtest.h>

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

/// Machines that join with the state instead of all blocks.
class JoinKill : public test::ClusterProcesses {
protected:
    std::vector<std::string> join_words(const std::string& name, const std::string& token, const std::string& sync) {
        return {"join", address("n1"), "--token",  token,      "--sync",      sync,      "--node",
                name,   "--data",      data(name), "--listen", "127.0.0.1:0", "--detach"};
    }
    bool has_chain(const std::string& name) {
        return std::filesystem::exists(std::filesystem::path{data(name)} / "format");
    }
};

TEST_F(JoinKill, AMachineStartsFromTheStateAndSaysWhatItDoesNotHave) {
    found("n1");
    for (const auto* name : {"one", "two", "three"}) EXPECT_EQ(order("n1", name, "final").text_at({"stage"}), "final");
    good(join_words("n2", new_token(), "snapshot"));
    started_.emplace_back("n2");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 2; }));
    EXPECT_TRUE(has_namespace("n2", "two"));
    EXPECT_EQ(order("n2", "four", "final").text_at({"stage"}), "final");

    const auto from = number(status("n2"), {"historyFrom"});
    EXPECT_GT(from, 3);
    EXPECT_EQ(number(status("n1"), {"historyFrom"}), 0);
    EXPECT_NE(good({"status", "--data", data("n2")})
                  .find(" from block " + std::to_string(from) + " on; older ones are not kept here"),
              std::string::npos);
    const auto old = rhizome({"chain", "block", "1", "--data", data("n2")});
    EXPECT_EQ(old.exit_code, 3);
    EXPECT_NE(
        old.err.find("error: block 1 is not kept here: this machine began with the state at " +
                     std::to_string(from - 1) + "\nhint: ask a node that has all of the chain, with --node ADDRESS\n"),
        std::string::npos)
        << old.err;
    // It survives a kill as any other.
    kill_node("n2", SIGKILL);
    start("n2", "n1");
    EXPECT_TRUE(eventually([&] { return has_namespace("n2", "four"); }));
    EXPECT_EQ(number(status("n2"), {"historyFrom"}), from);

    // Whoever wants all blocks asks somebody who has them.
    const std::string token = new_token();
    auto words = join_words("n3", token, "full");
    words[1] = address("n2");
    const auto refused = rhizome(words);
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("it began with a snapshot"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("--sync snapshot"), std::string::npos) << refused.err;
    // What was begun there is gone on with by 'join', and nothing else.
    const auto founding = rhizome({"up", "--data", data("n3"), "--listen", "127.0.0.1:0", "--detach"});
    EXPECT_EQ(founding.exit_code, 5);
    EXPECT_NE(founding.err.find("a join was begun in " + data("n3") + " and did not come to an end"), std::string::npos)
        << founding.err;
    words[5] = "snapshot";
    good(words);
    started_.emplace_back("n3");
    EXPECT_TRUE(eventually([&] { return has_namespace("n3", "four"); }));
}

TEST_F(JoinKill, ATokenForSeveralIsUsedBySeveralThoughTheStateItNamesIsOld) {
    found("n1");
    const std::string token = new_token({"--count", "3"});
    for (const auto* name : {"n2", "n3"}) {
        good(join_words(name, token, "snapshot"));
        started_.emplace_back(name);
    }
    EXPECT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    EXPECT_NE(good({"token", "list", "--data", data("n1")}).find("  1 "), std::string::npos);
}

TEST_F(JoinKill, KilledAtAnyMomentItBeginsAgain) {
    found("n1");
    EXPECT_EQ(order("n1", "before", "final").text_at({"stage"}), "final");
    const std::string token = new_token({"--count", "20"});
    std::size_t killed_before = 0;
    std::size_t round = 0;
    for (const int moment : {10, 40, 80, 160, 320}) {
        const std::string name = "m" + std::to_string(++round);
        const auto end = rhizome(join_words(name, token, "snapshot"), milliseconds{moment});
        started_.push_back(name);
        if (!has_chain(name)) {
            ++killed_before;
            good(join_words(name, token, "snapshot"));
        } else if (end.exit_code == 137) {
            // The chain was there. If it was no member yet, it follows; nobody is registered twice. A node that the
            // command had already left in the background runs on, and has the directory.
            const auto again =
                rhizome({"up", "--data", data(name), "--listen", "127.0.0.1:0", "--peer", address("n1"), "--detach"});
            EXPECT_TRUE(again.succeeded() || again.err.find("is in use by another process") != std::string::npos)
                << again.err;
        }
        EXPECT_TRUE(eventually([&] { return has_namespace(name, "before"); })) << moment << " ms";
        good({"down", "--data", data(name)});
        EXPECT_EQ(rhizome({"chain", "verify", "--data", data(name)}).exit_code, 0);
    }
    EXPECT_GE(killed_before, 1u) << "some were killed before they had a chain";
}

}  // namespace
}  // namespace rhizome::cli
