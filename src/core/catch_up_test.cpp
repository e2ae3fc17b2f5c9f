// SPDX-License-Identifier: Apache-2.0
#include "core/detail/catch_up.h"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace rhizome::core::detail {
namespace {

using Taken = CatchUp::Taken;

constexpr PeerId kGuide{1};
constexpr PeerId kOther{2};
constexpr Time kNow = Time::from_unix_seconds(1'800'000'000);

/// A chain of empty blocks, and a way along it.
class CatchUpTest : public ::testing::Test {
protected:
    CatchUpTest() {
        config.ask_bodies_max = 4;
        config.bodies_ahead_max = 32;
    }
    /// A way along so many headers, by one who has seen bodies of empty blocks before.
    void begin(std::size_t headers, bool more = false) {
        begin_unknowing(8);
        for (auto asks = way->next_asks(kNow); !asks.empty(); asks = way->next_asks(kNow))
            for (const CatchUp::Ask& ask : asks) answer(ask);
        while (way->has_next()) (void)way->next_block();
        way->end();
        hashes.clear();
        way->begin(kGuide, kNow, config.body_timeout);
        extend(headers, more);
    }
    void begin_unknowing(std::size_t headers) {
        way.emplace(config);
        way->note_height(kGuide, ledger::Height{1'000});
        way->begin(kGuide, kNow, config.body_timeout);
        extend(headers, false);
    }
    void extend(std::size_t headers, bool more) {
        for (std::size_t i = 0; i < headers; ++i) {
            SealedHeader next;
            next.header.previous = hashes.empty() ? ledger::BlockHash{} : hashes.back();
            next.header.height = ledger::Height{hashes.size() + 1};
            next.header.merkle_root = ledger::merkle_root_of({});
            next.header.seal_root = ledger::seal_root_of(next.seal);
            hashes.push_back(hash_of(next.header));
            way->extend(hashes.back(), std::move(next));
        }
        way->note_headers(more);
    }
    static Body body(const ledger::BlockHash& hash, std::size_t txs = 0) {
        return {hash, std::make_shared<const std::vector<ledger::Tx>>(txs)};
    }
    void answer(const CatchUp::Ask& ask) {
        for (const auto& hash : ask.blocks) EXPECT_EQ(way->take(ask.peer, body(hash)), Taken::Good);
        EXPECT_TRUE(way->answered(ask.peer, ask.blocks.front(), false));
    }

    Config config{};
    std::optional<CatchUp> way;
    std::vector<ledger::BlockHash> hashes;
};

TEST_F(CatchUpTest, BodiesAreAskedOfAllWhoHaveThemWithinTheirShares) {
    begin(100);
    way->note_height(kOther, ledger::Height{100});
    way->note_height(PeerId{3}, ledger::Height{0});
    std::map<PeerId, std::size_t> asked;
    std::set<ledger::BlockHash> all;
    for (const auto& ask : way->next_asks(kNow)) {
        ++asked[ask.peer];
        EXPECT_LE(ask.blocks.size(), config.ask_bodies_max);
        for (const auto& hash : ask.blocks) EXPECT_TRUE(all.insert(hash).second) << "asked twice";
    }
    EXPECT_EQ(asked, (std::map<PeerId, std::size_t>{{kGuide, 2}, {kOther, 2}}));
    EXPECT_TRUE(way->next_asks(kNow).empty()) << "nobody has more than two questions open";
}

TEST_F(CatchUpTest, BlocksLeaveInOrderWhateverOrderTheyCameIn) {
    begin(8);
    way->note_height(kOther, ledger::Height{100});
    auto asks = way->next_asks(kNow);
    ASSERT_EQ(asks.size(), 2u);
    answer(asks[1]);
    EXPECT_FALSE(way->has_next()) << "the first is missing";
    answer(asks[0]);
    for (const auto& hash : hashes) {
        const auto block = way->next_block();
        ASSERT_NE(block, nullptr);
        EXPECT_EQ(hash_of(block->header), hash);
    }
    EXPECT_EQ(way->headers(), 0u);
    EXPECT_EQ(way->held_bytes(), 0u);
}

TEST_F(CatchUpTest, AQuestionThatIsNotAnsweredGoesToAnother) {
    begin(4);
    const auto first = way->next_asks(kNow);
    ASSERT_EQ(first.size(), 1u);
    EXPECT_EQ(first[0].peer, kGuide);
    way->note_height(kOther, ledger::Height{100});
    const Time later = way->next_look().value();
    EXPECT_GE(later, kNow + config.body_timeout);
    EXPECT_LT(later, kNow + config.body_timeout + milliseconds{100}) << "four empty blocks take no time";
    EXPECT_EQ(way->look_at_time(later - milliseconds{1}), 0u);
    EXPECT_EQ(way->look_at_time(later), 4u);
    EXPECT_FALSE(way->is_dead_end());
    const auto second = way->next_asks(later);
    ASSERT_EQ(second.size(), 1u);
    EXPECT_EQ(second[0].peer, kOther);
    // What comes late is good all the same.
    EXPECT_EQ(way->take(kGuide, body(hashes[0])), Taken::Good);
    EXPECT_TRUE(way->answered(kGuide, hashes[0], false));
    EXPECT_TRUE(way->has_next());
}

TEST_F(CatchUpTest, WhoKnowsNoBodyAsksForOneAtATime) {
    begin_unknowing(100);
    for (const auto& ask : way->next_asks(kNow)) EXPECT_EQ(ask.blocks.size(), 1u);
}

TEST_F(CatchUpTest, WhoAnswersInTimeIsAskedForMoreAtOnce) {
    config.bodies_ahead_max = 1'024;
    begin(1'000);
    auto asks = way->next_asks(kNow);
    EXPECT_EQ(asks.size(), 2u);
    std::size_t most = 0;
    for (std::size_t round = 0; round < 20; ++round) {
        answer(asks.at(0));
        asks.erase(asks.begin());
        for (auto& next : way->next_asks(kNow)) asks.push_back(std::move(next));
        most = std::max(most, asks.size());
    }
    EXPECT_EQ(most, 8u);
    EXPECT_GT(way->look_at_time(way->next_look().value()), 0u);
    EXPECT_LE(way->next_asks(kNow).size(), 2u) << "who is late begins anew";
}

TEST_F(CatchUpTest, LargeBodiesAreGivenTheTimeThatASlowLinkTakes) {
    begin(100);
    way->end();
    hashes.clear();
    way->begin(kGuide, kNow, config.body_timeout);
    const std::vector<ledger::Tx> large{{.outputs = {{.value = std::string(1'000'000, 'x')}}}};
    SealedHeader header;
    header.header.height = ledger::Height{1};
    header.header.merkle_root = ledger::merkle_root_of(std::vector{ledger::wire_id_of(large[0])});
    header.header.seal_root = ledger::seal_root_of(header.seal);
    const auto hash = hash_of(header.header);
    hashes.push_back(hash);
    way->extend(hash, header);
    extend(10, false);
    (void)way->next_asks(kNow);
    ASSERT_EQ(way->take(kGuide, {hash, std::make_shared<const std::vector<ledger::Tx>>(large)}), Taken::Good);
    way->reset_times(kNow);
    EXPECT_GE(way->next_look().value(), kNow + config.body_timeout + seconds{15}) << "a megabyte at 64 KiB a second";
}

TEST_F(CatchUpTest, OtherTransactionsThanTheHeadersAreToldFromMissingOnes) {
    begin(4);
    way->note_height(kOther, ledger::Height{100});
    EXPECT_EQ(way->take(kOther, body(hashes[0], 1)), Taken::Mismatch);
    EXPECT_EQ(way->take(kGuide, body(hashes[0])), Taken::Good);
    EXPECT_EQ(way->take(kGuide, body(hashes[0])), Taken::Unknown);
    EXPECT_EQ(way->take(kGuide, body(ledger::BlockHash{})), Taken::Unknown);
    for (const auto& ask : way->next_asks(kNow)) EXPECT_EQ(ask.peer, kGuide) << "who sent others is not asked again";
}

TEST_F(CatchUpTest, AGuideThatHasNotWhatItShowedBreaksItsWord) {
    begin(4);
    way->note_height(kOther, ledger::Height{100});
    const auto asks = way->next_asks(kNow);
    ASSERT_EQ(asks.size(), 1u);
    EXPECT_EQ(way->take(kGuide, body(hashes[0])), Taken::Good);
    EXPECT_TRUE(way->answered(kGuide, hashes[0], true)) << "the rest had no room";
    const auto rest = way->next_asks(kNow);
    ASSERT_EQ(rest.size(), 1u);
    EXPECT_EQ(way->answered(rest[0].peer, hashes[1], false), rest[0].peer != kGuide);
}

TEST_F(CatchUpTest, WhereNobodyHasTheNextBodyTheWayEnds) {
    begin(4);
    way->note_height(kOther, ledger::Height{2});
    Time now = kNow;
    for (int round = 0; round < 4 && !way->is_dead_end(); ++round) {
        (void)way->next_asks(now);
        now = way->next_look().value_or(now);
        (void)way->look_at_time(now);
    }
    EXPECT_TRUE(way->is_dead_end());
    way->end();
    EXPECT_FALSE(way->is_active());
    EXPECT_EQ(way->next_look(), std::nullopt);
}

TEST_F(CatchUpTest, HeadersAndBodiesAreBounded) {
    config.headers_ahead_max = 1'024;
    config.bodies_ahead_bytes = 1;
    begin(500, true);
    EXPECT_TRUE(way->wants_headers());
    extend(100, true);
    EXPECT_FALSE(way->wants_headers()) << "another answer would be too many";
    const auto asks = way->next_asks(kNow);
    ASSERT_FALSE(asks.empty());
    answer(asks[0]);
    EXPECT_GT(way->held_bytes(), config.bodies_ahead_bytes);
    EXPECT_TRUE(way->next_asks(kNow).empty()) << "what is here comes first";
    while (way->has_next()) (void)way->next_block();
    EXPECT_FALSE(way->next_asks(kNow).empty());
}

TEST_F(CatchUpTest, WhatWasAskedOfOneWhoLeftIsAskedOfOthers) {
    begin(4);
    ASSERT_EQ(way->next_asks(kNow).size(), 1u);
    way->note_height(kOther, ledger::Height{100});
    EXPECT_TRUE(way->next_asks(kNow).empty());
    way->peer_gone(kGuide);
    const auto asks = way->next_asks(kNow);
    ASSERT_EQ(asks.size(), 1u);
    EXPECT_EQ(asks[0].peer, kOther);
}

}  // namespace
}  // namespace rhizome::core::detail
