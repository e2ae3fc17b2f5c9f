// SPDX-License-Identifier: Apache-2.0
#include "crypto/compact_target.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rhizome::crypto {
namespace {

using std::chrono::milliseconds;

TEST(CompactTarget, EncodingRoundsDownAndDecodesToItself) {
    Random random{8};
    for (int round = 0; round < 2000; ++round) {
        std::array<std::uint8_t, 32> bytes;
        random.fill(bytes);
        const U256 target = U256::from_little_endian(bytes) >> static_cast<unsigned>(random.below(257));
        const std::uint32_t bits = encode_compact(target);
        const CompactTarget decoded = decode_compact(bits);
        EXPECT_FALSE(decoded.negative);
        EXPECT_FALSE(decoded.overflow);
        EXPECT_LE(decoded.target, target);
        // At least 15 bits of mantissa stay.
        EXPECT_LE(subtract(target, decoded.target).value, target >> 15);
        EXPECT_EQ(encode_compact(decoded.target), bits);
    }
}

TEST(CompactTarget, HarderTargetsAreMoreWork) {
    U256 last = U256::max();
    for (unsigned exponent = 1; exponent < 256; ++exponent) {
        const U256 work = work_of(U256::power_of_two(exponent));
        EXPECT_LT(work, last);
        EXPECT_GT(work, U256{});
        last = work;
    }
    EXPECT_EQ(work_of(subtract(U256::power_of_two(224), U256{1}).value), U256::power_of_two(32));
}

TEST(CompactTarget, RetargetRefusesBitsThatAreNoTarget) {
    const auto next = [](std::uint32_t bits, std::uint32_t limit) {
        return retarget(bits, milliseconds{1}, milliseconds{1}, limit);
    };
    EXPECT_EQ(next(0x1d80ffff, 0x207fffff).error(), TargetFault::Negative);
    EXPECT_EQ(next(0, 0x207fffff).error(), TargetFault::Zero);
    EXPECT_EQ(next(0x207fffff, 0x1d00ffff).error(), TargetFault::AboveLimit);
    EXPECT_EQ(next(0x1d00ffff, 0xff7fffff).error(), TargetFault::Overflow);
    EXPECT_TRUE(next(0x1d00ffff, 0x207fffff));
}

TEST(CompactTarget, RetargetStandsTheLongestPeriods) {
    const auto next = retarget(0x1d00ffff, milliseconds::max(), milliseconds::max(), 0x207fffff);
    EXPECT_EQ(next.value(), 0x1d00ffffu);
    EXPECT_EQ(retarget(0x1d00ffff, milliseconds::min(), milliseconds::max(), 0x207fffff).value(), 0x1c3fffbfu);
}

TEST(CompactTarget, FaultsHaveNamesAndSentences) {
    for (const auto fault :
         {TargetFault::Negative, TargetFault::Overflow, TargetFault::Zero, TargetFault::AboveLimit}) {
        EXPECT_FALSE(name(fault).empty());
        EXPECT_EQ(to_error(fault).kind, ErrorKind::Invalid);
        EXPECT_FALSE(to_error(fault).message.empty());
    }
}

}  // namespace
}  // namespace rhizome::crypto
