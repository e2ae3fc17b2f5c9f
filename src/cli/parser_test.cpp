// SPDX-License-Identifier: Apache-2.0
#include "cli/parser.h"

#include <gtest/gtest.h>

#include "cli/sample_tree.h"
#include "cli/testing.h"
#include "cli/text.h"

namespace rhizome::cli {
namespace {

using testing::Harness;
using testing::sample_tree;
using Words = std::vector<std::string>;

struct Row {
    const char* name;
    Words words;
    const char* expected;  ///< what the echoing command prints, or the error
};

TEST(Parser, ReadsWordsIntoValues) {
    const Row rows[] = {
        {"defaults", {"key", "new", "ann"}, " key new --type=ed25519 --color=auto NAME=ann"},
        {"long with a blank",
         {"key", "new", "ann", "--type", "secp256k1"},
         " key new --type=secp256k1 --color=auto NAME=ann"},
        {"long with equals",
         {"key", "new", "--type=secp256k1", "ann"},
         " key new --type=secp256k1 --color=auto NAME=ann"},
        {"short with a blank",
         {"key", "new", "-t", "secp256k1", "ann"},
         " key new --type=secp256k1 --color=auto NAME=ann"},
        {"short attached", {"key", "new", "-tsecp256k1", "ann"}, " key new --type=secp256k1 --color=auto NAME=ann"},
        {"short with equals", {"key", "new", "-t=secp256k1", "ann"}, " key new --type=secp256k1 --color=auto NAME=ann"},
        {"cluster of flags and a value",
         {"key", "new", "-ft", "secp256k1", "ann"},
         " key new --type=secp256k1 --force --color=auto NAME=ann"},
        {"the last one counts",
         {"key", "new", "ann", "-t", "ed25519", "-t", "secp256k1"},
         " key new --type=secp256k1 --color=auto NAME=ann"},
        {"repeatable options take one value each",
         {"key", "new", "-l", "a", "ann", "--label=b", "file"},
         " key new --type=ed25519 --label=a --label=b --color=auto NAME=ann FILE=file"},
        {"a value may begin with a dash",
         {"key", "new", "-l", "-x", "ann"},
         " key new --type=ed25519 --label=-x --color=auto NAME=ann"},
        {"repeatable arguments",
         {"key", "new", "ann", "a", "b", "c"},
         " key new --type=ed25519 --color=auto NAME=ann FILE=a FILE=b FILE=c"},
        {"after -- all are arguments",
         {"key", "new", "--", "--force", "-t"},
         " key new --type=ed25519 --color=auto NAME=--force FILE=-t"},
        {"a single dash is an argument", {"key", "new", "-"}, " key new --type=ed25519 --color=auto NAME=-"},
        {"an argument may be called like a command",
         {"key", "new", "key", "help", "fail"},
         " key new --type=ed25519 --color=auto NAME=key FILE=help FILE=fail"},
        {"arguments are taken as they are",
         {"key", "new", "a", "[x,y]", "++", "--", "-z", "--"},
         " key new --type=ed25519 --color=auto NAME=a FILE=[x,y] FILE=++ FILE=-z FILE=--"},
        {"global options before the command",
         {"--color", "never", "key", "new", "ann"},
         " key new --type=ed25519 --color=never NAME=ann"},
        {"global options behind win",
         {"--color=never", "key", "new", "ann", "--color=always"},
         " key new --type=ed25519 --color=always NAME=ann"},
        {"empty values stay", {"key", "new", "", "--label", ""}, " key new --type=ed25519 --label= --color=auto NAME="},
        {"the root itself", {"--version"}, " --version --color=auto"},
        {"hidden commands work", {"secret"}, " secret --color=auto"},
    };
    for (const auto& row : rows) {
        Harness harness;
        const auto ran = harness.run(sample_tree(), row.words);
        EXPECT_EQ(ran.out, std::string{row.expected} + "\n") << row.name;
        EXPECT_EQ(ran.err, "") << row.name;
        EXPECT_EQ(ran.code, 0) << row.name;
    }
}

TEST(Parser, SaysWhatIsWrongAndWhatWasMeant) {
    const Row rows[] = {
        {"mistyped command",
         {"kye"},
         "error: \"kye\" is not a command of rhizome\nhint: did you mean \"key\"?\nhint: see 'rhizome --help'\n"},
        {"unknown command",
         {"apply"},
         "error: \"apply\" is not a command of rhizome\nhint: commands here are key, fail, help\n"
         "hint: see 'rhizome --help'\n"},
        {"mistyped below",
         {"key", "shwo", "--as=hex", "ann"},
         "error: \"shwo\" is not a command of rhizome key\nhint: did you mean \"show\"?\nhint: see 'rhizome key "
         "--help'\n"},
        {"mistyped option",
         {"key", "new", "ann", "--froce"},
         "error: rhizome key new does not know the option --froce\nhint: did you mean \"--force\"?\n"
         "hint: see 'rhizome key new --help'\n"},
        {"unknown letter in a cluster",
         {"key", "new", "ann", "-fz"},
         "error: rhizome key new does not know the option -z\nhint: see 'rhizome key new --help'\n"},
        {"an option of another command",
         {"key", "show", "ann", "--as", "hex", "--force"},
         "error: rhizome key show does not know the option --force\nhint: see 'rhizome key show --help'\n"},
        {"wrong choice",
         {"key", "new", "ann", "-t", "ed25518"},
         "error: --type cannot be \"ed25518\": it is one of ed25519, secp256k1\nhint: did you mean \"ed25519\"?\n"
         "hint: see 'rhizome key new --help'\n"},
        {"wrong choice of an argument",
         {"fail", "how"},
         "error: KIND cannot be \"how\": it is one of denied, conflict, corrupt\nhint: see 'rhizome fail --help'\n"},
        {"missing value",
         {"key", "new", "ann", "--label"},
         "error: --label needs a value: TEXT\nhint: a label\nhint: see 'rhizome key new --help'\n"},
        {"missing argument", {"key", "new"}, "error: NAME is missing: its name\nhint: see 'rhizome key new --help'\n"},
        {"missing option",
         {"key", "show", "ann"},
         "error: --as FORM is missing: how\nhint: see 'rhizome key show --help'\n"},
        {"too many",
         {"fail", "denied", "now"},
         "error: \"now\" is one word too many: rhizome fail takes one argument\nhint: see 'rhizome fail --help'\n"},
        {"too many after --",
         {"secret", "--", "x"},
         "error: \"x\" is one word too many: rhizome secret takes no arguments\nhint: see 'rhizome secret --help'\n"},
        {"an option of the root before a command",
         {"--version", "key", "new", "ann"},
         "error: --version has no meaning for rhizome key new\nhint: see 'rhizome key new --help'\n"},
        {"a wrong global value",
         {"--color", "sometimes", "key", "new", "ann"},
         "error: --color cannot be \"sometimes\": it is one of auto, always, never\nhint: see 'rhizome key new "
         "--help'\n"},
        {"escape sequences are not printed",
         {"a\x1b[31mb"},
         "error: \"a?[31mb\" is not a command of rhizome\nhint: commands here are key, fail, help\n"
         "hint: see 'rhizome --help'\n"},
    };
    for (const auto& row : rows) {
        Harness harness;
        const auto ran = harness.run(sample_tree(), row.words);
        EXPECT_EQ(ran.err, row.expected) << row.name;
        EXPECT_EQ(ran.out, "") << row.name;
        EXPECT_EQ(ran.code, 2) << row.name;
    }
}

TEST(Parser, AFlagTakesNoValue) {
    Harness harness;
    const auto ran = harness.run(sample_tree(), {"key", "new", "ann", "--force=yes"});
    EXPECT_EQ(ran.code, 2) << ran.out;
    EXPECT_EQ(ran.err, "error: --force takes no value: it is on when given\nhint: see 'rhizome key new --help'\n");
}

TEST(Parser, EnvironmentVariablesStandBetweenOptionAndDefault) {
    using Variables = runtime::Environment::Variables;
    const Variables set{{"KEY_TYPE", "secp256k1"}};
    const Variables empty{{"KEY_TYPE", ""}};
    const Variables wrong{{"KEY_TYPE", "rsa"}};
    Harness harness;
    harness.console.environment = runtime::Environment{set};
    EXPECT_EQ(harness.run(sample_tree(), {"key", "new", "a"}).out, " key new --type=secp256k1 --color=auto NAME=a\n");
    EXPECT_EQ(harness.run(sample_tree(), {"key", "new", "a", "-ted25519"}).out,
              " key new --type=ed25519 --color=auto NAME=a\n");
    harness.console.environment = runtime::Environment{empty};
    EXPECT_EQ(harness.run(sample_tree(), {"key", "new", "a"}).out, " key new --type=ed25519 --color=auto NAME=a\n");
    harness.console.environment = runtime::Environment{wrong};
    EXPECT_EQ(
        harness.run(sample_tree(), {"key", "new", "a"}).err,
        "error: --type (set by the environment variable KEY_TYPE) cannot be \"rsa\": it is one of ed25519, secp256k1\n"
        "hint: see 'rhizome key new --help'\n");
}

TEST(Parser, LongLinesAreReadInGoodTime) {
    Words words{"key", "new", "ann"};
    for (int i = 0; i < 5'000; ++i) words.push_back("file");
    Harness harness;
    EXPECT_EQ(harness.run(sample_tree(), words).code, 0);
}

}  // namespace
}  // namespace rhizome::cli
