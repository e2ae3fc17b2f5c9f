// SPDX-License-Identifier: Apache-2.0
#include "base/u256.h"

#include <gtest/gtest.h>

namespace rhizome {
namespace {

U256 number(std::string_view hex) {
    std::string padded(64 - hex.size(), '0');
    return *U256::from_hex(padded.append(hex));
}

TEST(U256, BytesOfBothOrdersAndHexAgree) {
    const std::string hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const U256 value = *U256::from_hex(hex);
    EXPECT_EQ(value.hex(), hex);
    EXPECT_EQ(value.big_endian()[31], 0x1f);
    EXPECT_EQ(value.little_endian()[0], 0x1f);
    EXPECT_EQ(U256::from_big_endian(value.big_endian()), value);
    EXPECT_EQ(U256::from_little_endian(value.little_endian()), value);
    EXPECT_EQ(value.low64(), 0x18191a1b1c1d1e1fu);
    EXPECT_FALSE(U256::from_hex(hex.substr(2)));
    EXPECT_FALSE(U256::from_hex(hex + "00"));
    EXPECT_FALSE(U256::from_hex("x" + hex.substr(1)));
}

TEST(U256, OrderIsThatOfTheNumbers) {
    EXPECT_LT(U256{}, U256{1});
    EXPECT_LT(U256{UINT64_MAX}, U256::power_of_two(64));
    EXPECT_LT(number("0100000000000000020000000000000003"), number("0200000000000000010000000000000001"));
    EXPECT_LT(U256::power_of_two(255), U256::max());
}

TEST(U256, BitLength) {
    EXPECT_EQ(U256{}.bit_length(), 0u);
    EXPECT_EQ(U256{1}.bit_length(), 1u);
    EXPECT_EQ(U256::max().bit_length(), 256u);
    for (unsigned exponent = 0; exponent < 256; ++exponent) {
        EXPECT_EQ(U256::power_of_two(exponent).bit_length(), exponent + 1);
    }
}

TEST(U256, ShiftsCrossLimbsAndLoseWhatFallsOut) {
    const U256 value = number("8000000000000001");
    EXPECT_EQ(value << 0, value);
    EXPECT_EQ(value << 1, number("10000000000000002"));
    EXPECT_EQ(value << 64, number("80000000000000010000000000000000"));
    EXPECT_EQ((value << 130) >> 130, value);
    EXPECT_EQ(value >> 63, U256{1});
    EXPECT_EQ(U256::max() << 255, U256::power_of_two(255));
    EXPECT_EQ(U256::max() >> 255, U256{1});
    EXPECT_TRUE((U256::max() << 256).is_zero());
    EXPECT_TRUE((U256::max() >> 300).is_zero());
}

TEST(U256, SumsAndDifferencesSayWhenTheyDoNotFit) {
    EXPECT_EQ(add(number("ffffffffffffffffffffffffffffffff"), U256{1}).value, U256::power_of_two(128));
    EXPECT_FALSE(add(U256::max(), U256{}).overflow);
    EXPECT_TRUE(add(U256::max(), U256{1}).overflow);
    EXPECT_TRUE(add(U256::max(), U256{1}).value.is_zero());
    EXPECT_EQ(subtract(U256::power_of_two(192), U256{1}).value.bit_length(), 192u);
    EXPECT_FALSE(subtract(U256{5}, U256{5}).overflow);
    EXPECT_TRUE(subtract(U256{4}, U256{5}).overflow);
    EXPECT_EQ(subtract(U256{4}, U256{5}).value, U256::max());
}

TEST(U256, ProductsSayWhenTheyDoNotFit) {
    EXPECT_EQ(multiply(U256{UINT64_MAX}, UINT64_MAX).value, number("fffffffffffffffe0000000000000001"));
    EXPECT_FALSE(multiply(U256::power_of_two(192), UINT64_MAX).overflow);
    EXPECT_TRUE(multiply(U256::power_of_two(255), 2).overflow);
}

TEST(U256, AProductThatDoesNotFitCanStillBeDivided) {
    EXPECT_EQ(multiply_divide(U256::max(), 7, 7).value, U256::max());
    EXPECT_FALSE(multiply_divide(U256::max(), 7, 7).overflow);
    EXPECT_FALSE(multiply_divide(U256::max(), UINT64_MAX, UINT64_MAX).overflow);
    EXPECT_TRUE(multiply_divide(U256::max(), 8, 7).overflow);
    EXPECT_EQ(multiply_divide(U256{10}, 10, 7).value, U256{14});
}

TEST(U256, DivisionIsTheFloor) {
    EXPECT_EQ(divide(U256{17}, U256{5}).quotient, U256{3});
    EXPECT_EQ(divide(U256{17}, U256{5}).remainder, U256{2});
    EXPECT_EQ(divide(U256{4}, U256{5}).quotient, U256{});
    EXPECT_EQ(divide(U256::max(), U256::max()).quotient, U256{1});
    EXPECT_EQ(divide(U256::max(), U256{1}).quotient, U256::max());
    EXPECT_EQ(divide(U256::max(), U256{3}).quotient.hex(), std::string(64, '5'));
}

TEST(U256DeathTest, NothingIsDividedByZero) {
    EXPECT_DEATH((void)divide(U256{1}, U256{}), "divided by zero");
    EXPECT_DEATH((void)multiply_divide(U256{1}, 1, 0), "divided by zero");
}

}  // namespace
}  // namespace rhizome
