// SPDX-License-Identifier: Apache-2.0
#include "cluster/quantity.h"

#include <gtest/gtest.h>

namespace rhizome::cluster {
namespace {

TEST(Quantity, PrintsAsKubernetesDoes) {
    const struct {
        std::string_view text;
        std::string_view printed;
    } rows[] = {
        {"0", "0"},
        {"0Ki", "0"},
        {"000", "0"},
        {"-0", "0"},
        {"1", "1"},
        {"+1", "1"},
        {"01", "1"},
        {"1.0", "1"},
        {".5", "500m"},
        {"5.", "5"},
        {"0.5", "500m"},
        {"1.5", "1500m"},
        {"100m", "100m"},
        {"1000m", "1"},
        {"1500m", "1500m"},
        {"0.001", "1m"},
        {"0.0005", "500u"},
        {"1u", "1u"},
        {"1n", "1n"},
        {"0.1n", "1n"},  // some is never none
        {"-0.1n", "-1n"},
        {"1.0000000001", "1000000001n"},
        {"1000", "1k"},
        {"1000k", "1M"},
        {"1500k", "1500k"},
        {"12e6", "12e6"},
        {"12E6", "12e6"},
        {"12e2", "1200"},
        {"1e3", "1e3"},
        {"1e-3", "1e-3"},
        {"1e0", "1"},
        {"1Ki", "1Ki"},
        {"1024Ki", "1Mi"},
        {"0.5Gi", "512Mi"},
        {"1.5Gi", "1536Mi"},
        {"100.5Ki", "102912"},
        {"512", "512"},
        {"1023Ki", "1023Ki"},
        {"0.5Ki", "512"},
        {"0.0001Ki", "102400u"},  // less than a byte is said in decimals
        {"2Ei", "2Ei"},
        {"7Ei", "7Ei"},
        {"8Ei", "9223372036854775807"},
        {"1E", "1E"},
        {"9223372036854775807", "9223372036854775807"},
        {"9223372036854775807000m", "9223372036854775807"},
        {"-1500m", "-1500m"},
        {"-1Gi", "-1Gi"},
        {"123456789012345678901234", "123456789012345678901234"},
    };
    for (const auto& row : rows) {
        const auto read = Quantity::parse(row.text);
        ASSERT_TRUE(read) << row.text << ": " << read.error().message;
        EXPECT_EQ(read->text(), row.printed) << row.text;
        EXPECT_EQ(Quantity::parse(read->text()).value(), *read) << row.text;
    }
}

TEST(Quantity, RefusesWithTheWordsOfKubernetes) {
    const std::string form =
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    const struct {
        std::string_view text;
        std::string why;
    } rows[] = {
        {"", form},
        {"aoeu", form},
        {"1 ", form},
        {" 1", form},
        {"-", form},
        {"1Gib", form},
        {"0.1am", form},
        {".", "unable to parse numeric part of quantity"},
        {"1i", "unable to parse quantity's suffix"},
        {"0.1mi", "unable to parse quantity's suffix"},
        {"1KK", "unable to parse quantity's suffix"},
        {"-3.01e-", "unable to parse quantity's suffix"},
        {"1K", "unable to parse quantity's suffix"},
        {"1000000000000000000000000000000", "quantities end at 10^27: this one is larger"},
        {"1e9999", "quantities end at 10^27: this one is larger"},
    };
    for (const auto& row : rows) {
        const auto read = Quantity::parse(row.text);
        ASSERT_FALSE(read) << row.text << " became " << read->text();
        EXPECT_EQ(read.error().message, row.why) << row.text;
    }
    EXPECT_FALSE(Quantity::from_value(json::Value(true)));
    EXPECT_EQ(Quantity::from_value(json::Value(3)).value().text(), "3");
    EXPECT_EQ(Quantity::from_value(json::parse("0.25").value()).value().text(), "250m");
}

TEST(Quantity, CountsAndCompares) {
    EXPECT_EQ(Quantity::parse("1500m").value().units(), 2);
    EXPECT_EQ(Quantity::parse("1500m").value().milli(), 1500);
    EXPECT_EQ(Quantity::parse("-1500m").value().units(), -2);
    EXPECT_EQ(Quantity::parse("1Gi").value().units(), 1 << 30);
    EXPECT_EQ(Quantity::parse("123456789012345678901234").value().units(), std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(Quantity::parse("1Ki").value(), Quantity::of(1024));
    EXPECT_LT(Quantity::parse("999m").value(), Quantity::of(1));
    EXPECT_EQ(Quantity::of_milli(250).text(), "250m");
    EXPECT_EQ(Quantity::of(1).plus(Quantity::of_milli(500)).value().text(), "1500m");
    EXPECT_EQ(Quantity{}.plus(Quantity::parse("1Gi").value()).value().text(), "1Gi") << "zero has no family";
    EXPECT_EQ(Quantity::parse("2Gi").value().minus(Quantity::parse("512Mi").value()).value().text(), "1536Mi");
    EXPECT_FALSE(Quantity::parse("1.5").value().is_whole());
    const Quantity largest = Quantity::parse("999999999E").value();
    EXPECT_FALSE(largest.plus(largest)) << "beyond the bound";
    EXPECT_TRUE(largest.minus(largest)->is_zero());
}

}  // namespace
}  // namespace rhizome::cluster
