// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/playground/cuts.h"

#include <gtest/gtest.h>

#include "cli/commands/playground/record.h"
#include "support/golden.h"
#include "support/temp_folder.h"

namespace rhizome::cli::playground {
namespace {

TEST(PlaygroundCuts, SeparateAGroupFromTheRest) {
    const auto cut = parse_cut("2,n1", 4);
    ASSERT_TRUE(cut) << cut.error().message;
    EXPECT_EQ(cut->text, "1,2");
    EXPECT_FALSE(cut->one_way);
    EXPECT_EQ(cut->ways, (std::set<Way>{{1, 3}, {1, 4}, {2, 3}, {2, 4}, {3, 1}, {4, 1}, {3, 2}, {4, 2}}));
}

TEST(PlaygroundCuts, OneWayBreaksNothingElse) {
    const auto cut = parse_cut("1>2,3", 4);
    ASSERT_TRUE(cut) << cut.error().message;
    EXPECT_EQ(cut->text, "1>2,3");
    EXPECT_TRUE(cut->one_way);
    EXPECT_EQ(cut->ways, (std::set<Way>{{1, 2}, {1, 3}}));
}

/// What people are told who say something else.
TEST(PlaygroundCuts, WhatMakesNoSenseIsNamed) {
    std::string all;
    for (const char* text : {"", ",", "0", "4", "1,", "1,1", "one", "1 2", "-1", "1,2,3", "1>1", "1>", ">1", "1>2>3",
                             "99999999999", "1\x1b[2J"}) {
        const auto cut = parse_cut(text, 3);
        ASSERT_FALSE(cut) << text;
        EXPECT_EQ(cut.error().kind, ErrorKind::Usage) << text;
        all += cut.error().message + "\n";
    }
    test::expect_golden("cli/playground_cuts.txt", all);
}

TEST(PlaygroundCuts, ASideIsWhoCanTalkBothWays) {
    std::vector<Cut> cuts{*parse_cut("1,2", 5), *parse_cut("5", 5)};
    const std::set<unsigned> all{1, 2, 3, 4, 5};
    const auto broken = broken_ways(cuts);
    EXPECT_EQ(side_of(1, all, broken), (std::set<unsigned>{1, 2}));
    EXPECT_EQ(side_of(3, all, broken), (std::set<unsigned>{3, 4}));
    EXPECT_EQ(side_of(5, all, broken), (std::set<unsigned>{5}));
    EXPECT_EQ(side_of(3, {1, 2, 3, 5}, broken), (std::set<unsigned>{3})) << "the fourth does not run";
    // One that is cut off in one way still talks through a third.
    const auto one_way = broken_ways({*parse_cut("1>2", 3)});
    EXPECT_EQ(side_of(1, {1, 2, 3}, one_way), (std::set<unsigned>{1, 2, 3}));
    EXPECT_EQ(side_of(1, {1, 2}, one_way), (std::set<unsigned>{1}));
}

TEST(PlaygroundRecord, IsReadAsItWasWritten) {
    Record record{
        .apart = Apart::Networks,
        .ready = true,
        .nodes = {{.address = "10.1.0.2:7700", .process = {.pid = 7, .started = 8}, .key = "02ab", .network = 9},
                  {.address = "10.2.0.2:7700", .wanted = Wanted::Killed}},
        .holder = {.pid = 5, .started = 6},
        .router = 4,
        .cuts = {*parse_cut("1>2", 2)}};
    const auto read = Record::parse(record.text());
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->text(), record.text());
    EXPECT_EQ(read->nodes[0].process, record.nodes[0].process);
    EXPECT_EQ(read->nodes[1].wanted, Wanted::Killed);
    EXPECT_EQ(read->holder, record.holder);
    EXPECT_EQ(read->cuts[0].ways, record.cuts[0].ways);
}

TEST(PlaygroundRecord, OneThatIsDamagedEndsNobody) {
    const test::TempFolder temp;
    EXPECT_EQ(read_record(temp.path()).error().kind, ErrorKind::NotFound);
    for (const char* text : {"", "{}", "[]", R"({"version":2,"nodes":[],"cuts":[],"ready":true})",
                             R"({"version":1,"nodes":[],"cuts":["7"],"ready":true})",
                             R"({"version":1,"nodes":[],"cuts":[7],"ready":true})"}) {
        const auto read = Record::parse(text);
        ASSERT_FALSE(read) << text;
        EXPECT_EQ(read.error().kind, ErrorKind::Corrupt) << text;
    }
}

}  // namespace
}  // namespace rhizome::cli::playground
