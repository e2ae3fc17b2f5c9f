// SPDX-License-Identifier: Apache-2.0
#include "core/detail/vote_relay.h"

#include <gtest/gtest.h>

namespace rhizome::core::detail {
namespace {

using consensus::Ballot;
using consensus::Epoch;
using consensus::VoteGroup;

constexpr PeerId kLeft{1};
constexpr PeerId kRight{2};
const Time kRelayTime = Time::from_unix_seconds(1'800'000'000);

Ballot ballot_of(std::uint64_t epoch) { return {.target = {Epoch{epoch}, {}}}; }

/// The votes of these members, sorted.
VoteGroup group_of(std::uint64_t epoch, std::initializer_list<std::uint8_t> members) {
    VoteGroup group{.ballot = ballot_of(epoch)};
    for (const std::uint8_t member : members) {
        VoteGroup::Signed one;
        one.voter[0] = 2;
        one.voter[1] = member;
        group.votes.push_back(one);
    }
    return group;
}

bool everything(const VoteRelay::Place&) { return true; }

struct Relay : ::testing::Test {
    void add(const VoteGroup& group, PeerId from) { relay.add(group.ballot, group.votes, from, kRelayTime); }
    VoteRelay relay;
};

TEST_F(Relay, NobodyIsSentWhatItSentOrWasSent) {
    add(group_of(5, {1, 3}), kLeft);
    add(group_of(5, {2}), {});
    EXPECT_EQ(relay.for_peer(kLeft, 100, everything), (std::vector{group_of(5, {2})}));
    EXPECT_EQ(relay.for_peer(kRight, 100, everything), (std::vector{group_of(5, {1, 2, 3})}));
    relay.note_heard(group_of(5, {1, 2, 9}), kRight);
    EXPECT_EQ(relay.for_peer(kRight, 100, everything), (std::vector{group_of(5, {3})}));
    relay.note_sent(relay.for_peer(kRight, 100, everything), kRight);
    EXPECT_EQ(relay.lacking(kRight, everything), 0u);
    EXPECT_EQ(relay.lacking(kLeft, everything), 1u);
}

TEST_F(Relay, WhoHasTheSameVotesOfAnEpochIsSentNoneOfThem) {
    add(group_of(5, {1, 2}), kLeft);
    add(group_of(6, {1, 2}), kLeft);
    relay.note_same(Epoch{5}, kRight);
    EXPECT_EQ(relay.for_peer(kRight, 100, everything), (std::vector{group_of(6, {1, 2})}));
    add(group_of(5, {3}), kLeft);
    EXPECT_EQ(relay.lacking(kRight, everything), 3u) << "what came later it may lack";
}

TEST_F(Relay, RowsAreForgottenWhenAllHaveThemAndTheyAreOld) {
    const PeerId both[] = {kLeft, kRight};
    add(group_of(5, {1}), kLeft);
    relay.tidy(both, kRelayTime);
    EXPECT_FALSE(relay.empty()) << "the right one lacks it";
    relay.note_sent(relay.for_peer(kRight, 100, everything), kRight);
    relay.tidy(both, kRelayTime - seconds{1});
    EXPECT_FALSE(relay.empty()) << "more may come, and who sent some is to get it";
    relay.tidy(both, kRelayTime);
    EXPECT_TRUE(relay.empty());
}

TEST_F(Relay, OnlyWhatIsPickedAndAsManyAsThereIsRoomFor) {
    add(group_of(5, {1, 2, 3}), kLeft);
    add(group_of(6, {1}), {});
    EXPECT_EQ(relay.for_peer(kRight, 2, everything), (std::vector{group_of(5, {1, 2})}));
    const auto heard = [](const VoteRelay::Place& row) { return row.heard; };
    EXPECT_EQ(relay.lacking(kRight, heard), 0u);
    relay.note_heard(group_of(5, {1}), kRight);
    EXPECT_EQ(relay.for_peer(kRight, 100, heard), (std::vector{group_of(5, {2, 3})}));
    relay.forget(kRight);
    EXPECT_EQ(relay.lacking(kRight, heard), 0u);
    EXPECT_EQ(relay.pattern(kRight), (std::vector<std::uint64_t>{0, 0}));
}

}  // namespace
}  // namespace rhizome::core::detail
