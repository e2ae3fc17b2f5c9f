// SPDX-License-Identifier: Apache-2.0
#include "sim/attack.h"

#include <cmath>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rhizome::sim {
namespace {

const AttackRow* row_of(const AttackTable& table, std::uint32_t compromised) {
    for (const AttackRow& row : table.rows)
        if (row.compromised == compromised) return &row;
    return nullptr;
}

std::string text(const AttackTable& table) {
    std::string out = table.engine + "\n";
    for (const AttackRow& row : table.rows)
        out += fmt::format("{} of 100: {} expected {}{}{}\n", row.compromised, row.dummy_measured, row.dummy_expected,
                           row.discards_measured ? ", discarded" : "", row.is_as_expected() ? "" : "  <-- not so");
    return out + fmt::format("discarded from {} on, expected {}\n", table.discards_from_measured,
                             table.discards_from_expected);
}

// The figures of docs/spec/chain.md section 8, in hundredths of a percent.
TEST(Attack, WorkGivesTheTableOfTheSpec) {
    const AttackTable table = work_attack();
    EXPECT_TRUE(table.is_as_expected()) << text(table);
    EXPECT_EQ(table.engine, "work");
    EXPECT_EQ(table.discards_from_measured, 17u);
    const struct {
        std::uint32_t compromised;
        std::uint32_t dummy;
        bool discards;
    } rows[] = {{1, 481, false},    {5, 2'083, false}, {10, 3'571, false}, {15, 4'688, false},
                {16, 4'878, false}, {17, 5'060, true}, {20, 5'556, true},  {50, 8'333, true}};
    for (const auto& expected : rows) {
        const AttackRow* row = row_of(table, expected.compromised);
        ASSERT_NE(row, nullptr) << expected.compromised;
        EXPECT_EQ(row->dummy_expected, expected.dummy) << expected.compromised;
        EXPECT_NEAR(row->dummy_measured, expected.dummy, 150) << expected.compromised;
        EXPECT_EQ(row->discards_measured, expected.discards) << expected.compromised;
    }
}

TEST(Attack, EqualWeightGivesTheTableOfTheSpec) {
    const AttackTable table = equal_weight_attack();
    EXPECT_TRUE(table.is_as_expected()) << text(table);
    EXPECT_EQ(table.discards_from_measured, 51u);
    for (const std::uint32_t compromised : {1u, 10u, 33u, 50u, 51u}) {
        const AttackRow* row = row_of(table, compromised);
        ASSERT_NE(row, nullptr) << compromised;
        EXPECT_NEAR(row->dummy_measured, compromised * 100, 150) << compromised;
        EXPECT_EQ(row->discards_measured, compromised >= 51) << compromised;
    }
}

TEST(Attack, TheSeedDecidesAndNothingElse) {
    const AttackPlan plan{.seed = 7, .blocks = 2'000, .races = 3};
    EXPECT_EQ(text(work_attack(plan)), text(work_attack(plan)));
    EXPECT_NE(text(work_attack(plan)), text(work_attack({.seed = 8, .blocks = 2'000, .races = 3})));
}

TEST(Attack, HonestNodesThatGiveAllAreLostOnlyToAMajority) {
    const AttackTable table = work_attack({.seed = 2, .honest_hash_rate = 100'000});
    EXPECT_EQ(table.discards_from_expected, 51u);
    EXPECT_EQ(row_of(table, 17)->dummy_expected, 1'700u);
    EXPECT_NEAR(row_of(table, 17)->dummy_measured, 1'700, 150);
    EXPECT_FALSE(row_of(table, 20)->discards_measured);
}

TEST(Attack, AWrongFigureIsFoundOut) {
    AttackRow row{.compromised = 1, .dummy_measured = 631, .dummy_expected = 481};
    EXPECT_TRUE(row.is_as_expected());
    row.dummy_measured = 632;
    EXPECT_FALSE(row.is_as_expected());
    row.dummy_measured = 330;
    EXPECT_FALSE(row.is_as_expected());
    row.dummy_measured = 481;
    AttackTable table{.rows = {row}, .discards_from_measured = 17, .discards_from_expected = 17};
    EXPECT_TRUE(table.is_as_expected());
    table.rows[0].discards_measured = true;
    EXPECT_FALSE(table.is_as_expected());
    table.rows[0].discards_measured = false;
    table.discards_from_measured = 16;
    EXPECT_FALSE(table.is_as_expected());
}

TEST(HashesToFind, AreOnAverageTheMean) {
    for (const std::uint64_t mean : {2ull, 3ull, 100ull, 10'000'000ull, (1ull << 40) - 1}) {
        const HashesToFind search{mean};
        Random random{mean};
        constexpr int kDraws = 100'000;
        double sum = 0;
        int short_ones = 0;
        for (int i = 0; i < kDraws; ++i) {
            const auto hashes = search.draw(random);
            ASSERT_GE(hashes, 1u);
            sum += static_cast<double>(hashes);
            short_ones += hashes <= (mean + 1) / 2 ? 1 : 0;
        }
        // The deviation of a geometric draw is about its mean: of the average of 100,000, 0.3 %.
        EXPECT_NEAR(sum / kDraws / static_cast<double>(mean), 1.0, 0.015) << mean;
        // Half the mean is not reached with chance e^-1/2; small means follow 1 − (1 − 1/mean)^n.
        const double r = 1.0 - 1.0 / static_cast<double>(mean);
        const double expected = 1.0 - std::pow(r, static_cast<double>((mean + 1) / 2));
        EXPECT_NEAR(static_cast<double>(short_ones) / kDraws, expected, 0.008) << mean;
    }
}

}  // namespace
}  // namespace rhizome::sim
