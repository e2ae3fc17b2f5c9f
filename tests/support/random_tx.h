// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/random.h"
#include "ledger/block.h"
#include "support/json_values.h"

/// Transactions and blocks of good form and no meaning, for codecs.
namespace rhizome::test {

inline Bytes random_bytes(Random& random, std::size_t max) {
    Bytes bytes(random.below(max + 1));
    random.fill(bytes);
    return bytes;
}

inline std::string random_document(Random& random) {
    switch (random.below(5)) {
        case 0: return {};
        case 1: return std::string{as_text(random_bytes(random, 40))};
        case 2: return json::print_pretty(json::Object{{"a", random_json(random)}});
        default: return json::print(json::Object{{"a", random_json(random)}});
    }
}

inline ledger::Tx random_tx(Random& random) {
    ledger::Tx tx;
    for (std::uint64_t i = 0, n = 1 + random.below(3); i < n; ++i) {
        ledger::Input input;
        random.fill(input.previous.change.writable());
        input.previous.index = static_cast<std::uint16_t>(random.next());
        input.unlocking = random_bytes(random, 60);
        input.sequence = static_cast<std::uint32_t>(random.next());
        tx.inputs.push_back(std::move(input));
    }
    for (std::uint64_t i = 0, n = random.below(4); i < n; ++i)
        tx.outputs.push_back({.value = random_document(random), .locking = random_bytes(random, 60)});
    tx.lock_time = static_cast<std::uint32_t>(random.next());
    tx.expiry = static_cast<std::uint32_t>(random.next());
    return tx;
}

inline ledger::Block random_block(Random& random) {
    ledger::Block block;
    ledger::Header& header = block.header;
    random.fill(header.previous.writable());
    random.fill(header.merkle_root.writable());
    random.fill(header.state_root.writable());
    random.fill(header.seal_root.writable());
    header.time = Time::from_unix_millis(static_cast<std::int64_t>(random.below(253'402'300'800'000u)));
    header.height = ledger::Height{random.next() >> random.below(64)};
    header.consensus = static_cast<ledger::ConsensusId>(random.below(4));
    header.bits = static_cast<std::uint32_t>(random.next());
    header.nonce = random.next() >> random.below(64);
    random.fill(block.signature);
    for (std::uint64_t n = random.below(4); n > 0; --n) block.txs.push_back(random_tx(random));
    block.seal = {random_bytes(random, 100), random_bytes(random, 100)};
    return block;
}

}  // namespace rhizome::test
