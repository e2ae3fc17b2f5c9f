// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/recovery.h"

#include <gtest/gtest.h>

#include "support/golden.h"

namespace rhizome::cli {
namespace {

NodeRow row(const char* name, bool is_voter, bool is_ready, bool is_accused = false) {
    NodeRow one;
    one.name = name;
    one.is_member = true;
    one.is_voter = is_voter;
    one.is_ready = is_ready;
    one.is_accused = is_accused;
    return one;
}

json::Value status(std::uint64_t quorum) {
    return json::Object{
        {"generation", 2}, {"quorum", quorum}, {"height", 120}, {"final", json::Object{{"height", 100}}}};
}

TEST(Recovery, NamesWhatStaysAndWhatMayBeLost) {
    const std::vector<NodeRow> rows{row("n1", true, true), row("n2", true, false), row("n3", true, false),
                                    row("n4", false, true)};
    const auto plan = plan_recovery(rows, status(2), {});
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->generation, 3u);
    EXPECT_EQ(plan->voters, (std::vector<std::string>{"n1", "n4"}));
    EXPECT_EQ(plan->doubt, std::nullopt);
    test::expect_golden("cli/recovery-plan.txt", plan->story);
    EXPECT_EQ(plan_recovery(rows, status(2), {"n4", "n1", "n4"})->voters, (std::vector<std::string>{"n1", "n4"}));
}

TEST(Recovery, NamesLinkedMembersWhoseLeaseHasEnded) {
    std::vector<NodeRow> rows{row("n1", true, true), row("n2", true, false), row("n3", true, false)};
    rows[1].is_linked = true;
    const auto plan = plan_recovery(rows, status(3), {});
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_EQ(plan->voters, (std::vector<std::string>{"n1", "n2"}));
    EXPECT_EQ(plan->doubt, std::nullopt);
}

TEST(Recovery, GoesAboveWhatAnyLinkedMemberHasBegun) {
    const std::vector<NodeRow> rows{row("n1", true, true), row("n2", true, false), row("n3", true, false)};
    struct Row {
        const char* name;
        std::uint64_t heard;
        std::uint64_t next;
    };
    for (const Row& one : {Row{"nobody has more", 2, 3}, Row{"one has recovered twice meanwhile", 4, 5},
                           Row{"one behind", 1, 3}, Row{"a liar would use up the numbers", UINT64_MAX / 4, 3}}) {
        json::Value said = status(2);
        said["generationHeard"] = one.heard;
        EXPECT_EQ(plan_recovery(rows, said, {})->generation, one.next) << one.name;
    }
}

TEST(Recovery, ConflictingFinalsNeedOneThoughAllAreHeard) {
    const std::vector<NodeRow> all{row("n1", true, true), row("n2", true, true), row("n3", true, true)};
    json::Value said = status(2);
    said["conditions"] = json::Array{"ConflictingFinals"};
    EXPECT_EQ(plan_recovery(all, said, {})->doubt, std::nullopt);
}

TEST(Recovery, DoubtsWhatIsProbablyAMistake) {
    const std::vector<NodeRow> fine{row("n1", true, true), row("n2", true, true), row("n3", true, false)};
    EXPECT_EQ(plan_recovery(fine, status(2), {})->doubt,
              "nothing needs to be recovered: 2 of 3 voters are heard of, 2 are enough");
    const std::vector<NodeRow> lost{row("n1", true, true), row("n2", true, false), row("n3", true, false)};
    EXPECT_EQ(plan_recovery(lost, status(2), {"n1", "n2", "n3"})->doubt,
              "the new voters could not agree on anything either: 1 of 3 are heard of");
    EXPECT_EQ(plan_recovery(lost, status(2), {"n1"})->doubt, std::nullopt);
}

TEST(Recovery, WhoCannotVoteIsNamed) {
    NodeRow plain = row("plain", false, false);
    plain.is_member = false;
    const std::vector<NodeRow> rows{row("n1", true, true), row("liar", true, true, true), plain};
    std::string all;
    for (const char* name : {"m1", "liar", "plain"}) {
        const auto plan = plan_recovery(rows, status(2), {name});
        ASSERT_FALSE(plan) << name;
        all += plan.error().message + "\n\n";
    }
    all += plan_recovery({plain}, status(2), {}).error().message + "\n";
    test::expect_golden("cli/recovery-errors.txt", all);
}

}  // namespace
}  // namespace rhizome::cli
