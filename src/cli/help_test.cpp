// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/sample_tree.h"
#include "cli/text.h"
#include "cli/tree.h"
#include "support/golden.h"

namespace rhizome::cli {
namespace {

using testing::sample_tree;

TEST(Help, HasEverySectionInOrder) {
    const auto root = sample_tree();
    const CommandPath path{&root, root.find("key"), root.find("key")->find("new")};
    const auto text = render_help(path, {});
    std::size_t at = 0;
    for (const auto* section : {"Make a key.", "\nUsage:\n", "Makes a key and keeps it", "\nExamples:\n",
                                "\nArguments:\n", "\nOptions:\n", "\nGlobal options:\n", "\nEnvironment:\n"}) {
        const auto found = text.find(section, at);
        ASSERT_NE(found, std::string::npos) << section << "\n" << text;
        at = found;
    }
    test::expect_golden("cli/help-sample-key-new.txt", text);
}

TEST(Help, OurOwnPagesAreAsReviewed) {
    const auto root = command_tree();
    test::expect_golden("cli/help-overview.txt", render_overview(root, {}));
    test::expect_golden("cli/help-rhizome.txt", render_help({&root}, {}));
    for (const auto* name : {"doctor", "completion", "init", "version"}) {
        test::expect_golden(fmt::format("cli/help-{}.txt", name), render_help({&root, root.find(name)}, {}));
    }
    for (const auto* group : {"key", "tx", "chain", "state", "sim"}) {
        const auto* command = root.find(group);
        test::expect_golden(fmt::format("cli/help-{}.txt", group), render_help({&root, command}, {}));
        for (const auto& verb : command->subcommands) {
            test::expect_golden(fmt::format("cli/help-{}-{}.txt", group, verb.name),
                                render_help({&root, command, &verb}, {}));
        }
    }
}

void expect_narrow(CommandPath& path, unsigned width) {
    std::istringstream lines{render_help(path, {.program = "kubectl rhizome", .width = width})};
    for (std::string line, before; std::getline(lines, line); before = line) {
        // What is typed stays in one piece, whatever its length.
        const bool typed = line.starts_with("  kubectl rhizome") || before.starts_with("  # ") ||
                           line.find("(kubectl") != std::string::npos;
        if (!typed) {
            EXPECT_LE(display_width(line), width) << line;
        }
        EXPECT_FALSE(line.ends_with(' ')) << line;
    }
    for (const auto& below : path.back()->subcommands) {
        path.push_back(&below);
        expect_narrow(path, width);
        path.pop_back();
    }
}

TEST(Help, FitsTheTerminal) {
    const auto root = command_tree();
    for (const unsigned width : {60u, 80u, 100u}) {
        CommandPath path{&root};
        expect_narrow(path, width);
    }
}

TEST(Help, HiddenCommandsDoNotShow) {
    const auto root = sample_tree();
    EXPECT_EQ(render_help({&root}, {}).find("secret"), std::string::npos);
    EXPECT_EQ(render_overview(root, {}).find("secret"), std::string::npos);
}

TEST(Help, OptionsSayDefaultChoicesAndVariable) {
    EXPECT_EQ(option_help({.name = "size", .value_name = "N", .help = "how many", .fallback = "3", .variable = "SIZE"}),
              "how many (default: 3) [$SIZE]");
    EXPECT_EQ(option_help({.name = "on", .value_name = "W", .help = "when", .choices = {{"now"}, {"later"}}}),
              "when: now or later");
    EXPECT_EQ(option_help({.name = "l", .value_name = "L", .help = "label", .repeatable = true}),
              "label; may be given several times");
    EXPECT_EQ(option_names({.name = "output", .letter = 'o', .value_name = "FORMAT", .help = ""}),
              "-o, --output FORMAT");
    EXPECT_EQ(option_names({.name = "force", .help = ""}), "--force");
}

TEST(Help, ExamplesFollowTheNameOfTheProgram) {
    EXPECT_EQ(example_line("rhizome", {"", "rhizome a"}), "rhizome a");
    EXPECT_EQ(example_line("kubectl rhizome", {"", ". <(rhizome a) | rhizome b > ~/rhizome/rhizome"}),
              ". <(kubectl rhizome a) | kubectl rhizome b > ~/rhizome/rhizome");
}

}  // namespace
}  // namespace rhizome::cli
