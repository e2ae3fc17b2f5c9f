// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <gtest/gtest.h>

#include "cli/sample_tree.h"
#include "cli/testing.h"
#include "cli/text.h"
#include "runtime/environment.h"
#include "runtime/files.h"
#include "runtime/process.h"
#include "support/temp_folder.h"

namespace rhizome::cli {
namespace {

using testing::Harness;
using testing::sample_tree;
using Words = std::vector<std::string>;

/// The candidates without descriptions, and `<files>` or `<folders>` at the end.
std::string offered(const Words& words) {
    Harness harness;
    const auto done = complete(sample_tree(), words, harness.console);
    Words values;
    for (const auto& candidate : done.candidates) values.push_back(candidate.value);
    if (done.files) values.emplace_back("<files>");
    if (done.folders) values.emplace_back("<folders>");
    return join(values, " ");
}

TEST(Completion, OffersWhatFits) {
    const std::pair<Words, const char*> rows[] = {
        {{}, "key fail help"},
        {{""}, "key fail help"},
        {{"k"}, "key"},
        {{"x"}, ""},
        {{"key", ""}, "new show"},
        {{"key", "s"}, "show"},
        {{"kye", ""}, ""},
        {{"-"}, "--version --color --help"},
        {{"--c"}, "--color"},
        {{"--color", ""}, "auto always never"},
        {{"--color", "a"}, "auto always"},
        {{
             "--color=",
         },
         "--color=auto --color=always --color=never"},
        {{"--color=n"}, "--color=never"},
        {{"--color", "never", "k"}, "key"},
        {{"key", "new", "--"}, "--type --label --folder --force --color --help"},
        {{"key", "new", "--force", "--label", "a", "--"}, "--type --label --folder --color --help"},
        {{"key", "new", "-t", ""}, "ed25519 secp256k1"},
        {{"key", "new", "-ts"}, "-tsecp256k1"},
        {{"key", "new", "-t=s"}, "-t=secp256k1"},
        {{"key", "new", "--folder", ""}, "<folders>"},
        {{"key", "new", "--folder="}, "<folders>"},
        {{"key", "new", "--label", ""}, ""},
        {{"key", "new", ""}, ""},
        {{"key", "new", "ann", ""}, "<files>"},
        {{"key", "new", "ann", "a", "b", "c"}, "<files>"},
        {{"key", "show", ""}, "alice bob"},
        {{"key", "show", "b"}, "bob"},
        {{"key", "show", "alice", ""}, ""},
        {{"key", "show", "--", ""}, "alice bob"},
        {{"key", "show", "--", "--"}, ""},
        {{"fail", ""}, "denied conflict corrupt"},
        {{"help", ""}, "key fail help"},
        {{"help", "key", ""}, "new show"},
        {{"help", "key", "new", ""}, ""},
        {{"help", "no", ""}, ""},
        {{"sec"}, ""},
    };
    for (const auto& [words, expected] : rows) EXPECT_EQ(offered(words), expected) << join(words, " ");
}

TEST(Completion, SpeaksAsKubectlExpects) {
    Harness harness;
    EXPECT_EQ(harness.run(sample_tree(), {"__complete", "--", "key", "show", ""}).out, "alice\ted25519\nbob\n:4\n");
    EXPECT_EQ(harness.run(sample_tree(), {"__complete", "key", "show", ""}).out, "alice\ted25519\nbob\n:4\n");
    EXPECT_EQ(harness.run(sample_tree(), {"__complete", "--", "key", "new", "a", ""}).out, ":0\n");
    EXPECT_EQ(harness.run(sample_tree(), {"__complete", "--", "key", "new", "--folder", ""}).out, ":16\n");
    EXPECT_EQ(harness.run(sample_tree(), {"__complete"}).code, 0);
    EXPECT_EQ(harness.run(sample_tree(), {"__complete", "--", "--bad", "\x1b", "--", "x"}).code, 0) << "never fails";
}

/// What bash would show for a line, by its own rules for cutting words, with a stand-in for the program.
struct Bash {
    test::TempFolder folder;

    Bash() {
        using runtime::write_new_file;
        EXPECT_TRUE(write_new_file(folder / "script", completion_script(Shell::Bash), 0644));
        // Writes down how it was called, and answers as the engine would.
        EXPECT_TRUE(write_new_file(folder / "rhizome",
                                   "#!/bin/bash\nprintf '[%s]' \"$@\" > \"${0%/*}/called\"\ncat \"${0%/*}/answer\"\n",
                                   0755));
        EXPECT_TRUE(runtime::make_folder(folder / "place/sub dir", 0755));
        EXPECT_TRUE(write_new_file(folder / "place/some file", "", 0644));
    }

    /// `words` as bash cuts them, the last one under the cursor.
    std::string reply(const std::string& answer, const std::string& line, const std::string& words) {
        EXPECT_TRUE(runtime::replace_file(folder / "answer", answer, 0644));
        runtime::ProcessSpec spec{
            .program = "bash",
            .arguments = {"--norc", "-c",
                          "set -u; . ../script; COMP_LINE=$1; COMP_POINT=${#1}; COMP_WORDS=(" + words +
                              "); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); COMPREPLY=(); "
                              "_rhizome_complete; printf '<%s>\\n' \"${COMPREPLY[@]+${COMPREPLY[@]}}\" | "
                              "LC_ALL=C sort | tr -d '\\n'",  // readline sorts them too
                          "bash", line}};
        spec.folder = folder / "place";
        auto variables = runtime::Environment::of_process();
        variables.set("PATH", folder.path().native() + ":/usr/bin:/bin");
        spec.environment = variables;
        const auto end = runtime::run_process(spec);
        EXPECT_TRUE(end && end->succeeded()) << (end ? end->err : end.error().message);
        return end ? end->out : "";
    }
    std::string called() { return runtime::read_file(folder / "called", 10'000).value_or("nothing"); }
};

TEST(Completion, TheBashScriptAsksAndAnswers) {
    Bash bash;
    EXPECT_EQ(bash.reply("key\tWork with keys\nkill\n:4\n", "rhizome k", "rhizome k"), "<key><kill>");
    EXPECT_EQ(bash.called(), "[__complete][--][k]");
    EXPECT_EQ(bash.reply(":4\n", "rhizome key ", "rhizome key ''"), "<>");
    EXPECT_EQ(bash.called(), "[__complete][--][key][]");
    // Bash cuts at '=' and replaces only what follows it.
    EXPECT_EQ(bash.reply("--color=never\n:4\n", "rhizome --color=n", "rhizome --color = n"), "<never>");
    EXPECT_EQ(bash.called(), "[__complete][--][--color=n]");
    EXPECT_EQ(bash.reply("--color=auto\n--color=never\n:4\n", "rhizome --color=", "rhizome --color ="),
              "<auto><never>");
    EXPECT_EQ(bash.called(), "[__complete][--][--color=]");
    EXPECT_EQ(bash.reply("a:b\n:4\n", "rhizome key a: x", "rhizome key a : x"), "<a:b>");
    EXPECT_EQ(bash.called(), "[__complete][--][key][a:][x]");
    // Files and folders with blanks in their names.
    EXPECT_EQ(bash.reply(":0\n", "rhizome key new s", "rhizome key new s"), "<some file><sub dir>");
    EXPECT_EQ(bash.reply(":16\n", "rhizome --dir=s", "rhizome --dir = s"), "<sub dir>");
}

TEST(Completion, TheScriptsAreWellFormed) {
    const auto environment = runtime::Environment::of_process();
    const std::pair<Shell, const char*> rows[] = {{Shell::Bash, "bash"}, {Shell::Zsh, "zsh"}, {Shell::Fish, "fish"}};
    test::TempFolder folder;
    for (const auto& [shell, program] : rows) {
        const auto script = completion_script(shell);
        EXPECT_NE(script.find("__complete --"), std::string_view::npos) << program;
        EXPECT_NE(script.find("kubectl-rhizome"), std::string_view::npos) << program;
        if (!environment.find_program(program)) continue;  // bash is always there
        ASSERT_TRUE(runtime::write_new_file(folder / program, script, 0644));
        const auto end = runtime::run_process({.program = program, .arguments = {"-n", (folder / program).native()}});
        EXPECT_TRUE(end && end->succeeded()) << program << ": " << (end ? end->err : end.error().message);
    }
}

}  // namespace
}  // namespace rhizome::cli
