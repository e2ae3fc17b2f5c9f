// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/build_info.h"
#include "cli/completion.h"
#include "cli/testing.h"
#include "cli/tree.h"
#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::cli {
namespace {

using testing::Harness;

TEST(VersionCommand, TellsWhatThisIs) {
    Harness harness;
    EXPECT_EQ(harness.run(command_tree(), {"version", "--short"}).out, std::string{build_info().version} + "\n");
    EXPECT_EQ(harness.run(command_tree(), {"--version"}).out, version_line() + "\n");
    const auto data = json::parse(harness.run(command_tree(), {"version", "-o", "json"}).out);
    ASSERT_TRUE(data);
    EXPECT_EQ(data->text_at({"version"}), build_info().version);
    EXPECT_FALSE(data->text_at({"libraries", "OpenSSL"}).empty());
    EXPECT_NE(harness.run(command_tree(), {"version"}).out.find("compiler      GNU"), std::string::npos);
}

TEST(HelpCommand, ShowsWhatDashDashHelpShows) {
    Harness harness;
    EXPECT_EQ(harness.run(command_tree(), {"help", "doctor"}).out,
              harness.run(command_tree(), {"doctor", "--help"}).out);
    const auto absent = harness.run(command_tree(), {"help", "docter"});
    EXPECT_EQ(absent.code, 3);
    EXPECT_EQ(absent.err,
              "error: \"docter\" is not a command of rhizome\nhint: did you mean \"doctor\"?\n"
              "hint: 'rhizome --help' lists what there is\n");
}

TEST(CompletionCommand, PrintsTheScriptOfTheShell) {
    Harness harness;
    EXPECT_EQ(harness.run(command_tree(), {"completion", "bash"}).out, completion_script(Shell::Bash));
    EXPECT_EQ(harness.run(command_tree(), {"completion", "zsh"}).out, completion_script(Shell::Zsh));
    EXPECT_EQ(harness.run(command_tree(), {"completion", "fish"}).out, completion_script(Shell::Fish));
    EXPECT_EQ(harness.run(command_tree(), {"completion", "tcsh"}).code, 2);
    EXPECT_EQ(harness.run(command_tree(), {"completion"}).code, 2);
}

TEST(ManCommand, PrintsOnePageOrWritesAll) {
    Harness harness;
    test::TempFolder folder;
    const auto page = harness.run(command_tree(), {"man", "doctor"}).out;
    EXPECT_NE(page.find(".TH \"RHIZOME\\-DOCTOR\" 1"), std::string::npos) << page;
    const auto wrote = harness.run(command_tree(), {"man", "--dir", (folder / "man1").native()});
    EXPECT_EQ(wrote.code, 0) << wrote.err;
    EXPECT_EQ(wrote.out, "") << "talk goes to stderr";
    EXPECT_EQ(runtime::read_file(folder / "man1/rhizome-doctor.1", 1u << 20).value(), page);
    EXPECT_TRUE(runtime::read_file(folder / "man1/rhizome.1", 1u << 20));
    EXPECT_EQ(harness.run(command_tree(), {"man", "nothing"}).code, 3);
    EXPECT_EQ(harness.run(command_tree(), {"man", "doctor", "--dir", "x"}).code, 2);
    EXPECT_EQ(harness.run(command_tree(), {"man", "--dir", "/dev/null/x"}).code, 5) << "a file is in the way";
}

TEST(DoctorCommand, ReportsInAllFormats) {
    Harness harness;
    test::TempFolder folder;
    const auto dir = "--data-dir=" + folder.path().native();
    const auto table = harness.run(command_tree(), {"doctor", dir});
    EXPECT_TRUE(table.out.starts_with("CHECK ")) << table.out;
    const auto printed = harness.run(command_tree(), {"doctor", dir, "-o", "json", "--for", "member", "--for=agent"});
    const auto data = json::parse(printed.out);
    ASSERT_TRUE(data) << printed.out;
    const auto missing = data->find_path({"summary", "missing"})->if_int64();
    ASSERT_TRUE(missing);
    EXPECT_EQ(printed.code, *missing == 0 ? 0 : 1);
    EXPECT_EQ(printed.err.empty(), *missing == 0) << printed.err;
    const auto& checks = *data->find("checks")->if_array();
    ASSERT_FALSE(checks.empty());
    EXPECT_EQ(checks.front().text_at({"id"}), "kernel");
    EXPECT_EQ(harness.run(command_tree(), {"doctor", "--for", "agnet"}).code, 2);
    EXPECT_EQ(harness.run(command_tree(), {"doctor"}).code, 3) << "no HOME, no --data-dir: nobody knows where";
}

}  // namespace
}  // namespace rhizome::cli
