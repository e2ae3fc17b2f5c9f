// SPDX-License-Identifier: Apache-2.0
#include "ledger/parameters.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "ledger/recovery_records.h"

namespace rhizome::ledger {
namespace {

Result<Parameters, Reject> read(std::string_view spec) {
    return read_parameters(json::parse(fmt::format(R"({{"spec":{}}})", spec)).value());
}

TEST(Parameters, WorkHasDefaults) {
    const auto parameters = read("{}");
    ASSERT_TRUE(parameters);
    EXPECT_EQ(parameters->work, (WorkRules{.hash_rate = 100'000, .block_time = seconds{5}, .period = 128}));
    EXPECT_EQ(read(R"({"work":{}})")->work, WorkRules{});
}

TEST(Parameters, WorkIsRead) {
    const auto parameters = read(R"({"consensus":"work","work":{"hashRate":2000000,"blockTime":"1m","period":2016}})");
    ASSERT_TRUE(parameters) << to_text(parameters.error());
    EXPECT_EQ(parameters->consensus, ConsensusId::Work);
    EXPECT_EQ(parameters->work, (WorkRules{.hash_rate = 2'000'000, .block_time = minutes{1}, .period = 2'016}));
}

TEST(Parameters, WorkOutOfRangeIsNamed) {
    const struct {
        const char* spec;
        const char* why;  ///< empty: good
    } rows[] = {
        {R"({"work":{"hashRate":1}})", ""},
        {R"({"work":{"hashRate":1000000000000000}})", ""},
        {R"({"work":{"hashRate":1000000000000001}})", "spec.work.hashRate is no whole number between 1 and"},
        {R"({"work":{"hashRate":0}})", "spec.work.hashRate is no whole number between 1 and"},
        {R"({"work":{"hashRate":-1}})", "spec.work.hashRate"},
        {R"({"work":{"hashRate":1.5}})", "spec.work.hashRate"},
        {R"({"work":{"hashRate":"100000"}})", "spec.work.hashRate"},
        {R"({"work":{"blockTime":"10ms"}})", ""},
        {R"({"work":{"blockTime":"1d"}})", ""},
        {R"({"work":{"blockTime":"9ms"}})", "spec.work.blockTime is no duration between 10ms and 1d"},
        {R"({"work":{"blockTime":"1d1ms"}})", "spec.work.blockTime"},
        {R"({"work":{"blockTime":"10500us"}})", "spec.work.blockTime"},
        {R"({"work":{"blockTime":5}})", "spec.work.blockTime"},
        {R"({"work":{"period":1}})", ""},
        {R"({"work":{"period":1000000}})", ""},
        {R"({"work":{"period":1000001}})", "spec.work.period is no whole number between 1 and 1000000"},
        {R"({"work":{"period":0}})", "spec.work.period"},
        {R"({"work":{"blocktime":"5s"}})", "spec.work has an unknown member \"blocktime\""},
        {R"({"work":5})", "spec.work is no object"},
        {R"({"consensus":"work","minInterval":"1s","work":{"blockTime":"2s"}})", ""},
        {R"({"consensus":"work","minInterval":"1s","work":{"blockTime":"1999ms"}})", "less than twice minInterval"},
        {R"({"consensus":"authority","minInterval":"1s","work":{"blockTime":"1s"}})", ""},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.spec);
        const auto parameters = read(row.spec);
        EXPECT_EQ(parameters.has_value(), *row.why == '\0');
        if (parameters) continue;
        EXPECT_EQ(parameters.error().code, RejectCode::BadEncoding);
        EXPECT_NE(parameters.error().why.find(row.why), std::string::npos) << parameters.error().why;
    }
}

TEST(Parameters, ARecoveryMayNameVoteRecords) {
    const auto records_in = [](std::string_view spec) {
        return recovery_records_in(json::parse(fmt::format(R"({{"spec":{}}})", spec)).value());
    };
    constexpr std::string_view kPlain = R"({"recovery":{"generation":1,"voters":["n1"]}})";
    EXPECT_TRUE(read(kPlain));
    EXPECT_TRUE(records_in(kPlain).empty()) << "as they were before there were any";
    EXPECT_TRUE(records_in("{}").empty());
    constexpr std::string_view kNamed =
        R"({"recovery":{"generation":1,"voters":["n1"],"records":{"n1":"000102030405060708090a0b0c0d0e0f"}}})";
    EXPECT_TRUE(read(kNamed));
    ASSERT_EQ(records_in(kNamed).size(), 1u);
    EXPECT_EQ(records_in(kNamed).at("n1")[15], 15);
    for (const char* wrong :
         {R"({"n1":"00"})", R"({"n1":5})", R"(["n1"])", R"({"n1":"000102030405060708090A0B0C0D0E0F"})"})
        EXPECT_FALSE(read(std::string{R"({"recovery":{"generation":1,"records":)"} + wrong + "}}")) << wrong;
}

TEST(Parameters, TheHashRateIsFixedTheRestOfWorkIsNot) {
    const Parameters before;
    Parameters after;
    after.work.block_time = seconds{60};
    after.work.period = 1;
    EXPECT_TRUE(check_parameter_change(before, after));
    after.work.hash_rate += 1;
    const auto refused = check_parameter_change(before, after);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().why.find("spec.work.hashRate is fixed at genesis"), std::string::npos);
}

}  // namespace
}  // namespace rhizome::ledger
