// SPDX-License-Identifier: Apache-2.0
#include "cluster/decimal.h"

#include <gtest/gtest.h>

namespace rhizome::cluster {
namespace {

TEST(Decimal, ComparesWhatNumbersMean) {
    const std::string_view ascending[] = {"-1e3", "-12.5", "-1",  "-0.01", "0",   "1e-9",
                                          "0.1",  "1",     "1.5", "15",    "1e2", "1e400"};
    for (std::size_t i = 0; i < std::size(ascending); ++i)
        for (std::size_t k = 0; k < std::size(ascending); ++k)
            EXPECT_EQ(compare_numbers(ascending[i], ascending[k]), i <=> k) << ascending[i] << " " << ascending[k];
    EXPECT_EQ(compare_numbers("1.0", "10e-1"), std::strong_ordering::equal);
    EXPECT_EQ(compare_numbers("-0", "0.0"), std::strong_ordering::equal);
}

TEST(Decimal, KnowsWholeNumbersAndMultiples) {
    for (const std::string_view whole : {"0", "-3", "1.0", "1e3", "12.5e1"}) EXPECT_TRUE(is_whole(whole)) << whole;
    for (const std::string_view part : {"0.5", "1e-1", "12.5"}) EXPECT_FALSE(is_whole(part)) << part;
    struct Row {
        std::string_view number;
        std::string_view factor;
        bool is;
    };
    const Row rows[] = {{"0", "7", true},           {"14", "7", true},      {"15", "7", false},
                        {"0.3", "0.1", true},       {"1.23", "0.01", true}, {"1.235", "0.01", false},
                        {"1e20", "3", false},       {"-9", "3", true},      {"99999999999999999999999999", "9", true},
                        {"1e300", "1e-300", false}, {"5", "10", false},     {"100", "25e-1", true}};
    for (const Row& row : rows)
        EXPECT_EQ(is_multiple(row.number, row.factor), row.is) << row.number << " / " << row.factor;
}

}  // namespace
}  // namespace rhizome::cluster
