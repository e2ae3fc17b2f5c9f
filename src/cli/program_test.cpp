// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <gtest/gtest.h>

#include "cli/sample_tree.h"
#include "cli/testing.h"
#include "cli/tree.h"

namespace rhizome::cli {
namespace {

using testing::Harness;
using testing::sample_tree;

TEST(Program, TheKindOfAnErrorDecidesTheExitCode) {
    const std::pair<ErrorKind, int> rows[] = {
        {ErrorKind::Invalid, 1},  {ErrorKind::Usage, 2},       {ErrorKind::NotFound, 3}, {ErrorKind::Denied, 4},
        {ErrorKind::Conflict, 5}, {ErrorKind::Unavailable, 6}, {ErrorKind::Corrupt, 1},  {ErrorKind::Exhausted, 1},
        {ErrorKind::Failed, 1},   {ErrorKind::Unsupported, 1},
    };
    for (const auto& [kind, code] : rows) EXPECT_EQ(exit_code(kind), code) << name(kind);
    Harness harness;
    const auto ran = harness.run(sample_tree(), {"fail", "denied"});
    EXPECT_EQ(ran.code, 4);
    EXPECT_EQ(ran.err, "error: it was refused\nhint: try something else\n");
    EXPECT_EQ(harness.run(sample_tree(), {"fail", "conflict"}).code, 5);
    EXPECT_EQ(harness.run(sample_tree(), {"fail", "corrupt"}).code, 1);
}

TEST(Program, HelpWinsOverMissingArgumentsAndACommandThatOnlyGroupsShowsIt) {
    Harness harness;
    const auto asked = harness.run(sample_tree(), {"key", "show", "--help"});
    EXPECT_EQ(asked.code, 0);
    EXPECT_NE(asked.out.find("rhizome key show --as FORM [options] NAME"), std::string::npos) << asked.out;
    EXPECT_EQ(harness.run(sample_tree(), {"key", "show", "--bad", "-h"}).out, asked.out);
    EXPECT_EQ(harness.run(sample_tree(), {"--help", "key", "show"}).out, asked.out);
    const auto group = harness.run(sample_tree(), {"key"});
    EXPECT_EQ(group.code, 0);
    EXPECT_NE(group.out.find("Make a key"), std::string::npos) << group.out;
    const auto unknown = harness.run(sample_tree(), {"kye", "--help"});
    EXPECT_EQ(unknown.code, 2) << "help about nothing is an error";
    // A value that looks like the flag is a value.
    EXPECT_EQ(harness.run(sample_tree(), {"key", "new", "ann", "--label", "--help"}).out,
              " key new --type=ed25519 --label=--help --color=auto NAME=ann\n");
}

TEST(Program, ColourIsOffUnlessAskedFor) {
    Harness harness;
    EXPECT_EQ(harness.run(sample_tree(), {"key", "--help"}).out.find('\x1b'), std::string::npos);
    EXPECT_NE(harness.run(sample_tree(), {"key", "--help", "--color=always"}).out.find('\x1b'), std::string::npos);
    harness.console.out_style = harness.console.err_style = Style{true};
    EXPECT_NE(harness.run(sample_tree(), {"kye"}).err.find("\x1b[1;31merror:\x1b[0m"), std::string::npos);
    EXPECT_EQ(harness.run(sample_tree(), {"--color", "never", "kye"}).err.find('\x1b'), std::string::npos);
}

TEST(Program, CallsItselfWhatThePersonTyped) {
    EXPECT_EQ(program_name("rhizome"), "rhizome");
    EXPECT_EQ(program_name("/usr/bin/rhizome"), "rhizome");
    EXPECT_EQ(program_name("./kubectl-rhizome"), "kubectl rhizome");
    EXPECT_EQ(program_name("kubectl-rhizome"), "kubectl rhizome");
    EXPECT_EQ(program_name(""), "rhizome");
    Harness harness;
    const auto ran = harness.run(sample_tree(), {"key", "new", "--help"}, "/usr/bin/kubectl-rhizome");
    EXPECT_NE(ran.out.find("\n  kubectl rhizome key new [options] NAME [FILE...]\n"), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("echo x | kubectl rhizome key new bob"), std::string::npos) << ran.out;
    EXPECT_EQ(ran.out.find("  rhizome "), std::string::npos) << ran.out;
}

TEST(Program, WithoutArgumentsShowsAnOverview) {
    Harness harness;
    const auto ran = harness.run(command_tree(), {});
    EXPECT_EQ(ran.code, 0);
    for (const auto* text : {"This host:", "doctor", "This program:", "completion", "First steps:"}) {
        EXPECT_NE(ran.out.find(text), std::string::npos) << text;
    }
    EXPECT_EQ(harness.run(command_tree(), {"help"}).out, ran.out);
}

TEST(Console, ErrorsBreakBetweenWordsOnATerminalAndCarryNoEscapeSequences) {
    testing::Harness harness;
    const Error error{ErrorKind::Failed, "the file \x1b[2Jx is not there any more\nls a-very-long/name and-another"};
    print_error(harness.console, error);
    EXPECT_EQ(harness.err.str(),
              "error: the file ?[2Jx is not there any more\nhint: ls a-very-long/name and-another\n");
    harness.err.str({});
    harness.console.err_width = 24;
    print_error(harness.console, error);
    print_warning(harness.console, "x");
    EXPECT_EQ(harness.err.str(),
              "error: the file ?[2Jx is\nnot there any more\nhint: ls a-very-long/name and-another\nwarning: x\n");
}

}  // namespace
}  // namespace rhizome::cli
