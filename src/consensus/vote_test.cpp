// SPDX-License-Identifier: Apache-2.0
#include "consensus/vote.h"

#include <gtest/gtest.h>

#include "consensus/attestations.h"
#include "consensus/voting.h"

namespace rhizome::consensus {
namespace {

MemberKey key_of(std::uint8_t number) {
    MemberKey key{};
    key[0] = 2;
    key[32] = number;
    return key;
}

BlockHash voted_block(std::uint8_t number) {
    BlockHash hash;
    hash.writable()[31] = number;
    return hash;
}

Vote vote_of(std::uint8_t voter, std::uint64_t source, std::uint64_t target, std::uint8_t block = 1,
             std::uint64_t generation = 0) {
    Vote vote{.voter = key_of(voter)};
    vote.ballot = {.generation = generation,
                   .source = {Epoch{source}, voted_block(0)},
                   .target = {Epoch{target}, voted_block(block)}};
    vote.signature[0] = voter;
    return vote;
}

TEST(Vote, EpochsAndSlotsAreCutFromUnixTime) {
    const Time time = Time::from_unix_millis(1'000'249);
    EXPECT_EQ(epoch_of(time, milliseconds{250}), Epoch{4'000});
    EXPECT_EQ(end_of(Epoch{4'000}, milliseconds{250}), Time::from_unix_millis(1'000'250));
    EXPECT_EQ(slot_of(Epoch{39}, milliseconds{250}, milliseconds{5'000}), Slot{1});
    // A stranger's epoch ends, however large it is.
    EXPECT_GT(end_of(Epoch{UINT64_MAX}, milliseconds{250}), Time::from_unix_seconds(4'000'000'000));
}

TEST(Vote, ContradictionsAreTwoVotesInAnEpochOrOneAroundTheOther) {
    struct Row {
        const char* name;
        Vote left, right;
        std::optional<Contradiction> expected;
    };
    const Row rows[] = {
        {"the same vote", vote_of(1, 1, 2), vote_of(1, 1, 2), std::nullopt},
        {"two members", vote_of(1, 1, 2, 1), vote_of(2, 1, 2, 2), std::nullopt},
        {"two targets in one epoch", vote_of(1, 1, 2, 1), vote_of(1, 1, 2, 2), Contradiction::SameEpoch},
        {"two sources in one epoch", vote_of(1, 1, 3, 1), vote_of(1, 2, 3, 1), Contradiction::SameEpoch},
        {"around", vote_of(1, 1, 9), vote_of(1, 2, 3), Contradiction::Surround},
        {"inside", vote_of(1, 2, 3), vote_of(1, 1, 9), Contradiction::Surround},
        {"one after the other", vote_of(1, 1, 2), vote_of(1, 2, 3), std::nullopt},
        {"the same source", vote_of(1, 1, 2), vote_of(1, 1, 3), std::nullopt},
        {"another generation", vote_of(1, 1, 9), vote_of(1, 2, 3, 1, 1), std::nullopt},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(contradiction(row.left, row.right), row.expected) << row.name;
        EXPECT_EQ(contradiction(row.right, row.left), row.expected) << row.name;
    }
}

TEST(Vote, DigestsDifferByChainAndByEveryField) {
    const Vote vote = vote_of(1, 1, 2);
    const ledger::ChainId here{voted_block(7).view()}, there{voted_block(8).view()};
    Ballot other = vote.ballot;
    other.derived_root = crypto::sha256(ByteView{});
    EXPECT_NE(digest_of(vote.ballot, here), digest_of(vote.ballot, there));
    EXPECT_NE(digest_of(vote.ballot, here), digest_of(other, here));
    other = vote.ballot;
    other.generation = 1;
    EXPECT_NE(digest_of(vote.ballot, here), digest_of(other, here));
}

TEST(Attestations, ASetHasOneEncoding) {
    const std::vector<Vote> votes{vote_of(3, 1, 2), vote_of(1, 1, 2), vote_of(2, 1, 2, 2), vote_of(1, 1, 2)};
    const Bytes bytes = encode_votes(votes);
    const auto read = decode_votes(bytes, 10);
    ASSERT_TRUE(read);
    ASSERT_EQ(read->size(), 3u);  // the one that came twice is there once
    EXPECT_EQ(encode_votes(*read), bytes);
    EXPECT_LE(bytes.size(), encoded_votes_bytes_max(3, 2));
    EXPECT_TRUE(encode_votes({}).empty());
    EXPECT_TRUE(decode_votes({}, 10)->empty());
}

TEST(Attestations, EveryOtherEncodingIsRefused) {
    const std::vector<Vote> votes{vote_of(1, 1, 2), vote_of(2, 1, 2)};
    const Bytes good = encode_votes(votes);
    EXPECT_EQ(decode_votes(good, 1).error(), DecodeFault::TooLong);
    Bytes longer = good;
    longer.push_back(0);
    EXPECT_EQ(decode_votes(longer, 10).error(), DecodeFault::Trailing);
    for (std::size_t size = 1; size < good.size(); ++size)
        EXPECT_FALSE(decode_votes(ByteView{good}.first(size), 10)) << size;
    // Voters the other way round.
    Bytes swapped = good;
    const std::size_t first = 1 + kBallotBytes + 1, each = 33 + 64;
    std::swap_ranges(swapped.begin() + static_cast<std::ptrdiff_t>(first),
                     swapped.begin() + static_cast<std::ptrdiff_t>(first + each),
                     swapped.begin() + static_cast<std::ptrdiff_t>(first + each));
    EXPECT_EQ(decode_votes(swapped, 10).error(), DecodeFault::NotCanonical);
    const Bytes no_groups{0};
    EXPECT_EQ(decode_votes(no_groups, 10).error(), DecodeFault::NotCanonical);
    // A vote from the future to the past.
    const std::vector<Vote> backwards{vote_of(1, 2, 2)};
    EXPECT_EQ(decode_votes(encode_votes(backwards), 10).error(), DecodeFault::BadValue);
}

TEST(Voting, TheShortestPeriodGoesByTheNumberOfVoters) {
    const ledger::Parameters parameters;  // 250 ms epochs, 5 s heartbeat
    const VotingPace pace;
    EXPECT_EQ(pace.period({.voters = 1}, parameters), 2u);
    EXPECT_EQ(pace.period({.voters = 64}, parameters), 2u);
    EXPECT_EQ(pace.period({.voters = 65}, parameters), 2u);
    EXPECT_EQ(pace.period({.voters = 128}, parameters), 4u);
    EXPECT_EQ(pace.period({.voters = 300}, parameters), 8u);
    EXPECT_EQ(pace.period({.voters = 10'000}, parameters), 20u) << "everybody votes once a heartbeat";
    EXPECT_EQ(pace.period({.voters = 4, .tip_is_final = true}, parameters), 20u);
    EXPECT_EQ(pace.place(Epoch{38}, {.voters = 4, .tip_is_final = true}, parameters), 0u) << "the slot's last pair";
    EXPECT_EQ(pace.place(Epoch{40}, {.voters = 4, .tip_is_final = true}, parameters), 2u);
    EXPECT_EQ(pace.place(Epoch{41}, {.voters = 300}, parameters), 1u);
    ledger::Parameters hasty;
    hasty.heartbeat = milliseconds{1'000};
    EXPECT_EQ(pace.period({.voters = 300}, hasty), 4u);
}

TEST(Voting, WhereNothingBecomesFinalThePeriodGrowsAndShrinksWithTheTimeVotesTake) {
    const ledger::Parameters parameters;
    const VotingPace::Sight sight{.voters = 4};
    VotingPace pace;
    Epoch epoch{1'000};
    const auto pair = [&](Epoch final) { pace.note_first(epoch = epoch + 16, sight, final, false); };
    const auto came_round_after = [&](milliseconds time) {
        pace.note_justified(epoch, end_of(epoch, parameters.epoch) + pace.kSettleMin + time, parameters);
    };
    for (int i = 0; i < 10; ++i) pair(epoch);
    EXPECT_EQ(pace.period(sight, parameters), 2u);
    const Epoch stuck_at = epoch;
    for (int i = 0; i < 40; ++i) pair(stuck_at);
    EXPECT_EQ(pace.period(sight, parameters), 20u) << "a slot's";
    EXPECT_EQ(pace.place(Epoch{1'000}, sight, parameters), 0u) << "pairs begin with the slots";
    EXPECT_EQ(pace.period({.voters = 4, .tip_is_final = true}, parameters), 20u);

    pace.note_justified(epoch - 1, end_of(epoch, parameters.epoch), parameters);
    EXPECT_EQ(pace.period(sight, parameters), 20u) << "not the open pair";
    came_round_after(milliseconds{700});
    EXPECT_EQ(pace.period(sight, parameters), 8u) << "2 s are enough for twice 700 ms";
    pair(epoch);
    came_round_after(milliseconds{5});
    EXPECT_EQ(pace.period(sight, parameters), 2u);
}

TEST(Voting, WhereVotesSplitMembersWaitLongerForBlocks) {
    const ledger::Parameters parameters;
    VotingPace pace;
    EXPECT_EQ(pace.settle(), VotingPace::kSettleMin);
    for (std::uint64_t i = 1; i < 10; ++i) pace.note_first(Epoch{i}, {.voters = 4}, {}, true);
    EXPECT_EQ(pace.settle(), VotingPace::kSettleMax);
    for (std::uint64_t i = 10; i < 30; ++i) {
        pace.note_first(Epoch{i}, {.voters = 4}, {}, false);
        pace.note_justified(Epoch{i}, {}, parameters);
    }
    EXPECT_EQ(pace.settle(), VotingPace::kSettleMin);
}

}  // namespace
}  // namespace rhizome::consensus
