// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/commands/sim/explorer.h"
#include "cli/testing.h"
#include "cli/tree.h"
#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::cli::simulate {
namespace {

using cli::testing::has;

/// A cluster and a person who types.
struct Typing {
    explicit Typing(const Explorer::Setup& setup = {.machines = 4}, std::function<bool()> stop = {})
        : explorer(setup, std::move(stop)) {}
    std::string good(const std::string& line) {
        auto answer = explorer.perform(line, Style{}, {});
        EXPECT_TRUE(answer) << line << ": " << (answer ? "" : answer.error().message);
        return answer ? *answer : "";
    }
    std::string bad(const std::string& line) {
        auto answer = explorer.perform(line, Style{}, {});
        EXPECT_FALSE(answer) << line << ": " << (answer ? *answer : "");
        return answer ? "" : answer.error().message;
    }
    Explorer explorer;
};

TEST(SimExplore, BothSidesOfACutTakeOrdersAndAgreeAfterwards) {
    Typing typing;
    typing.good("run 10s");
    EXPECT_EQ(typing.good("cut 0 | 1-3"), "cut into 2 groups\n");
    EXPECT_TRUE(has(typing.good("submit 0 mine"), "order 0 at n0: ConfigMap mine, ")) << "one side";
    typing.good("submit 2 yours");
    typing.good("run 4s500ms");
    const std::string cut = typing.good("show");
    EXPECT_TRUE(has(cut, "2 tips")) << cut;
    EXPECT_TRUE(has(cut, "n0        on      A")) << cut;
    EXPECT_TRUE(has(cut, "n3        on      B")) << cut;
    const std::string orders = typing.good("orders");
    EXPECT_TRUE(has(orders, "included")) << "alone nothing becomes final\n" << orders;
    EXPECT_TRUE(has(orders, "final")) << "three of four are enough\n" << orders;
    EXPECT_TRUE(has(typing.good("chain"), "dead end 1"));
    typing.good("heal");
    EXPECT_TRUE(has(typing.good("settle"), "one tip, no order open\n"));
    EXPECT_TRUE(has(typing.good("show"), "1 tip, 0 orders open of 2\n"));
    EXPECT_TRUE(has(typing.good("timeline"), "the network splits: n0 | n1-3"));
    EXPECT_TRUE(typing.explorer.faults().empty());
}

TEST(SimExplore, MachinesObey) {
    Typing typing;
    typing.good("load 10");
    typing.good("run 5s");
    typing.good("crash 1,2");
    EXPECT_TRUE(has(typing.good("show"), "n1        off "));
    EXPECT_TRUE(has(typing.bad("crash 1"), "off already"));
    EXPECT_TRUE(has(typing.bad("pause 1 5s"), "'start 1' starts it"));
    EXPECT_TRUE(has(typing.bad("submit 1"), "n1 is off"));
    typing.good("disk 2 new");
    EXPECT_TRUE(has(typing.bad("disk 1 restore"), "no backup"));
    EXPECT_TRUE(has(typing.bad("disk 0 new"), "'crash 0' first"));
    typing.good("start 1-2");
    EXPECT_TRUE(has(typing.bad("start 2"), "on already"));
    typing.good("pause 3 2s");
    EXPECT_TRUE(has(typing.good("show"), "paused"));
    typing.good("clock 0 +3s");
    typing.good("link 20ms 10");
    typing.good("block 0 1");
    typing.good("unblock 0 1");
    typing.good("disk 0 full");
    typing.good("run 2s");
    EXPECT_TRUE(has(typing.good("show"), "clock +3s, its clock is off, its disk is full"));
    typing.good("disk 0 roomy");
    typing.good("disk 1 damaged");
    typing.good("clock 0 0");
    typing.good("lie 3 equivocate");
    EXPECT_TRUE(has(typing.bad("lie 3 flood"), "lies already"));
    typing.good("load 5 0-2");
    typing.good("run 3s");
    EXPECT_TRUE(has(typing.good("show"), "lies"));
    EXPECT_TRUE(typing.explorer.faults().empty()) << typing.explorer.faults().front();
}

TEST(SimExplore, MembersLeaveJoinAndRecover) {
    Typing typing{{.machines = 3}};
    typing.good("run 12s");
    EXPECT_TRUE(has(typing.bad("join 2"), "member already"));
    typing.good("leave 2");
    typing.good("settle");
    EXPECT_TRUE(has(typing.bad("leave 2"), "no member"));
    typing.good("join 2");
    typing.good("settle");
    typing.good("crash 1,2");
    EXPECT_TRUE(has(typing.bad("recover 1,2"), "none of these machines is on"));
    EXPECT_TRUE(has(typing.good("recover 0"), "generation 1"));
    typing.good("run 10s");
    EXPECT_TRUE(has(typing.good("orders 1"), "final")) << "alone it finalises again";
    EXPECT_TRUE(typing.explorer.faults().empty());
}

TEST(SimExplore, WhatMakesNoSenseIsNamedAndChangesNothing) {
    Typing typing;
    const auto before = typing.good("show");
    const std::pair<const char*, const char*> rows[] = {
        {"rnu", "did you mean \"run\"?"},
        {"frobnicate", "'help' lists"},
        {"run soon", "run 5s"},
        {"run 90d", "no time up to 1d"},
        {"run 1s 2s", "type it as: run [TIME]"},
        {"cut", "type it as: cut GROUPS"},
        {"cut 0,1|1,2", "n1 is in two groups"},
        {"cut 0||1", "no machine is named"},
        {"cut 0|7", "machines are 0 to 3"},
        {"cut 3-1|0", "write 1-3"},
        {"crash x", "machines are 0 to 3"},
        {"pause 0 ever", "pause 2 5s"},
        {"clock 0 fast", "clock 3 +2s"},
        {"clock 0 +9999d", "no time up to a year"},
        {"block 1 1", "hears itself"},
        {"link fast", "link 80ms"},
        {"link 5ms 1001", "at most 1000"},
        {"disk 0 round", "full, roomy"},
        {"lie 0 nicely", "equivocate, withhold"},
        {"load many", "from 0 to 1000"},
        {"load 1001", "from 0 to 1000"},
        {"submit 0 Bad_Name", "no name"},
        {"submit 0 -x", "no name"},
        {"orders none", "no number"},
        {"help me", "no command here"},
        {"html /dev/null/x", "/dev/null"},
    };
    for (const auto& [line, hint] : rows) EXPECT_TRUE(has(typing.bad(line), hint)) << line << ": " << typing.bad(line);
    EXPECT_FALSE(has(typing.bad(std::string(5'000, 'x')), "xxx"));
    EXPECT_EQ(typing.good("show"), before);
    EXPECT_EQ(typing.good(""), "");
    EXPECT_EQ(typing.good("   # a remark"), "");
}

TEST(SimExplore, ALongRunCanBeStopped) {
    bool stop = false;
    Typing typing{{.machines = 2}, [&] { return stop; }};
    typing.good("run 1s");
    stop = true;
    EXPECT_TRUE(has(typing.good("run 1h"), "stopped after 0s of 1h\n"));
    EXPECT_EQ(typing.explorer.elapsed(), seconds{3}) << "two that the cluster began with, and one";
    stop = false;
    EXPECT_TRUE(has(typing.good("show"), "3.000 s passed"));
}

TEST(SimExplore, EveryVerbIsExplained) {
    Typing typing;
    const std::string help = typing.good("help");
    for (const Candidate& verb : Explorer::verbs()) {
        EXPECT_TRUE(has(help, verb.value)) << verb.value;
        EXPECT_FALSE(verb.description.empty()) << verb.value;
    }
    EXPECT_TRUE(typing.good("help cut").starts_with("cut GROUPS"));
    EXPECT_FALSE(typing.explorer.has_quit());
    typing.good("quit");
    EXPECT_TRUE(typing.explorer.has_quit());
}

TEST(SimExplore, AScriptOnStdinIsCarriedOut) {
    test::TempFolder folder;
    testing::Harness harness;
    const std::string page = folder / "page.html";
    harness.in.str("# a script\nload 5\nrun 5s\ncut 0|1,2\nrun 3s\nheal\nload 0\nsettle\nhtml " + page + "\nshow");
    const auto ran = harness.run(command_tree(), {"sim", "explore", "--machines", "3"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_TRUE(has(ran.out, "settled after")) << ran.out;
    EXPECT_TRUE(has(ran.out, "MACHINE   STATE")) << "the last line needs no end\n" << ran.out;
    EXPECT_EQ(ran.err, "") << "no prompt without a person";
    EXPECT_TRUE(has(runtime::read_file(page, 64u << 20).value(), "A cluster explored by hand"));

    testing::Harness wrong;
    wrong.in.str("run 1s\nbogus\nshow\nquit\nnever\n");
    const auto ended = wrong.run(command_tree(), {"sim", "explore", "--machines", "2", "--trust", "byzantine"});
    EXPECT_EQ(ended.code, 2);
    EXPECT_TRUE(has(ended.err, "error: line 2: \"bogus\" is no command here")) << ended.err;
    EXPECT_TRUE(has(ended.err, "1 of 4 lines made no sense")) << ended.err;
    EXPECT_TRUE(has(ended.out, "n1 ")) << "what follows is carried out";

    testing::Harness person;
    person.console.in_is_terminal = true;
    person.in.str("shwo\n");
    const auto typed = person.run(command_tree(), {"sim", "explore"});
    EXPECT_EQ(typed.code, 0) << "a person has seen it";
    EXPECT_TRUE(has(typed.err, "2.000 s> ")) << typed.err;
    EXPECT_TRUE(has(typed.err, "did you mean \"show\"?")) << typed.err;
    EXPECT_EQ(testing::Harness{}.run(command_tree(), {"sim", "explore", "--machines", "0"}).code, 2);
}

}  // namespace
}  // namespace rhizome::cli::simulate
