// SPDX-License-Identifier: Apache-2.0
#include "store/accepted_log.h"

#include <fstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

const ledger::ChainId kAcceptedChain{std::array<std::uint8_t, 32>{7}};

class AcceptedLogs : public ::testing::Test {
protected:
    AcceptedLogs() { test::grow_namespace(chain_); }

    std::unique_ptr<AcceptedLog> open(const AcceptedLog::Limits& limits = {}) {
        auto log = AcceptedLog::open(temp_.path(), kAcceptedChain, limits);
        EXPECT_TRUE(log) << log.error().message;
        return log ? *std::move(log) : nullptr;
    }
    ledger::SharedTx tx(std::size_t number, std::size_t bytes = 40) {
        return chain_.create(
            "/namespaces/web", "alice",
            test::document("v1", "ConfigMap", "web", fmt::format("c{}", number), std::string(bytes, 'x')),
            test::lock_of("alice"));
    }
    static Time at(std::size_t number) { return Time::from_unix_seconds(1'800'000'000 + static_cast<int>(number)); }
    static LostTx lost(ledger::SharedTx tx, std::size_t number) {
        return {.tx = std::move(tx),
                .why = {.code = ledger::RejectCode::StaleInput,
                        .why = "somebody was faster",
                        .input = 3,
                        .script_error = "EQUALVERIFY"},
                .accepted = at(number),
                .lost = at(number + 1),
                .was_included = true};
    }
    [[nodiscard]] std::filesystem::path file() const { return temp_.path() / "accepted"; }
    void write(std::string_view bytes) const {
        std::ofstream out{file(), std::ios::binary | std::ios::trunc};
        out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    [[nodiscard]] std::string bytes() const {
        std::ifstream in{file(), std::ios::binary};
        return {std::istreambuf_iterator<char>{in}, {}};
    }

    test::TestChain chain_;
    test::TempFolder temp_;
};

TEST_F(AcceptedLogs, WhatIsNotSettledIsThereAgainInItsOrder) {
    std::vector<ledger::SharedTx> txs;
    for (std::size_t i = 0; i < 5; ++i) txs.push_back(tx(i));
    {
        const auto log = open();
        for (std::size_t i = 0; i < txs.size(); ++i) ASSERT_TRUE(log->keep(txs[i], at(i)));
        ASSERT_TRUE(log->keep(txs[0], at(9))) << "a second time is nothing new";
        ASSERT_TRUE(log->settle(txs[1]->id));
        ASSERT_TRUE(log->settle(txs[1]->id));
        ASSERT_TRUE(log->lose(lost(txs[3], 3)));
        // Not synced: killed here.
    }
    for (int again = 0; again < 2; ++again) {
        const auto log = open();
        EXPECT_EQ(log->finding(), "");
        const auto kept = log->kept();
        ASSERT_EQ(kept.size(), 3u);
        EXPECT_EQ(kept[0].tx->id, txs[0]->id);
        EXPECT_EQ(kept[0].time, at(0));
        EXPECT_EQ(kept[1].tx->wire_id, txs[2]->wire_id);
        EXPECT_EQ(kept[2].tx->id, txs[4]->id);
        const auto one = log->lost(txs[3]->id);
        ASSERT_TRUE(one);
        EXPECT_EQ(one->why, lost(txs[3], 3).why);
        EXPECT_EQ(one->accepted, at(3));
        EXPECT_EQ(one->lost, at(4));
        EXPECT_TRUE(one->was_included);
        EXPECT_FALSE(log->lost(txs[0]->id));
    }
}

TEST_F(AcceptedLogs, TheFileDoesNotGrowWithWhatIsSettled) {
    const AcceptedLog::Limits limits{.slack_bytes = 16'384, .lost_max = 4, .lost_bytes_max = 1u << 20};
    const auto open_one = tx(10'000);
    {
        const auto log = open(limits);
        ASSERT_TRUE(log->keep(open_one, at(0)));
        for (std::size_t i = 0; i < 400; ++i) {
            const auto one = tx(i, 200);
            ASSERT_TRUE(log->keep(one, at(i)));
            if (i % 40 == 0) {
                ASSERT_TRUE(log->lose(lost(one, i)));
            } else {
                ASSERT_TRUE(log->settle(one->id));
            }
            if (i % 7 == 0) {
                ASSERT_TRUE(log->sync());
            }
            EXPECT_LT(log->file_bytes(), 80'000u) << i;
        }
        ASSERT_EQ(log->lost().size(), 4u) << "the newest";
        EXPECT_EQ(log->lost().front().accepted, at(360));
    }
    const auto log = open(limits);
    ASSERT_EQ(log->kept().size(), 1u);
    EXPECT_EQ(log->kept().front().tx->id, open_one->id);
    EXPECT_EQ(log->lost().size(), 4u);
}

TEST_F(AcceptedLogs, WhatIsLostTakesBoundedRoom) {
    const auto log = open({.slack_bytes = 16'384, .lost_max = 100, .lost_bytes_max = 2'000});
    for (std::size_t i = 0; i < 50; ++i) ASSERT_TRUE(log->lose(lost(tx(i, 300), i)));
    EXPECT_LT(log->lost().size(), 8u);
    EXPECT_EQ(log->lost().front().accepted, at(49));
    ASSERT_TRUE(log->lose(lost(tx(100, 5'000), 50)));
    EXPECT_EQ(log->lost().size(), 1u) << "one is always kept";
    // The same one told twice is one.
    ASSERT_TRUE(log->lose(lost(tx(100, 5'000), 51)));
    EXPECT_EQ(log->lost().size(), 1u);
}

TEST_F(AcceptedLogs, DamageTakesWhatFollowsItAndIsSaid) {
    {
        const auto log = open();
        for (std::size_t i = 0; i < 3; ++i) ASSERT_TRUE(log->keep(tx(i), at(i)));
        ASSERT_TRUE(log->sync());
    }
    const std::string whole = bytes();
    for (std::size_t cut = 0; cut < whole.size(); cut += 13) {
        write(whole.substr(0, cut));
        const auto log = open();
        ASSERT_NE(log, nullptr);
        EXPECT_LT(log->kept().size(), 3u) << cut;
    }
    for (std::size_t place = 0; place < whole.size(); place += 31) {
        std::string changed = whole;
        changed[place] = static_cast<char>(changed[place] ^ 0x55);
        write(changed);
        const auto log = open();
        ASSERT_NE(log, nullptr);
        EXPECT_TRUE(log->kept().size() < 3u || log->finding().empty()) << place;
        for (const auto& one : log->kept()) EXPECT_EQ(one.tx->tx.outputs.size(), 1u);
    }
    write(whole);
    const auto other = AcceptedLog::open(temp_.path(), ledger::ChainId{std::array<std::uint8_t, 32>{8}}, {});
    ASSERT_TRUE(other);
    EXPECT_TRUE((*other)->kept().empty()) << "another chain's";
    EXPECT_NE((*other)->finding(), "");
}

}  // namespace
}  // namespace rhizome::store
