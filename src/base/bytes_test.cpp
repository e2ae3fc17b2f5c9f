// SPDX-License-Identifier: Apache-2.0
#include "base/bytes.h"

#include <gtest/gtest.h>

namespace rhizome {
namespace {

TEST(Bytes, HexGoesBothWays) {
    const Bytes bytes{0x00, 0x7f, 0xab, 0xff};
    EXPECT_EQ(to_hex(bytes), "007fabff");
    EXPECT_EQ(from_hex("007FabFF"), bytes);
    EXPECT_EQ(from_hex(""), Bytes{});
}

TEST(Bytes, HexRefusesOddLengthsAndOtherCharacters) {
    for (const char* bad : {"0", "0g", "g0", "0x00", "00 ", " 00", "\xff\xff"}) EXPECT_FALSE(from_hex(bad)) << bad;
    std::array<std::uint8_t, 2> out{};
    EXPECT_FALSE(from_hex_into("00", out));
    EXPECT_FALSE(from_hex_into("000000", out));
    EXPECT_TRUE(from_hex_into("0102", out));
}

TEST(Bytes, ConstantTimeEqualityAgreesWithEquality) {
    const Bytes a{1, 2, 3};
    EXPECT_TRUE(equal_in_constant_time(a, Bytes{1, 2, 3}));
    EXPECT_FALSE(equal_in_constant_time(a, Bytes{1, 2, 4}));
    EXPECT_FALSE(equal_in_constant_time(a, Bytes{0, 2, 3}));
    EXPECT_FALSE(equal_in_constant_time(a, Bytes{1, 2}));
    EXPECT_TRUE(equal_in_constant_time({}, {}));
}

TEST(Bytes, AMovedSecretLeavesZerosBehind) {
    SecretArray<4> secret{std::array<std::uint8_t, 4>{1, 2, 3, 4}};
    const SecretArray<4> moved = std::move(secret);
    EXPECT_EQ(moved, (SecretArray<4>{std::array<std::uint8_t, 4>{1, 2, 3, 4}}));
    EXPECT_EQ(secret, SecretArray<4>{});  // NOLINT(bugprone-use-after-move): that it is empty is the point
    SecretBytes long_secret{as_bytes("a passphrase")};
    const SecretBytes long_moved = std::move(long_secret);
    EXPECT_TRUE(long_secret.empty());  // NOLINT(bugprone-use-after-move)
    EXPECT_EQ(as_text(long_moved.view()), "a passphrase");
    EXPECT_EQ(long_moved.clone(), long_moved);
}

TEST(Bytes, WipingLeavesZeros) {
    Bytes bytes{1, 2, 3};
    wipe(bytes);
    EXPECT_EQ(bytes, (Bytes{0, 0, 0}));
    wipe({});
}

}  // namespace
}  // namespace rhizome
