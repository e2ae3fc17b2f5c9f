// SPDX-License-Identifier: Apache-2.0
#include "follow/watchtower.h"

#include <gtest/gtest.h>

#include "crypto/hash.h"

namespace rhizome::follow {
namespace {

constexpr Time kWatchStart = Time::from_unix_seconds(1'800'000'000);

ledger::TxId tx(std::uint8_t number) { return ledger::TxId{crypto::sha256(Bytes(1, number)).view()}; }
consensus::MemberKey member(std::uint8_t number) {
    consensus::MemberKey key{};
    key.back() = number;
    return key;
}

class WatchtowerTest : public ::testing::Test {
protected:
    std::vector<Alert> pending(milliseconds at, std::vector<ledger::TxId> ids) {
        return tower.step({kWatchStart + at, PendingSeen{std::move(ids)}});
    }
    /// A block that came ten milliseconds after its time.
    std::vector<Alert> block(milliseconds at, std::uint8_t proposer, std::vector<ledger::TxId> has,
                             std::vector<ledger::TxId> still_pending, std::uint64_t bytes = 1'000,
                             milliseconds late = milliseconds{10}) {
        BlockSeen seen{.proposer = member(proposer),
                       .txs = std::move(has),
                       .pending = std::move(still_pending),
                       .bytes = bytes,
                       .bytes_max = 4'000'000};
        seen.header.time = kWatchStart + at;
        return tower.step({kWatchStart + at + late, seen});
    }
    Watchtower tower{{}};
};

TEST_F(WatchtowerTest, TellsOnceOfAProposerThatKeepsLeavingOutWhatWasBroadcast) {
    pending(milliseconds{0}, {tx(1)});
    EXPECT_TRUE(block(milliseconds{1'000}, 1, {}, {tx(1)}).empty()) << "one can be bad luck";
    EXPECT_TRUE(block(milliseconds{2'000}, 1, {}, {tx(1)}).empty());
    const auto alerts = block(milliseconds{3'000}, 1, {}, {tx(1)});
    ASSERT_EQ(alerts.size(), 1u);
    EXPECT_EQ(alerts[0].kind, AlertKind::Censorship);
    EXPECT_EQ(alerts[0].who, member(1));
    EXPECT_EQ(alerts[0].tx, tx(1));
    EXPECT_EQ(alerts[0].short_blocks, 3u);
    EXPECT_NE(alerts[0].what.find("3000 ms"), std::string::npos) << alerts[0].what;
    EXPECT_TRUE(block(milliseconds{4'000}, 1, {}, {tx(1)}).empty()) << "not again within the window";
    // After the window it is told again, if it goes on.
    std::vector<Alert> later;
    for (int second = 605; second < 610 && later.empty(); ++second)
        later = block(milliseconds{second * 1'000}, 1, {}, {tx(1)});
    EXPECT_EQ(later.size(), 1u);
}

TEST_F(WatchtowerTest, SaysNothingOfThoseWhoCouldNotHaveIncludedIt) {
    pending(milliseconds{0}, {tx(1)});
    for (int i = 0; i < 10; ++i) {
        const milliseconds at{1'000 + i * 1'000};
        // Just broadcast when the block was made.
        pending(at - milliseconds{999}, {tx(static_cast<std::uint8_t>(100 + i))});
        EXPECT_TRUE(block(at, 1, {}, {tx(static_cast<std::uint8_t>(100 + i))}).empty());
        // Full.
        pending(at, {tx(1)});
        EXPECT_TRUE(block(at, 2, {}, {tx(1)}, 3'900'000).empty());
        // From behind a cut.
        EXPECT_TRUE(block(at, 3, {}, {tx(1)}, 1'000, milliseconds{5'000}).empty());
        // No longer valid on top of the block: somebody else was faster.
        EXPECT_TRUE(block(at, 4, {}, {}).empty());
    }
}

TEST_F(WatchtowerTest, WhoIncludesMostIsNotTold) {
    for (int i = 0; i < 40; ++i) {
        const auto id = tx(static_cast<std::uint8_t>(i));
        const milliseconds at{i * 10'000};
        pending(at, {id});
        const bool leaves_out = i % 4 == 0;
        EXPECT_TRUE(block(at + milliseconds{2'000}, 1, leaves_out ? std::vector<ledger::TxId>{} : std::vector{id},
                          leaves_out ? std::vector{id} : std::vector<ledger::TxId>{})
                        .empty())
            << i;
    }
    EXPECT_EQ(tower.counts().short_blocks, 10u);
    EXPECT_EQ(tower.counts().blocks, 40u);
}

TEST_F(WatchtowerTest, TellsOfEvidence) {
    const auto alerts = tower.step({kWatchStart, AccusedSeen{member(7)}});
    ASSERT_EQ(alerts.size(), 1u);
    EXPECT_EQ(alerts[0].kind, AlertKind::Equivocation);
    EXPECT_EQ(alerts[0].who, member(7));
}

TEST(Watchtower, RemembersNoMoreThanItMay) {
    Watchtower tower{{.pending_max = 4}};
    std::vector<ledger::TxId> many;
    for (std::uint8_t i = 0; i < 20; ++i) many.push_back(tx(i));
    (void)tower.step({kWatchStart, PendingSeen{many}});
    EXPECT_EQ(tower.counts().watched, 4u);
    (void)tower.step({kWatchStart, PendingSeen{}});
    EXPECT_EQ(tower.counts().watched, 0u);
}

}  // namespace
}  // namespace rhizome::follow
