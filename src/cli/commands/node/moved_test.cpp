// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/moved.h"

#include <gtest/gtest.h>

#include "support/golden.h"

namespace rhizome::cli {
namespace {

NodeRow voter(const char* name, bool is_ready) {
    NodeRow one;
    one.name = name;
    one.is_member = true;
    one.is_voter = true;
    one.is_ready = is_ready;
    return one;
}

json::Value waiting_status(const std::vector<std::string>& names, const char* need) {
    json::Array begun;
    for (const std::string& name : names)
        begun.push_back(json::Object{{"node", name}, {"voter", true}, {"record", name + "-record"}});
    return json::Object{{"generation", 2},
                        {"quorum", 2},
                        {"height", 120},
                        {"final", json::Object{{"height", 100}}},
                        {"recordsBegun", std::move(begun)},
                        {"recordsNeed", need}};
}

json::Value cluster_with(std::int64_t generation, json::Object records) {
    return json::Object{{"spec", json::Object{{"recovery", json::Object{{"generation", generation},
                                                                        {"records", std::move(records)}}}}}};
}

TEST(MovedPlan, NamesWhoBeginsAnewAndWhatTheOwnerSays) {
    const std::vector<NodeRow> rows{voter("n1", true), voter("n2", false), voter("n3", true)};
    const auto plan = plan_moved(rows, waiting_status({"n1", "n2"}, "owner"), cluster_with(5, {}), {});
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_FALSE(plan->is_done);
    EXPECT_EQ(plan->generation, 6u) << "above what is written and not final yet";
    EXPECT_EQ(plan->voters, (std::vector<std::string>{"n1", "n2", "n3"}));
    EXPECT_EQ(plan->records, (std::map<std::string, std::string>{{"n1", "n1-record"}, {"n2", "n2-record"}}));
    EXPECT_EQ(plan->doubt, std::nullopt);
    test::expect_golden("cli/moved-plan.txt", plan->story);
}

TEST(MovedPlan, IsDoneWhenNobodyWaitsOrARecoveryNamesAllWhoDo) {
    const std::vector<NodeRow> rows{voter("n1", true), voter("n2", true)};
    EXPECT_TRUE(plan_moved(rows, waiting_status({}, "nothing"), cluster_with(0, {}), {})->is_done);
    const auto named = cluster_with(3, json::Object{{"n1", "n1-record"}, {"n2", "n2-record"}});
    EXPECT_TRUE(plan_moved(rows, waiting_status({"n1", "n2"}, "owner"), named, {})->is_done);
    const auto older = cluster_with(3, json::Object{{"n1", "n1-record"}, {"n2", "of a copy"}});
    EXPECT_FALSE(plan_moved(rows, waiting_status({"n1", "n2"}, "owner"), older, {})->is_done);
}

TEST(MovedPlan, DoubtsWhatIsNotNeededOrGivesSomebodyUp) {
    const std::vector<NodeRow> rows{voter("n1", true), voter("n2", true), voter("n3", true)};
    EXPECT_EQ(plan_moved(rows, waiting_status({"n3"}, "votes"), cluster_with(0, {}), {})->doubt,
              "this is not needed: the other voters are enough, and n3 votes again by itself when they have made "
              "something final");
    const std::vector<NodeRow> lone{voter("n1", true)};
    EXPECT_NE(plan_moved(lone, waiting_status({"n1"}, "seal"), cluster_with(0, {}), {})->doubt, std::nullopt);
    const std::vector<NodeRow> gone{voter("n1", true), voter("n2", false), voter("n3", false)};
    const auto plan = plan_moved(gone, waiting_status({"n1"}, "owner"), cluster_with(0, {}), {});
    EXPECT_EQ(plan->voters, std::vector<std::string>{"n1"});
    EXPECT_EQ(plan->doubt, "n2, n3 are not heard of, and would vote no more: start what can be started first");
    EXPECT_EQ(plan_moved(rows, waiting_status({"n3"}, "votes"), cluster_with(0, {}), {"n9"}).error().kind,
              ErrorKind::NotFound);
}

}  // namespace
}  // namespace rhizome::cli
