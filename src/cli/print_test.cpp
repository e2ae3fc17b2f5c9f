// SPDX-License-Identifier: Apache-2.0
#include "cli/print.h"

#include <gtest/gtest.h>

#include "cli/testing.h"

namespace rhizome::cli {
namespace {

Table sample() {
    Table table{{"NAME", "STATUS", "WHY"}};
    table.add({"alice", {"ok", Tone::Good}, ""});
    table.add({"日本", {"missing", Tone::Bad}, "because it was never there at all"});
    return table;
}

TEST(Table, ColumnsAreAligned) {
    EXPECT_EQ(sample().render(Style{}),
              "NAME    STATUS    WHY\n"
              "alice   ok\n"
              "日本    missing   because it was never there at all\n");
}

TEST(Table, TheWidestColumnsWrapOnANarrowTerminal) {
    EXPECT_EQ(sample().render(Style{}, 44),
              "NAME    STATUS    WHY\n"
              "alice   ok\n"
              "日本    missing   because it was never there\n"
              "                  at all\n");
    EXPECT_EQ(sample().render(Style{}, 1), sample().render(Style{}, 38)) << "never narrower than 20 columns";
    EXPECT_EQ(sample().render(Style{}, 200), sample().render(Style{}));

    Table two{{"A", "B", "C"}};
    two.add({"one two three four five six", "x", "seven eight nine ten eleven"});
    EXPECT_EQ(two.render(Style{}, 50),
              "A                       B   C\n"
              "one two three four      x   seven eight nine ten\n"
              "five six                    eleven\n");
}

TEST(Table, ColoursDoNotChangeTheColumns) {
    EXPECT_EQ(sample().render(Style{true}),
              "\x1b[1mNAME\x1b[0m    \x1b[1mSTATUS\x1b[0m    \x1b[1mWHY\x1b[0m\n"
              "alice   \x1b[32mok\x1b[0m\n"
              "日本    \x1b[1;31mmissing\x1b[0m   because it was never there at all\n");
}

TEST(Table, StrangersTextIsHarmless) {
    Table table{{"A"}};
    table.add({"x\x1b]0;title\x07\ny"});
    EXPECT_EQ(table.render(Style{}), "A\nx?]0;title??y\n");
}

TEST(Print, TheFormatIsChosenByTheOption) {
    const Command root{.name = "p",
                       .summary = "Print",
                       .options = {output_option()},
                       .run =
                           [](Invocation& call) {
                               json::Object data;
                               data.set("name", "1");
                               data.set("count", 2);
                               print_data(call, data, [] { return std::string{"a table\n"}; });
                               return ok();
                           },
                       .global_options = global_options()};
    testing::Harness harness;
    EXPECT_EQ(harness.run(root, {}).out, "a table\n");
    EXPECT_EQ(harness.run(root, {"-o", "json"}).out, "{\n  \"name\": \"1\",\n  \"count\": 2\n}\n");
    EXPECT_EQ(harness.run(root, {"-o=yaml"}).out, "name: \"1\"\ncount: 2\n");
    EXPECT_EQ(harness.run(root, {"-o", "xml"}).code, 2);
    const runtime::Environment::Variables yaml{{"RHIZOME_OUTPUT", "yaml"}};
    harness.console.environment = runtime::Environment{yaml};
    EXPECT_EQ(harness.run(root, {}).out, "name: \"1\"\ncount: 2\n");
}

TEST(Print, AgesAreShort) {
    const std::pair<microseconds, const char*> rows[] = {
        {seconds{-5}, "0s"},     {seconds{0}, "0s"},        {seconds{119}, "119s"},     {seconds{120}, "2m"},
        {seconds{200}, "3m20s"}, {minutes{10}, "10m"},      {minutes{179}, "179m"},     {minutes{190}, "3h10m"},
        {hours{8}, "8h"},        {hours{47}, "47h"},        {hours{48}, "2d"},          {hours{75}, "3d3h"},
        {hours{24 * 12}, "12d"}, {hours{24 * 729}, "729d"}, {hours{24 * 770}, "2y40d"}, {hours{24 * 365 * 9}, "9y"},
    };
    for (const auto& [age, text] : rows) EXPECT_EQ(age_text(age), text);
}

TEST(Fields, NamesStandInOneColumn) {
    Fields fields;
    fields.add("name", "a\x1b[31m");
    fields.add("a longer name", Cell{"b", Tone::Good});
    EXPECT_EQ(fields.render(Style{}), "name            a?[31m\na longer name   b\n");
    EXPECT_NE(fields.render(Style{true}).find("\x1b[32mb"), std::string::npos);
}

TEST(SizeText, HasOneDigitBehindThePoint) {
    const std::pair<std::uint64_t, const char*> rows[] = {{0, "0 B"},
                                                          {1023, "1023 B"},
                                                          {1024, "1.0 KiB"},
                                                          {1536, "1.5 KiB"},
                                                          {(1u << 20) - 1, "1023.9 KiB"},
                                                          {5u << 20, "5.0 MiB"},
                                                          {UINT64_MAX, "15.9 EiB"}};
    for (const auto& [bytes, text] : rows) EXPECT_EQ(size_text(bytes), text);
}

}  // namespace
}  // namespace rhizome::cli
