// SPDX-License-Identifier: Apache-2.0
#include "base/similar.h"

#include <gtest/gtest.h>

namespace rhizome {
namespace {

using Words = std::vector<std::string>;

TEST(Similar, EditDistanceKnowsSwaps) {
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

TEST(Similar, SuggestsOnlyWhatATypingMistakeExplains) {
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

TEST(Similar, AsksWhatWasMeant) {
    EXPECT_EQ(did_you_mean({"a", "b", "c"}), "did you mean \"a\", \"b\" or \"c\"?");
    EXPECT_EQ(did_you_mean({}), "");
}

}  // namespace
}  // namespace rhizome
