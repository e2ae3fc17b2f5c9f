// SPDX-License-Identifier: Apache-2.0
#include "runtime/environment.h"

#include <gtest/gtest.h>

#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::runtime {
namespace {

TEST(Environment, CopiesThatOfTheProcess) {
    const auto here = Environment::of_process();
    EXPECT_TRUE(here.find_filled("HOME"));
    EXPECT_FALSE(here.find("RHIZOME_NO_SUCH_VARIABLE"));
}

TEST(Environment, AnEmptyVariableIsFoundButNotFilled) {
    const Environment here{Environment::Variables{{"EMPTY", ""}, {"FULL", "x"}}};
    EXPECT_EQ(here.find("EMPTY"), "");
    EXPECT_EQ(here.find_filled("EMPTY"), std::nullopt);
    EXPECT_EQ(here.find_filled("FULL"), "x");
}

TEST(Environment, FoldersFollowTheXdgRules) {
    struct Row {
        const char* name;
        Environment::Variables variables;
        const char* config;
        const char* data;
    };
    const Row rows[] = {
        {"from HOME", {{"HOME", "/home/ann"}}, "/home/ann/.config/rhizome", "/home/ann/.local/share/rhizome"},
        {"variables win",
         {{"HOME", "/home/ann"}, {"XDG_CONFIG_HOME", "/c"}, {"XDG_DATA_HOME", "/d"}},
         "/c/rhizome",
         "/d/rhizome"},
        {"empty is absent",
         {{"HOME", "/home/ann"}, {"XDG_CONFIG_HOME", ""}},
         "/home/ann/.config/rhizome",
         "/home/ann/.local/share/rhizome"},
        {"relative is ignored",
         {{"HOME", "/home/ann"}, {"XDG_CONFIG_HOME", "c"}},
         "/home/ann/.config/rhizome",
         "/home/ann/.local/share/rhizome"},
        {"no HOME needed", {{"XDG_CONFIG_HOME", "/c"}, {"XDG_DATA_HOME", "/d"}}, "/c/rhizome", "/d/rhizome"},
    };
    for (const auto& row : rows) {
        const Environment here{row.variables};
        EXPECT_EQ(here.config_folder().value(), row.config) << row.name;
        EXPECT_EQ(here.data_folder().value(), row.data) << row.name;
    }
    const Environment::Variables home{{"HOME", "/h"}};
    EXPECT_EQ(Environment{home}.state_folder().value(), "/h/.local/state/rhizome");
    EXPECT_EQ(Environment{home}.cache_folder().value(), "/h/.cache/rhizome");
    EXPECT_EQ(Environment{}.config_folder().error().kind, ErrorKind::NotFound);
}

TEST(Environment, FindsProgramsInTheOrderOfPath) {
    test::TempFolder folder;
    ASSERT_TRUE(make_folder(folder / "one", 0755));
    ASSERT_TRUE(make_folder(folder / "two", 0755));
    ASSERT_TRUE(write_new_file(folder / "one/plain", "", 0644));
    ASSERT_TRUE(write_new_file(folder / "two/plain", "", 0755));
    ASSERT_TRUE(make_folder(folder / "one/tool", 0755));
    ASSERT_TRUE(write_new_file(folder / "two/tool", "", 0755));
    const Environment::Variables path{{"PATH", (folder / "one").native() + "::" + (folder / "two").native()}};
    const Environment here{path};
    EXPECT_EQ(here.find_program("plain"), folder / "two/plain") << "one/plain is not executable";
    EXPECT_EQ(here.find_program("tool"), folder / "two/tool") << "one/tool is a folder";
    EXPECT_EQ(here.find_program("absent"), std::nullopt);
    EXPECT_EQ(here.find_program(""), std::nullopt);
    EXPECT_EQ(here.find_program((folder / "two/tool").native()), folder / "two/tool");
    EXPECT_TRUE(Environment{}.find_program("sh")) << "a usual PATH without the variable";
}

}  // namespace
}  // namespace rhizome::runtime
