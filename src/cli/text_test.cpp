// SPDX-License-Identifier: Apache-2.0
#include "cli/text.h"

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

TEST(Text, EditDistanceKnowsSwaps) {
    struct Row {
        const char* from;
        const char* to;
        std::size_t distance;
    };
    const Row rows[] = {{"", "", 0},
                        {"", "abc", 3},
                        {"abc", "", 3},
                        {"doctor", "doctr", 1},
                        {"doctor", "dcotor", 1},
                        {"kitten", "sitting", 3},
                        {"josn", "json", 1}};
    for (const auto& row : rows) {
        EXPECT_EQ(edit_distance(row.from, row.to), row.distance) << row.from << " " << row.to;
        EXPECT_EQ(edit_distance(row.to, row.from), row.distance) << row.to << " " << row.from;
    }
}

TEST(Text, SuggestsOnlyWhatATypingMistakeExplains) {
    const Words names{"doctor", "version", "completion", "man", "help"};
    EXPECT_EQ(nearest("doctr", names), Words{"doctor"});
    EXPECT_EQ(nearest("DOCTOR", names), Words{"doctor"});
    EXPECT_EQ(nearest("vers", names), Words{"version"}) << "a beginning";
    EXPECT_EQ(nearest("mna", names), Words{"man"});
    EXPECT_EQ(nearest("apply", names), Words{});
    EXPECT_EQ(nearest("x", names), Words{});
    EXPECT_EQ(nearest("", names), Words{});
    EXPECT_EQ(nearest(std::string(100'000, 'x'), names), Words{});
    EXPECT_EQ(nearest("aaa1", {"aaa2", "aaa3", "aaa4", "aaa5"}).size(), 3u);
}

TEST(Text, JoinsForPeople) {
    EXPECT_EQ(join_or({"a", "b", "c"}), "a, b or c");
    EXPECT_EQ(join_or({"a"}), "a");
    EXPECT_EQ(join_or({}), "");
    EXPECT_EQ(did_you_mean({"a", "b"}), "did you mean \"a\" or \"b\"?");
    EXPECT_EQ(did_you_mean({}), "");
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
