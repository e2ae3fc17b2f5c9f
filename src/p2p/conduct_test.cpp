// SPDX-License-Identifier: Apache-2.0
#include "p2p/conduct.h"

#include <gtest/gtest.h>

namespace rhizome::p2p {
namespace {

using ledger::RejectCode;

const Time kConductTime = Time::from_unix_seconds(1'800'000'000);

ledger::MemberKey key(std::uint32_t number) {
    ledger::MemberKey identity{2};
    for (std::size_t i = 0; i < 4; ++i) identity[1 + i] = static_cast<std::uint8_t>(number >> (8 * i));
    return identity;
}

TEST(Conduct, EveryRefusalHasACost) {
    for (std::size_t i = 0; i < ledger::kRejectCodes; ++i)
        EXPECT_LE(cost_of(static_cast<RejectCode>(i)), kBanScore) << i;
    EXPECT_EQ(cost_of(RejectCode::BadVote), kBanScore);
    EXPECT_EQ(cost_of(RejectCode::TooManyPending), 0u) << "our pool is full: not their fault";
    EXPECT_LT(cost_of(RejectCode::FutureBlock), kBanScore / 5) << "clocks differ";
}

TEST(Conduct, BansSurviveTheDiskAndScoresDoNot) {
    Conduct conduct;
    EXPECT_TRUE(conduct.blame(key(1), kBanScore, "sealed nothing", kConductTime));
    EXPECT_TRUE(conduct.blame(key(2), kBanScore, "", kConductTime));
    EXPECT_FALSE(conduct.blame(key(3), kBanScore / 2, "half", kConductTime));
    const Bytes bytes = conduct.encode(kConductTime);
    const auto read = Conduct::decode(bytes);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->encode(kConductTime), bytes);
    ASSERT_EQ(read->bans(kConductTime).size(), 2u);
    EXPECT_TRUE(read->is_banned(key(1), kConductTime));
    EXPECT_EQ(read->bans(kConductTime)[0].why, "sealed nothing");
    EXPECT_EQ(read->bans(kConductTime)[0].times, 1u);
    EXPECT_FALSE(read->is_banned(key(1), kConductTime + Conduct::kBanFirst)) << "it ends when it would have ended";
    EXPECT_EQ(read->score(key(3), kConductTime), 0u);
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(Conduct::decode(ByteView{bytes}.first(size))) << size;
    Bytes longer = bytes;
    longer.push_back(0);
    EXPECT_FALSE(Conduct::decode(longer));
}

TEST(Conduct, ScoresAddUpAndFade) {
    Conduct conduct;
    EXPECT_FALSE(conduct.blame(key(1), 60, "a", kConductTime));
    EXPECT_EQ(conduct.score(key(1), kConductTime), 60u);
    EXPECT_EQ(conduct.score(key(1), kConductTime + seconds{100}), 50u);
    EXPECT_EQ(conduct.score(key(1), kConductTime + hours{1}), 0u);
    EXPECT_EQ(conduct.score(key(1), kConductTime - hours{1}), 60u) << "a clock set back forgives nothing";
    EXPECT_FALSE(conduct.blame(key(1), 49, "b", kConductTime + seconds{100}));
    EXPECT_TRUE(conduct.blame(key(1), 1, "c", kConductTime + seconds{100}));
    EXPECT_FALSE(conduct.is_banned(key(2), kConductTime + seconds{100})) << "each for itself";
    EXPECT_FALSE(conduct.blame(key(2), 0, "nothing", kConductTime));
    EXPECT_EQ(conduct.size(), 1u);
}

TEST(Conduct, BansEndAndDoubleAndCanBeLifted) {
    Conduct conduct;
    Time now = kConductTime;
    hours expected{1};
    for (int i = 0; i < 12; ++i) {
        EXPECT_TRUE(conduct.blame(key(1), kBanScore, "a bad vote", now));
        ASSERT_EQ(conduct.bans(now).size(), 1u);
        EXPECT_EQ(conduct.bans(now)[0].until - now, expected);
        EXPECT_EQ(conduct.bans(now)[0].why, "a bad vote");
        EXPECT_TRUE(conduct.is_banned(key(1), now + expected - seconds{1}));
        now += expected;
        EXPECT_FALSE(conduct.is_banned(key(1), now));
        expected = std::min<hours>(2 * expected, Conduct::kBanMax);
    }
    now += Conduct::kBanMax + hours{1};
    EXPECT_TRUE(conduct.blame(key(1), kBanScore, "again", now));
    EXPECT_EQ(conduct.bans(now)[0].until - now, hours{1}) << "a week without any";
    EXPECT_TRUE(conduct.lift(key(1), now));
    EXPECT_FALSE(conduct.lift(key(1), now));
    EXPECT_TRUE(conduct.bans(now).empty());
}

TEST(Conduct, AJumpOfTheClockNeitherEndsNorRevivesABan) {
    Conduct conduct;
    conduct.blame(key(1), kBanScore, "", kConductTime);
    conduct.shift(hours{12});
    EXPECT_TRUE(conduct.is_banned(key(1), kConductTime + hours{12}));
    EXPECT_FALSE(conduct.is_banned(key(1), kConductTime + hours{13}));
    conduct.shift(hours{-24});
    EXPECT_FALSE(conduct.is_banned(key(1), kConductTime + hours{13} - hours{24}));
}

TEST(Conduct, RemembersABoundedNumberAndBansBest) {
    Conduct conduct;
    for (std::uint32_t i = 0; i < 10; ++i) conduct.blame(key(i), kBanScore, "", kConductTime);
    for (std::uint32_t i = 10; i < 10'000; ++i) conduct.blame(key(i), 50, "", kConductTime);
    EXPECT_LE(conduct.size(), Conduct::kRecordsMax);
    EXPECT_EQ(conduct.bans(kConductTime).size(), 10u);
}

}  // namespace
}  // namespace rhizome::p2p
