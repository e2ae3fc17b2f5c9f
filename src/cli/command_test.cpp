// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include <gtest/gtest.h>

#include "cli/text.h"
#include "cli/tree.h"

namespace rhizome::cli {
namespace {

Result<void> nothing(Invocation&) { return ok(); }

TEST(CommandTree, OurOwnTreeHasNoFaults) { EXPECT_EQ(join(faults(command_tree()), "\n"), ""); }

void expect_examples_and_groups(const Command& command, bool top) {
    EXPECT_FALSE(command.examples.empty()) << command.name << " teaches by examples";
    if (top) {
        EXPECT_FALSE(command.group.empty()) << command.name << " stands under a heading of the overview";
    }
    for (const auto& below : command.subcommands) expect_examples_and_groups(below, false);
}

TEST(CommandTree, EveryCommandHasExamplesAndAGroup) {
    for (const auto& command : command_tree().subcommands) expect_examples_and_groups(command, true);
}

TEST(CommandTree, FaultsAreNamed) {
    const Command bad{
        .name = "bad",
        .summary = "lower case.",
        .arguments = {{.name = "A", .help = "a", .required = false, .repeatable = true}, {.name = "A", .help = ""}},
        .options = {{.name = "x", .help = "a"},
                    {.name = "flag", .letter = 'f', .help = "a", .fallback = "1"},
                    {.name = "flag", .letter = 'f', .help = "a"}},
        .subcommands =
            {{.name = "sub", .summary = "Does nothing"},
             {.name = "sub", .summary = "Works", .options = {{.name = "flag", .help = "a"}}, .run = nothing}},
    };
    const auto found = join(faults(bad), "\n");
    for (const auto* fault : {
             "bad: summary ends with a full stop",
             "bad: summary begins with a lower-case letter",
             "bad --x: an option needs a long name",
             "bad --flag: stands twice",
             "bad --flag: -f is taken",
             "bad --flag: a flag has neither a default",
             "bad: takes arguments and has subcommands",
             "bad A: stands twice",
             "bad A: help is empty",
             "bad A: only the last may repeat",
             "bad A: follows an optional argument",
             "bad sub: does nothing and has no subcommands",
             "bad sub: stands twice",
             "bad sub --flag: a command above has an option of that name",
         }) {
        EXPECT_NE(found.find(fault), std::string::npos) << fault << "\nin:\n" << found;
    }
}

}  // namespace
}  // namespace rhizome::cli
