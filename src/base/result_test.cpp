// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

#include <memory>
#include <utility>

#include <gtest/gtest.h>

namespace rhizome {
namespace {

enum class Fault { Odd, Large };
Error to_error(Fault fault) { return {ErrorKind::Invalid, fault == Fault::Odd ? "it is odd" : "it is large"}; }

Result<int, Fault> half(int number) {
    if (number % 2 != 0) return Fail{Fault::Odd};
    return number / 2;
}

Result<int, Fault> quarter(int number) {
    TRY(const auto once, half(number));
    TRY(const auto twice, half(once));
    return twice;
}

Result<std::string> quarter_as_text(int number) {
    TRY(const auto value, quarter(number));
    return std::to_string(value);
}

Result<void, Fault> even(int number) {
    TRY(half(number));
    return {};
}

TEST(Result, HoldsEitherAValueOrAReason) {
    EXPECT_EQ(half(4).value(), 2);
    EXPECT_EQ(half(3).error(), Fault::Odd);
    EXPECT_EQ(half(3).value_or(7), 7);
}

TEST(Result, TryHandsTheReasonUpward) {
    EXPECT_EQ(*quarter(8), 2);
    EXPECT_EQ(quarter(6).error(), Fault::Odd);
    EXPECT_TRUE(even(2));
    EXPECT_EQ(even(1).error(), Fault::Odd);
}

TEST(Result, AFaultBecomesAnErrorWithItsSentence) {
    EXPECT_EQ(*quarter_as_text(8), "2");
    EXPECT_EQ(quarter_as_text(7).error(), (Error{ErrorKind::Invalid, "it is odd"}));
}

TEST(Result, MovesValuesThatCannotBeCopied) {
    const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(5); };
    const auto pass = [&]() -> Result<std::unique_ptr<int>> {
        TRY(auto made, make());
        return made;
    };
    EXPECT_EQ(**pass(), 5);
}

TEST(Result, TryTakesExpressionsWithCommas) {
    const auto both = []() -> Result<int> {
        TRY(const auto pair, Result<std::pair<int, int>>{std::pair<int, int>{1, 2}});
        return pair.first + pair.second;
    };
    EXPECT_EQ(*both(), 3);
}

TEST(Result, ContextStandsInFrontOfTheSentence) {
    EXPECT_EQ(with_context("key.json", {ErrorKind::Corrupt, "the checksum differs"}).message,
              "key.json: the checksum differs");
}

TEST(ResultDeathTest, ReadingTheWrongSideStopsTheProcess) {
    EXPECT_DEATH((void)half(3).value(), "broken invariant: a Result was read on the side it does not hold");
    EXPECT_DEATH(ensure(1 > 2, "one is not above two"), "one is not above two");
}

}  // namespace
}  // namespace rhizome
