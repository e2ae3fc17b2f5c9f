// SPDX-License-Identifier: Apache-2.0
#include "cli/text.h"

#include <gtest/gtest.h>

namespace rhizome::cli {
namespace {

using Words = std::vector<std::string>;

TEST(Text, WidthCountsColumnsNotBytes) {
    const std::pair<const char*, std::size_t> rows[] = {
        {"", 0},     {"abc", 3}, {"é", 1},    {"e\u0301", 1},  {"日本", 4},
        {"✅ ok", 5}, {"😀", 2},   {"\xff", 1}, {"\xe6\x97", 1}, {"a\u200bb", 2},
    };
    for (const auto& [text, width] : rows) EXPECT_EQ(display_width(text), width) << text;
    EXPECT_EQ(pad("日本", 6), "日本  ");
    EXPECT_EQ(pad("long", 2), "long");
}

TEST(Text, WrapsAtBlanksAndKeepsWhatIsIndented) {
    EXPECT_EQ(wrap("one two three", 7), (Words{"one two", "three"}));
    EXPECT_EQ(wrap("one two three", 100), (Words{"one two three"}));
    EXPECT_EQ(wrap("averylongword x", 5), (Words{"averylongword", "x"}));
    EXPECT_EQ(wrap("a\n\n  kept   as it is", 4), (Words{"a", "", "  kept   as it is"}));
    EXPECT_EQ(wrap("", 5), Words{});
    EXPECT_EQ(wrap("日本 語", 4), (Words{"日本", "語"}));
    EXPECT_EQ(indent({"a", "", "b"}, 2), "  a\n\n  b\n");
}

TEST(Text, JoinsForPeople) {
    EXPECT_EQ(join_or({"a", "b", "c"}), "a, b or c");
    EXPECT_EQ(join_or({"a"}), "a");
    EXPECT_EQ(join_or({}), "");
}

TEST(Text, ControlCharactersDoNotReachTheTerminal) {
    EXPECT_EQ(printable("a\x1b[31mb\n"), "a?[31mb?");
    EXPECT_EQ(printable("caf\u00e9 \u202e x \xff"), "café ? x ?");
    EXPECT_EQ(printable("\u009b"), "?");
}

TEST(Text, ShellWordsAreQuotedWhenTheyMustBe) {
    EXPECT_EQ(shell_word("/home/a-b/x.key.json"), "/home/a-b/x.key.json");
    EXPECT_EQ(shell_word(""), "''");
    EXPECT_EQ(shell_word("my keys"), "'my keys'");
    EXPECT_EQ(shell_word("it's $HOME"), "'it'\\''s $HOME'");
}

}  // namespace
}  // namespace rhizome::cli
