// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "node/joining.h"
#include "support/cluster_processes.h"

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

/// Machines that are members no more, and join again.
class RejoinKill : public JoinKill {
protected:
    std::vector<std::string> again_words(const std::string& name, const std::string& token) {
        auto words = join_words(name, token, "full");
        words.emplace_back("--again");
        return words;
    }
    std::string key_of(const std::string& name) { return std::string{status(name).text_at({"key"})}; }
    std::string chain_key_of(const std::string& at, const std::string& name) {
        const json::Value known = status(at);
        const json::Value* members = known.find("members");
        if (members == nullptr || members->if_array() == nullptr) return "";
        for (const json::Value& one : *members->if_array())
            if (one.text_at({"node"}) == name) return std::string{one.text_at({"key"})};
        return "";
    }
    bool says(const std::string& name, const std::string& words) {
        return good({"status", "--data", data(name)}).find(words) != std::string::npos;
    }
};

TEST_F(RejoinKill, AMachineThatWasRemovedIsToldAndJoinsAgainWithNewKeys) {
    found("n1");
    join("n2", "n1");
    join("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    const std::string before = key_of("n2");
    const std::string token = new_token();
    const auto member = rhizome(again_words("n2", token));
    EXPECT_EQ(member.exit_code, 5);
    EXPECT_NE(member.err.find("its node runs"), std::string::npos) << member.err;

    good({"node", "remove", "n2", "--data", data("n1"), "--yes"});
    EXPECT_TRUE(eventually([&] { return status("n2").find("membershipLost") != nullptr; }));
    EXPECT_TRUE(says("n2", "this machine was removed from the cluster (as n2, block"));
    EXPECT_TRUE(says("n2", "rhizome join ADDRESS --token TOKEN --again"));
    good({"down", "--data", data("n2")});

    auto words = again_words("n2", token);
    words.pop_back();
    const auto guided = rhizome(words);
    EXPECT_EQ(guided.exit_code, 5);
    EXPECT_NE(guided.err.find("its machine is no member of the cluster: the same words and --again join again"),
              std::string::npos)
        << guided.err;
    // Said again after a restart.
    start("n2", "n1");
    EXPECT_TRUE(says("n2", "this machine was removed from the cluster (as n2, block"));
    good({"down", "--data", data("n2")});

    // Killed on the way it is gone on with.
    (void)rhizome(again_words("n2", token), milliseconds{40});
    const auto end = rhizome(again_words("n2", token));
    EXPECT_TRUE(end.succeeded() || number(status("n2"), {"height"}) > 0) << end.err;
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    EXPECT_NE(key_of("n2"), before) << "old keys sign nothing any more";
    EXPECT_EQ(chain_key_of("n1", "n2"), key_of("n2"));
    EXPECT_EQ(status("n2").find("membershipLost"), nullptr);
    // Its vote counts: of two nothing is final without it.
    kill_node("n3", SIGKILL);
    EXPECT_EQ(order("n2", "after", "final").text_at({"stage"}), "final");
}

TEST_F(RejoinKill, AMachineThatWasRefusedJoinsAgainFromItsDirectory) {
    found("n1");
    const std::string used = new_token();
    good(join_words("n2", used, "full"));
    started_.emplace_back("n2");
    const auto refused = rhizome(join_words("n3", used, "full"));
    EXPECT_FALSE(refused.succeeded());
    EXPECT_NE(refused.err.find("used up or revoked"), std::string::npos) << refused.err;
    ASSERT_TRUE(has_chain("n3"));
    good(again_words("n3", new_token()));
    started_.emplace_back("n3");
    EXPECT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    // A member's directory is left alone, and one of another cluster.
    good({"down", "--data", data("n3")});
    const auto member = rhizome(again_words("n3", new_token()));
    EXPECT_EQ(member.exit_code, 5);
    EXPECT_NE(member.err.find("its machine is a member there"), std::string::npos) << member.err;
}

TEST_F(RejoinKill, AJoinThatAHealUndoesIsToldThere) {
    found("n1");
    join("n2", "n1");
    join("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    const std::string token = new_token();
    const auto used = node::JoinTicket::parse(token);
    ASSERT_TRUE(used);
    ASSERT_TRUE(eventually([&] {
        return status("n2").text_at({"final", "hash"}) == status("n1").text_at({"final", "hash"});
    }));
    // The smaller side: n1 alone, where n4 joins.
    kill_node("n2", SIGKILL);
    kill_node("n3", SIGKILL);
    good(join_words("n4", token, "full"));
    started_.emplace_back("n4");
    ASSERT_TRUE(eventually([&] { return !chain_key_of("n4", "n4").empty(); }));
    kill_node("n4", SIGKILL);
    kill_node("n1", SIGKILL);
    // The larger side revokes the token, which is final there.
    good({"up", "--data", data("n2"), "--listen", "127.0.0.1:0", "--detach"});
    start("n3", "n2");
    EXPECT_EQ(order("n2", "larger", "final").text_at({"stage"}), "final");
    good({"token", "revoke", used->name, "--data", data("n2")});
    EXPECT_EQ(order("n2", "revoked", "final").text_at({"stage"}), "final");
    // They meet again.
    start("n1", "n2");
    start("n4", "n2");
    EXPECT_TRUE(eventually([&] { return status("n4").find("membershipLost") != nullptr; }));
    EXPECT_TRUE(says("n4", "the join of this machine (as n4) was undone"));
    EXPECT_NE(good({"logs", "--data", data("n4")}).find("this machine is no member any more"), std::string::npos);
    good({"down", "--data", data("n4")});
    auto words = again_words("n4", new_token());
    good(words);
    EXPECT_TRUE(eventually([&] { return number(status("n2"), {"voters"}) == 4; }));
}

}  // namespace
}  // namespace rhizome::cli
