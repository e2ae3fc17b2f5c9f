// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

#include <unordered_set>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rhizome {
namespace {

using Fruit = Id<struct FruitTag, 20>;
using Height = Count<struct HeightTag>;

TEST(Ids, OrderIsThatOfTheBytes) {
    const auto low = Fruit::from_hex("00000000000000000000000000000000000000ff");
    const auto high = Fruit::from_hex("0100000000000000000000000000000000000000");
    ASSERT_TRUE(low && high);
    EXPECT_LT(*low, *high);
    // Which byte differs first decides, in the first word as behind it.
    for (std::size_t first = 0; first < Fruit::kSize; ++first) {
        Fruit less;
        Fruit more;
        less.writable()[first] = 1;
        more.writable()[first] = 0x80;
        if (first + 1 < Fruit::kSize) less.writable()[first + 1] = 0xff;
        EXPECT_LT(less, more) << first;
        EXPECT_GT(more, less) << first;
        EXPECT_EQ(less <=> Fruit{less}, std::strong_ordering::equal) << first;
    }
    EXPECT_TRUE(Fruit{}.is_zero());
    EXPECT_FALSE(low->is_zero());
}

TEST(Ids, PrintAndParseAgree) {
    const std::string hex = "0123456789abcdef0123456789abcdef01234567";
    EXPECT_EQ(Fruit::from_hex(hex)->hex(), hex);
    EXPECT_EQ(fmt::format("{}", *Fruit::from_hex(hex)), hex);
    EXPECT_FALSE(Fruit::from_hex(hex.substr(2)));
    EXPECT_FALSE(Fruit::from_hex(hex + "00"));
}

TEST(Ids, WorkInHashedSets) {
    std::unordered_set<Fruit> set{Fruit{}, *Fruit::from_hex("0123456789abcdef0123456789abcdef01234567")};
    EXPECT_EQ(set.count(Fruit{}), 1u);
}

TEST(Ids, CountsCount) {
    Height height{7};
    EXPECT_EQ(++height, Height{8});
    EXPECT_EQ(height + 2, Height{10});
    EXPECT_EQ(Height{10} - height, 2u);
    EXPECT_EQ(fmt::format("{}", height), "8");
}

TEST(IdsDeathTest, CountsDoNotWrapAround) {
    EXPECT_DEATH((void)(Height{UINT64_MAX} + 1), "overflow");
    EXPECT_DEATH((void)(Height{1} - 2), "below its range");
}

}  // namespace
}  // namespace rhizome
