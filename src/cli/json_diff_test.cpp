// SPDX-License-Identifier: Apache-2.0
#include "cli/json_diff.h"

#include <gtest/gtest.h>

namespace rhizome::cli {
namespace {

std::string diff(std::string_view before, std::string_view after) {
    std::string text;
    for (const auto& change : field_changes(json::parse(before).value(), json::parse(after).value()))
        text += change.field + ": " + (change.before ? json::print(*change.before) : "-") + " > " +
                (change.after ? json::print(*change.after) : "-") + "\n";
    return text;
}

TEST(JsonDiff, NamesTheSmallestFieldsThatDiffer) {
    const struct {
        const char* before;
        const char* after;
        const char* expected;
    } rows[] = {
        {"{}", "{}", ""},
        {R"({"a":1,"b":2})", R"({"b":2,"a":1})", ""},
        {R"({"a":{"b":1}})", R"({"a":{"b":2}})", "a.b: 1 > 2\n"},
        {R"({"a":1})", R"({"b":1})", "a: 1 > -\nb: - > 1\n"},
        {R"({"a":{"x.y/z":"1"}})", R"({"a":{"x.y/z":"2"}})", "a[\"x.y/z\"]: \"1\" > \"2\"\n"},
        {R"({"a":[1,2]})", R"({"a":[1,3,4]})", "a[1]: 2 > 3\na[2]: - > 4\n"},
        {R"({"a":[{"b":1},2]})", R"({"a":[{"b":null}]})", "a[0].b: 1 > null\na[1]: 2 > -\n"},
        {R"({"a":[1]})", R"({"a":{"b":1}})", "a: [1] > {\"b\":1}\n"},
        {"1", "2", ": 1 > 2\n"},
    };
    for (const auto& row : rows) EXPECT_EQ(diff(row.before, row.after), row.expected) << row.before << row.after;
}

}  // namespace
}  // namespace rhizome::cli
