// SPDX-License-Identifier: Apache-2.0
#include "consensus/vote_book.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "consensus/own_votes.h"

namespace rhizome::consensus {
namespace {

MemberKey key_of(std::size_t number) {
    MemberKey key{};
    key[0] = 2;
    key[32] = static_cast<std::uint8_t>(number);
    return key;
}

BlockHash block_of(std::uint8_t number) {
    BlockHash hash;
    hash.writable()[31] = number;
    return hash;
}

Checkpoint point(std::uint64_t epoch, std::uint8_t block) { return {Epoch{epoch}, block_of(block)}; }

/// Blocks whose electorates are written down by the test.
struct Lore final : BlockLore {
    std::map<BlockHash, Electorate> known;
    ledger::Trust how = ledger::Trust::Crash;
    const Electorate* electorate_of(const BlockHash& block) const override {
        const auto at = known.find(block);
        return at == known.end() ? nullptr : &at->second;
    }
    ledger::Trust trust() const override { return how; }
    void learn(std::uint8_t block, std::size_t voters, std::vector<MemberKey> next = {}, std::uint64_t generation = 0) {
        Electorate electorate{.generation = generation, .next = std::move(next)};
        for (std::size_t i = 0; i < voters; ++i) electorate.voters.push_back(key_of(i));
        known[block_of(block)] = electorate;
    }
};

class VoteBookTest : public ::testing::Test {
protected:
    VoteBook::Outcome vote(std::size_t voter, const Checkpoint& source, const Checkpoint& target,
                           std::uint64_t generation = 0) {
        return book.add({.voter = key_of(voter), .ballot = {generation, source, target, {}}}, lore);
    }
    Lore lore;
    Checkpoint root = point(0, 0);
    VoteBook book{0, root};
};

TEST_F(VoteBookTest, AQuorumJustifiesAndASecondOneInTheNextEpochFinalises) {
    lore.learn(1, 4);
    lore.learn(2, 4);
    EXPECT_FALSE(vote(0, root, point(10, 1)).justified_more);
    EXPECT_FALSE(vote(1, root, point(10, 1)).justified_more);
    EXPECT_TRUE(vote(2, root, point(10, 1)).justified_more);
    EXPECT_TRUE(book.is_justified(point(10, 1)));
    vote(0, point(10, 1), point(11, 2));
    vote(1, point(10, 1), point(11, 1));  // targets may differ
    EXPECT_EQ(book.final_checkpoint(), root);
    EXPECT_TRUE(vote(3, point(10, 1), point(11, 2)).final_more);
    EXPECT_EQ(book.final_checkpoint(), point(10, 1));
    EXPECT_EQ(count_votes(book.votes_final(point(10, 1))), 6u);
}

TEST_F(VoteBookTest, VotesTwoEpochsLaterFinaliseNothing) {
    lore.learn(1, 3);
    lore.learn(2, 3);
    for (std::size_t i = 0; i < 3; ++i) vote(i, root, point(10, 1));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(vote(i, point(10, 1), point(12, 2)).final_more);
    EXPECT_EQ(book.final_checkpoint(), root);
    EXPECT_TRUE(book.is_justified(point(12, 2)));
}

TEST_F(VoteBookTest, WhereNodesMayLieTwoThirdsAreNeeded) {
    lore.how = ledger::Trust::Byzantine;
    lore.learn(1, 4);
    for (std::size_t i = 0; i < 2; ++i) EXPECT_FALSE(vote(i, root, point(10, 1)).justified_more);
    EXPECT_TRUE(vote(2, root, point(10, 1)).justified_more);
    EXPECT_EQ(quorum_of(3, ledger::Trust::Byzantine), 3u);
    EXPECT_EQ(quorum_of(100, ledger::Trust::Byzantine), 67u);
    EXPECT_EQ(quorum_of(100, ledger::Trust::Crash), 51u);
}

TEST_F(VoteBookTest, DuringAChangeBothSetsMustAgree) {
    lore.learn(1, 3, {key_of(2), key_of(3), key_of(4)});
    vote(0, root, point(10, 1));
    EXPECT_FALSE(vote(1, root, point(10, 1)).justified_more) << "a quorum of the old voters alone";
    EXPECT_FALSE(vote(3, root, point(10, 1)).justified_more) << "one of the new";
    EXPECT_TRUE(vote(4, root, point(10, 1)).justified_more);
}

TEST_F(VoteBookTest, VotesForUnknownBlocksCountOnceTheBlockIsKnown) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_FALSE(vote(i, root, point(10, 1)).justified_more);
    EXPECT_EQ(book.unsettled().size(), 1u);
    lore.learn(1, 3);
    EXPECT_TRUE(book.block_known(block_of(1), lore).justified_more);
    EXPECT_TRUE(book.unsettled().empty());
}

TEST_F(VoteBookTest, ContradictionsAreToldAndNotCounted) {
    lore.learn(1, 3);
    lore.learn(2, 3);
    vote(0, root, point(10, 1));
    const auto outcome = vote(0, root, point(10, 2));
    EXPECT_EQ(outcome.taken, VoteBook::Taken::Contradicts);
    ASSERT_TRUE(outcome.other);
    EXPECT_EQ(outcome.other->ballot.target, point(10, 1));
    vote(1, point(5, 1), point(6, 1));
    EXPECT_EQ(vote(1, root, point(10, 1)).taken, VoteBook::Taken::Contradicts) << "around the one before";
    EXPECT_EQ(vote(0, root, point(10, 1)).taken, VoteBook::Taken::Known);
}

TEST_F(VoteBookTest, LateVotesDecideNothingAndAreKeptForBlocks) {
    lore.learn(1, 3);
    lore.learn(2, 3);
    for (std::size_t i = 0; i < 2; ++i) vote(i, root, point(100, 1));
    for (std::size_t i = 0; i < 2; ++i) vote(i, point(100, 1), point(101, 1));
    ASSERT_EQ(book.final_checkpoint(), point(100, 1));
    const auto late = vote(2, root, point(90, 2));
    EXPECT_EQ(late.taken, VoteBook::Taken::New);
    vote(0, root, point(90, 2));
    EXPECT_FALSE(book.is_justified(point(90, 2))) << "what is decided stays so";
    book.tidy();
    EXPECT_EQ(count_votes(book.votes_for(point(90, 2))), 1u) << "the other contradicts";
    EXPECT_EQ(vote(2, root, point(100 - VoteBook::kEpochsCarried - 1, 2)).taken, VoteBook::Taken::TooOld);
}

TEST_F(VoteBookTest, AClaimIsProvenByVotesOfThoseWhoContradictThemselves) {
    lore.learn(1, 3);
    const Electorate electorate = lore.known[block_of(1)];
    const Checkpoint ours = point(10, 1);
    const Checkpoint theirs = point(12, 2);
    for (std::size_t i = 0; i < 2; ++i) vote(i, root, ours);
    for (std::size_t i = 0; i < 2; ++i) vote(i, ours, point(11, 1));
    vote(1, ours, point(13, 1));
    ASSERT_EQ(book.final_checkpoint(), ours);
    const auto theirs_by = [&](std::size_t voter) {
        vote(voter, root, theirs);
        vote(voter, theirs, point(13, 2));
    };
    theirs_by(1);
    theirs_by(2);
    EXPECT_FALSE(book.is_proven(theirs, electorate, lore.trust())) << "nobody has claimed it";
    const VoteGroup again{.ballot = {0, root, theirs, {}}, .votes = {{key_of(1), {}}, {key_of(2), {}}}};
    EXPECT_EQ(book.missing(again), (std::vector<std::uint32_t>{0})) << "who contradicts himself is not kept";
    book.look_into(theirs);
    EXPECT_FALSE(book.is_proven(theirs, electorate, lore.trust())) << "only what was kept is here";
    theirs_by(1);
    EXPECT_TRUE(book.is_proven(theirs, electorate, lore.trust()));
    EXPECT_TRUE(book.missing(again).empty()) << "none is checked again";
    EXPECT_EQ(count_votes(book.votes_of_claim(theirs)), 4u);
    EXPECT_EQ(book.final_checkpoint(), ours) << "a claim changes nothing";
    book.leave(theirs);
    EXPECT_TRUE(book.claims().empty());
    // One who lies gets no further than his own votes.
    const Checkpoint false_one = point(9, 7);
    book.look_into(false_one);
    vote(2, root, false_one);
    vote(2, false_one, point(10, 7));
    EXPECT_FALSE(book.is_proven(false_one, electorate, lore.trust()));
}

TEST_F(VoteBookTest, VotesOfAnotherGenerationMeanNothing) {
    lore.learn(1, 1, {}, 1);
    EXPECT_EQ(vote(0, root, point(10, 1), 1).taken, VoteBook::Taken::TooOld);
    book.begin_generation(1, root);
    EXPECT_TRUE(vote(0, root, point(10, 1), 1).justified_more);
}

TEST_F(VoteBookTest, MemoryIsBounded) {
    lore.learn(1, 3);
    for (std::size_t i = 0; i < 3; ++i) vote(i, root, point(10, 1));
    for (std::uint64_t epoch = 11; epoch < 11 + 3 * VoteBook::kEpochsKept; ++epoch)
        vote(0, point(10, 1), point(epoch, 9));
    EXPECT_LE(book.size(), VoteBook::kEpochsKept + 3);
    // What shows the highest justified checkpoint is still there.
    EXPECT_EQ(count_votes(book.votes_for(point(10, 1))), 3u);
}

TEST_F(VoteBookTest, ASetIsTakenAsItsVotesOneByOne) {
    lore.learn(1, 4);
    vote(1, root, point(10, 1));
    vote(2, root, point(10, 2));
    VoteGroup group{.ballot = {0, root, point(10, 1), {}}};
    for (std::size_t i = 0; i < 4; ++i) group.votes.push_back({key_of(i), {}});
    EXPECT_EQ(book.missing(group), (std::vector<std::uint32_t>{0, 2, 3}));
    const auto row = book.add_row(group, lore);
    EXPECT_EQ(row.outcome.taken, VoteBook::Taken::New);
    EXPECT_TRUE(row.outcome.justified_more);
    ASSERT_EQ(row.fresh.size(), 2u) << "one was known, one contradicts";
    EXPECT_EQ(row.fresh[0].voter, key_of(0));
    EXPECT_EQ(row.fresh[1].voter, key_of(3));
    ASSERT_EQ(row.liars.size(), 1u);
    EXPECT_EQ(row.liars[0].first.voter, key_of(2));
    EXPECT_EQ(row.liars[0].second.ballot.target, point(10, 2));
    EXPECT_EQ(book.size(), 4u);
    EXPECT_TRUE(book.add_row(group, lore).fresh.empty());
}

TEST_F(VoteBookTest, SumsAreEqualWhereTheVotesAre) {
    VoteBook other{0, root};
    const auto add = [&](VoteBook& to, std::size_t voter, std::uint8_t block) {
        (void)to.add({.voter = key_of(voter), .ballot = {0, root, point(10, block), {}}}, lore);
    };
    for (const std::size_t voter : {0, 1, 2, 3}) add(book, voter, voter == 3 ? 2 : 1);
    for (const std::size_t voter : {3, 1, 0}) add(other, voter, voter == 3 ? 2 : 1);
    EXPECT_NE(book.sum_of(Epoch{10}), other.sum_of(Epoch{10}));
    add(other, 2, 1);
    EXPECT_EQ(book.sum_of(Epoch{10}), other.sum_of(Epoch{10}));
    EXPECT_EQ(book.sums()[0].epoch, Epoch{10});
    EXPECT_EQ(book.sums()[1], VoteSum{});
    VoteBook third{0, root};
    for (const std::size_t voter : {0, 1, 2, 3}) add(third, voter, 1);
    EXPECT_NE(book.sum_of(Epoch{10}), third.sum_of(Epoch{10})) << "the same voters, for another block";
}

TEST(VoteRow, FindsWhatIsNewOfASetInWhateverOrderVotesCame) {
    Random random{7};
    std::vector<VoteGroup::Signed> all;
    for (std::size_t i = 0; i < 200; ++i) {
        VoteGroup::Signed one;
        random.fill(one.voter);
        // Some begin alike, as whoever wants to can make them.
        if (i % 10 == 0) std::fill_n(one.voter.begin(), 8, std::uint8_t{2});
        all.push_back(one);
    }
    std::sort(all.begin(), all.end());
    VoteRow row{Ballot{}};
    std::set<MemberKey> known;
    for (int round = 0; round < 40; ++round) {
        std::vector<VoteGroup::Signed> set;
        std::vector<std::uint32_t> fresh;
        for (const auto& one : all) {
            if (!random.chance(1, 8)) continue;
            if (!known.contains(one.voter)) fresh.push_back(static_cast<std::uint32_t>(set.size()));
            set.push_back(one);
        }
        ASSERT_EQ(row.missing(set), fresh);
        std::size_t seen = 0;
        row.each_known(set, [&](std::uint32_t place) { seen += known.contains(row.at(place).voter) ? 1 : 0; });
        EXPECT_EQ(seen, set.size() - fresh.size());
        std::vector<VoteGroup::Signed> votes;
        for (const std::uint32_t i : fresh) votes.push_back(set[i]);
        row.add(votes);
        for (const auto& one : votes) known.insert(one.voter);
    }
    EXPECT_EQ(row.size(), known.size());
    const VoteGroup group = row.group();
    EXPECT_TRUE(std::is_sorted(group.votes.begin(), group.votes.end()));
    for (const auto& one : all) EXPECT_EQ(row.find(one.voter) != nullptr, known.contains(one.voter));
}

TEST(OwnVotes, NothingSignedIsEverContradicted) {
    OwnVotes own;
    const Ballot first{.source = point(5, 1), .target = point(10, 2)};
    ASSERT_TRUE(own.may_sign(first));
    own.note_signed(first, {});
    struct Row {
        const char* name;
        Ballot ballot;
        bool allowed;
    };
    const Row rows[] = {
        {"the same epoch again", {.source = point(5, 1), .target = point(10, 3)}, false},
        {"an earlier epoch", {.source = point(5, 1), .target = point(9, 3)}, false},
        {"a lower source", {.source = point(4, 1), .target = point(11, 3)}, false},
        {"later, same source", {.source = point(5, 1), .target = point(11, 3)}, true},
        {"later, higher source", {.source = point(10, 2), .target = point(11, 3)}, true},
        {"a recovery", {.generation = 1, .source = point(1, 1), .target = point(9, 3)}, true},
    };
    for (const Row& row : rows) EXPECT_EQ(own.may_sign(row.ballot), row.allowed) << row.name;
    const auto again = OwnVotes::decode(own.encode(), true);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, own);
}

TEST(OwnVotes, WithoutItsRecordANodeWaitsForACheckpointAfterItsStart) {
    auto own = *OwnVotes::decode({}, false);
    EXPECT_FALSE(own.may_sign({.source = point(5, 1), .target = point(10, 2)}));
    own.regain(0, Epoch{20});
    EXPECT_FALSE(own.may_sign({.source = point(5, 1), .target = point(21, 2)})) << "from below what it saw";
    EXPECT_TRUE(own.may_sign({.source = point(20, 1), .target = point(21, 2)}));
}

TEST(OwnVotes, ARecordBeginsAnewInALaterGenerationOnly) {
    OwnVotes known;
    known.note_signed({.generation = 3, .source = point(5, 1), .target = point(10, 2)}, {});
    EXPECT_FALSE(known.begin_anew(4)) << "it knows what it signed";
    auto lost = *OwnVotes::decode(known.encode(), false);
    EXPECT_FALSE(lost.begin_anew(3)) << "it may have signed more of that one";
    EXPECT_FALSE(lost.may_sign({.generation = 4, .source = point(0, 0), .target = point(21, 2)}));
    EXPECT_TRUE(lost.begin_anew(4));
    EXPECT_FALSE(lost.may_sign({.generation = 3, .source = point(20, 1), .target = point(21, 2)}));
    EXPECT_TRUE(lost.may_sign({.generation = 4, .source = point(0, 0), .target = point(21, 2)}));
    lost.lose();
    EXPECT_FALSE(lost.may_sign({.generation = 4, .source = point(0, 0), .target = point(21, 2)}));
}

TEST(OwnVotes, RemembersWhereItSealed) {
    OwnVotes own;
    own.note_sealed(block_of(1));
    const auto again = *OwnVotes::decode(own.encode(), true);
    EXPECT_TRUE(again.has_sealed_on(block_of(1)));
    EXPECT_FALSE(again.has_sealed_on(block_of(2)));
}

}  // namespace
}  // namespace rhizome::consensus
