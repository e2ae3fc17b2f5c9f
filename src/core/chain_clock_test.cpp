// SPDX-License-Identifier: Apache-2.0
#include "core/detail/chain_clock.h"

#include <gtest/gtest.h>

namespace rhizome::core::detail {
namespace {

using namespace std::chrono_literals;

constexpr Time kMorning = Time::from_unix_seconds(1'800'000'000);

ChainClock::Sight sight(Time tip) { return {.tip = tip, .tolerance = 500ms, .idle_most = 10s}; }

TEST(ChainClock, IsTheOwnClockWhileNoBlockIsAheadOfThat) {
    ChainClock clock;
    EXPECT_EQ(clock.begin(kMorning, sight(kMorning - 1h)), kMorning);
    EXPECT_EQ(clock.read(kMorning + 5s, 5s, sight(kMorning)), kMorning + 5s);
    EXPECT_EQ(clock.read(kMorning + 90s, 6s, sight(kMorning)), kMorning + 90s) << "it was set forward";
    EXPECT_EQ(clock.read(kMorning + 7s, 7s, sight(kMorning)), kMorning + 7s)
        << "and right again, before anybody stamped by it";
    EXPECT_FALSE(clock.is_ahead());
}

TEST(ChainClock, GoesOnAtHalfPaceWhenTheClockIsSetRightUntilThatHasCaughtUp) {
    ChainClock clock;
    (void)clock.begin(kMorning + 90s, sight(kMorning));
    (void)clock.read(kMorning + 94s, 4s, sight(kMorning + 91s));
    EXPECT_EQ(clock.read(kMorning + 4s, 4s, sight(kMorning + 91s)), kMorning + 94s) << "no step back";
    EXPECT_TRUE(clock.is_ahead());
    EXPECT_EQ(clock.read(kMorning + 24s, 24s, sight(kMorning + 91s)), kMorning + 104s);
    EXPECT_EQ(clock.ahead(), 80s);
    EXPECT_EQ(clock.wall_at(kMorning + 105s), kMorning + 26s);
    EXPECT_EQ(clock.read(kMorning + 183s, 183s, sight(kMorning + 170s)), kMorning + 94s + 89'500ms);
    EXPECT_EQ(clock.read(kMorning + 185s, 185s, sight(kMorning + 170s)), kMorning + 185s);
    EXPECT_FALSE(clock.is_ahead());
}

TEST(ChainClock, WhatStampsSayInAdvanceDoesNotMoveIt) {
    ChainClock clock;
    (void)clock.begin(kMorning, sight(kMorning + 90s));
    (void)clock.read(kMorning, 0s, sight(kMorning + 90s));
    Time tip = kMorning + 90s;
    for (int i = 1; i <= 1'000; ++i) {
        const Time at = clock.read(kMorning + i * 10ms, i * 10ms, sight(tip));
        tip = at + 1'500ms;  // as far as anybody takes
        EXPECT_EQ(at, kMorning + 90s + i * 5ms);
    }
}

TEST(ChainClock, ABlockThatAnHonestNodeMayTakeDoesNotMoveOneThatGoesByItself) {
    ChainClock clock;
    (void)clock.begin(kMorning, sight(kMorning));
    EXPECT_EQ(clock.read(kMorning + 1s, 1s, sight(kMorning + 1s + 1'500ms)), kMorning + 1s);
}

TEST(ChainClock, GoesOnFromTheTipWhenItsOwnTimeWasFurtherThanAnIdleChainIs) {
    ChainClock clock;
    (void)clock.begin(kMorning + 1h, sight(kMorning));
    EXPECT_EQ(clock.read(kMorning, 0s, sight(kMorning + 90s)), kMorning + 100s);
}

TEST(ChainClock, StandsForAClockThatIsOffByMoreThanADay) {
    ChainClock clock;
    EXPECT_EQ(clock.begin(kMorning, sight(kMorning + 25h)), kMorning);
    EXPECT_EQ(clock.read(kMorning + 1s, 1s, sight(kMorning + 25h)), kMorning + 1s);
    EXPECT_EQ(clock.read(kMorning + 2h, 2h, sight(kMorning + 25h)), kMorning + 25h) << "less than a day is left";
}

TEST(ChainClock, GoesByMostMembersWhenTheyAreAhead) {
    ChainClock clock;
    (void)clock.begin(kMorning, sight(kMorning));
    (void)clock.read(kMorning, 0s, sight(kMorning));
    EXPECT_FALSE(clock.follow(kMorning + 900ms)) << "clocks differ";
    EXPECT_TRUE(clock.follow(kMorning + 2h));
    EXPECT_EQ(clock.chain_time(), kMorning + 2h);
    EXPECT_FALSE(clock.follow(kMorning + 2h - 1s)) << "never back";
    EXPECT_EQ(clock.read(kMorning + 2s, 2s, sight(kMorning)), kMorning + 2h + 1s);
    EXPECT_TRUE(clock.follow(kMorning + 2h + 2s)) << "it follows closely from then on";
    EXPECT_EQ(clock.read(kMorning + 2h + 5s, 5s, sight(kMorning)), kMorning + 2h + 5s) << "it was set right";
    EXPECT_FALSE(clock.is_ahead());
}

TEST(ChainClock, GoesBackToWhereMostMembersAreButNotBehindTheTip) {
    ChainClock clock;
    (void)clock.begin(kMorning, sight(kMorning + 90s));
    (void)clock.read(kMorning, 0s, sight(kMorning + 90s));
    (void)clock.read(kMorning + 20s, 20s, sight(kMorning + 90s));
    EXPECT_FALSE(clock.fall_back(kMorning + 99'500ms, kMorning + 90s)) << "clocks differ";
    EXPECT_TRUE(clock.fall_back(kMorning + 95s, kMorning + 90s));
    EXPECT_EQ(clock.chain_time(), kMorning + 95s);
    EXPECT_TRUE(clock.fall_back(kMorning + 80s, kMorning + 90s));
    EXPECT_EQ(clock.chain_time(), kMorning + 90s);
    EXPECT_FALSE(clock.fall_back(kMorning + 80s, kMorning + 90s));
    ChainClock usual;
    (void)usual.begin(kMorning, sight(kMorning));
    EXPECT_FALSE(usual.fall_back(kMorning - 1h, kMorning - 1h)) << "it goes by its own clock";
}

TEST(ChainClock, LeavesATimeThatIsNoLongerTheChains) {
    ChainClock clock;
    (void)clock.begin(kMorning, sight(kMorning + 90s));
    EXPECT_EQ(clock.leave(sight(kMorning + 80s)), kMorning + 90s);
    EXPECT_EQ(clock.leave(sight(kMorning + 1s)), kMorning);
}

TEST(MostMembersAt, NoMinorityMovesIt) {
    struct Case {
        const char* name;
        std::vector<ClockHeard> members;
        microseconds most;
    };
    const Case cases[] = {
        {"one other, ahead", {{kMorning + 1h, 0s}}, 0s},
        {"one of three ahead", {{kMorning + 1h, 0s}, {kMorning, 0s}}, 0s},
        {"one of three behind", {{kMorning - 1h, 0s}, {kMorning, 0s}}, 0s},
        {"two of three ahead", {{kMorning + 1h, 0s}, {kMorning + 2h, 0s}}, 1h},
        {"half of four ahead", {{kMorning + 1h, 0s}, {kMorning + 1h, 0s}, {kMorning, 0s}}, 0s},
        {"three of four ahead", {{kMorning + 1h, 0s}, {kMorning + 1h, 0s}, {kMorning + 1h, 0s}}, 1h},
        {"what was said before counts half of the time since", {{kMorning - 4s, 8s}, {kMorning + 1h, 10s}}, 0s},
    };
    for (const Case& one : cases) {
        ChainClock own;
        (void)own.begin(kMorning, sight(kMorning));
        EXPECT_EQ(most_members_at(one.members, own), kMorning + one.most) << one.name;
    }
    ChainClock ahead;
    (void)ahead.begin(kMorning, sight(kMorning + 90s));
    EXPECT_EQ(most_members_at({}, ahead), std::nullopt);
    const std::vector<ClockHeard> other{{kMorning + 95s, 2s}};
    EXPECT_EQ(most_members_at(other, ahead), kMorning + 96s) << "its own clock says nothing about the chain's time";
}

TEST(IsClockAhead, CountsTheOwnClock) {
    struct Case {
        const char* name;
        std::vector<ClockHeard> members;
        bool is_pair;
        bool expected;
    };
    const Case cases[] = {
        {"alone", {}, false, false},
        {"one link of more", {{kMorning - 1h, 0s}}, false, false},
        {"the one of two that is ahead waits", {{kMorning - 1h, 0s}}, true, true},
        {"the one of two that is behind does not", {{kMorning + 1h, 0s}}, true, false},
        {"clocks of two differ a little", {{kMorning - 1'900ms, 0s}}, true, false},
        {"one other of three is ahead", {{kMorning + 90s, 0s}, {kMorning, 0s}}, false, false},
        {"one other of three is behind", {{kMorning - 2h, 0s}, {kMorning, 0s}}, false, false},
        {"this one of three is ahead", {{kMorning - 90s, 0s}, {kMorning - 90s, 0s}}, false, true},
        {"this one of three is behind", {{kMorning + 90s, 0s}, {kMorning + 90s, 0s}}, false, false},
        {"half of four are behind", {{kMorning - 90s, 0s}, {kMorning - 90s, 0s}, {kMorning, 0s}}, false, false},
        {"said some time ago", {{kMorning - 3s, 3s}, {kMorning - 3s, 3s}}, false, false},
    };
    for (const Case& one : cases)
        EXPECT_EQ(is_clock_ahead(one.members, kMorning, one.is_pair), one.expected) << one.name;
}

}  // namespace
}  // namespace rhizome::core::detail
