// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/cluster_processes.h"

/// Data directories that are copied to other disks, with the processes that people run.
namespace rhizome::cli {
namespace {

class MovedKill : public test::ClusterProcesses {
protected:
    /// So that silence is noticed, and a machine that listens has listened, in four seconds.
    std::string quick_rules() {
        const std::string rules = (temp_.path() / "rules.yaml").native();
        std::ofstream{rules} << "heartbeat: 1s\n";
        return rules;
    }
    /// `kept` stays where it was when it is named: for whoever uses the old directory all the same.
    void move(const std::string& name, const std::string& kept = "") {
        const std::filesystem::path from = data(name);
        const std::filesystem::path to = from.native() + ".copy";
        std::filesystem::copy(from, to,
                              std::filesystem::copy_options::recursive | std::filesystem::copy_options::skip_symlinks);
        if (kept.empty()) {
            std::filesystem::remove_all(from);
        } else {
            std::filesystem::rename(from, data(kept));
        }
        std::filesystem::rename(to, from);
    }
    void stop(const std::string& name) {
        good({"down", "--data", data(name)});
        ASSERT_TRUE(eventually([&] { return status(name).find("height") == nullptr; }));
    }
    bool has_condition(const std::string& name, std::string_view condition) {
        const json::Value said = status(name);
        const json::Value* all = said.find("conditions");
        if (all == nullptr || !all->is_array()) return false;
        for (const json::Value& one : *all->if_array())
            if (one.if_string() != nullptr && *one.if_string() == condition) return true;
        return false;
    }
    bool says(const std::string& name, std::string_view text) {
        return good({"status", "--data", data(name)}).find(text) != std::string::npos;
    }
};

TEST_F(MovedKill, TheOnlyVoterOfACopiedDirectoryVotesAgainAndOthersJoinIt) {
    found("n1", {"--spec", quick_rules()});
    EXPECT_EQ(order("n1", "before", "final").text_at({"stage"}), "final");
    stop("n1");
    move("n1");
    good({"up", "--data", data("n1"), "--listen", "127.0.0.1:0", "--detach"});
    EXPECT_TRUE(eventually([&] { return !has_condition("n1", "VotesLost"); }));
    EXPECT_EQ(order("n1", "after", "final").text_at({"stage"}), "final");
    join("n2", "n1");
    EXPECT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 2; }));
    EXPECT_EQ(order("n2", "together", "final").text_at({"stage"}), "final");
}

TEST_F(MovedKill, WhenMostOfThreeWereCopiedStatusNamesTheCommandThatBringsFinalityBack) {
    found("n1", {"--spec", quick_rules()});
    join("n2", "n1");
    join("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    EXPECT_EQ(order("n2", "before", "final").text_at({"stage"}), "final");
    const std::vector<std::vector<std::string>> rounds{{"n2", "n3"}, {"n1", "n2", "n3"}};
    for (std::size_t round = 0; round < rounds.size(); ++round) {
        SCOPED_TRACE(round);
        const std::vector<std::string>& moved = rounds[round];
        for (const std::string& name : moved) stop(name);
        for (const std::string& name : moved) move(name);
        for (const std::string& name : moved)
            if (name == "n1") {
                good({"up", "--data", data("n1"), "--listen", "127.0.0.1:0", "--detach"});
            } else {
                start(name, "n1");
            }
        for (const auto* name : {"n1", "n2", "n3"})
            EXPECT_TRUE(eventually([&] { return says(name, "rhizome recover --moved"); })) << name;
        EXPECT_EQ(order("n1", "stuck" + std::to_string(round), "included").text_at({"stage"}), "included");
        const std::string again = good({"recover", "--moved", "--yes", "--data", data("n1")});
        EXPECT_NE(again.find("begun anew: " + std::string{round == 0 ? "n2, n3" : "n1, n2, n3"}), std::string::npos)
            << again;
        for (const std::string& name : moved)
            EXPECT_TRUE(eventually([&] { return !has_condition(name, "VotesLost"); })) << name;
        EXPECT_EQ(order("n3", "after" + std::to_string(round), "final").text_at({"stage"}), "final");
        EXPECT_EQ(number(status("n1"), {"generation"}), static_cast<std::int64_t>(round) + 1);
        const std::string once_more = good({"recover", "--moved", "--yes", "--data", data("n1")});
        EXPECT_NE(once_more.find("there is nothing to do"), std::string::npos) << once_more;
        EXPECT_FALSE(says("n1", "recover --moved"));
    }
}

TEST_F(MovedKill, ACopyThatRunsBesideItsOriginalSignsNothingAndSaysSo) {
    found("n1", {"--spec", quick_rules()});
    join("n2", "n1");
    join("n3", "n1");
    ASSERT_TRUE(eventually([&] { return number(status("n1"), {"voters"}) == 3; }));
    stop("n3");
    move("n3", "original");
    good({"up", "--data", data("original"), "--listen", "127.0.0.1:0", "--peer", address("n1"), "--detach"});
    started_.emplace_back("original");
    start("n3", "n2");
    EXPECT_TRUE(eventually([&] { return has_condition("n3", "CopyRuns"); }));
    EXPECT_TRUE(says("n3", "a copy of this machine runs"));
    EXPECT_EQ(order("n1", "beside", "final").text_at({"stage"}), "final");
    EXPECT_FALSE(has_condition("original", "CopyRuns"));
}

}  // namespace
}  // namespace rhizome::cli
