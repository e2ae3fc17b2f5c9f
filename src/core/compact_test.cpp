// SPDX-License-Identifier: Apache-2.0
#include "core/detail/compact.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crypto/hash.h"
#include "ledger/codec.h"

namespace rhizome::core::detail {
namespace {

ledger::BlockHash hash(std::string_view word) { return ledger::BlockHash{crypto::sha256(as_bytes(word)).view()}; }

ledger::SharedTx some_tx(std::size_t number) {
    ledger::Tx tx{.inputs = {{.previous = {ledger::TxId{crypto::sha256(as_bytes("before")).view()}, 0}}},
                  .outputs = {{.value = fmt::format(
                                   R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"n{}"}}}})", number)}},
                  .expiry = 1'800'000'000};
    return ledger::check_tx(std::move(tx)).value();
}

TEST(CompactBlocks, AShortIdHasSixBytesAndIsAnotherInEveryBlock) {
    const auto id = some_tx(1)->wire_id;
    EXPECT_LT(short_id(hash("a"), id), std::uint64_t{1} << 48);
    EXPECT_NE(short_id(hash("a"), id), short_id(hash("b"), id));
    EXPECT_NE(short_id(hash("a"), id), short_id(hash("a"), some_tx(2)->wire_id));
    EXPECT_EQ(short_id(hash("a"), id), short_id(hash("a"), id));
}

TEST(CompactBlocks, WhatIsHereOrGivenIsPutInItsPlaceAndTheRestIsMissing) {
    RecentTxs recent{1u << 20};
    CompactBlock compact;
    const auto block = hash("block");
    for (std::size_t i = 0; i < 6; ++i) {
        compact.short_ids.push_back(short_id(block, some_tx(i)->wire_id));
        if (i % 2 == 0) recent.put(some_tx(i));
    }
    compact.given = {{3, some_tx(3)->tx}};
    const OpenCompact open = open_compact(PeerId{4}, compact, block, recent);
    EXPECT_EQ(open.from, PeerId{4});
    EXPECT_EQ(open.missing, (std::vector<std::uint32_t>{1, 5}));
    for (const std::size_t place : {0u, 2u, 3u, 4u}) EXPECT_EQ(open.block.txs[place], some_tx(place)->tx) << place;
}

TEST(CompactBlocks, RecentTransactionsAreBoundedByTheirBytes) {
    const std::size_t each = ledger::encoded_size(some_tx(10)->tx);
    RecentTxs recent{3 * (each + RecentTxs::kBeside)};
    for (std::size_t i = 10; i < 15; ++i) recent.put(some_tx(i));
    recent.put(some_tx(14));  // known: takes no more room
    for (std::size_t i = 10; i < 12; ++i) EXPECT_EQ(recent.find(some_tx(i)->wire_id), nullptr) << i;
    for (std::size_t i = 12; i < 15; ++i) EXPECT_NE(recent.find(some_tx(i)->wire_id), nullptr) << i;

    RecentTxs small{each};
    for (std::size_t i = 10; i < 12; ++i) small.put(some_tx(i));
    EXPECT_EQ(small.find(some_tx(10)->wire_id), nullptr);
    EXPECT_NE(small.find(some_tx(11)->wire_id), nullptr);
}

}  // namespace
}  // namespace rhizome::core::detail
