// SPDX-License-Identifier: Apache-2.0
// A block's JSON from a stranger: what is read has bytes that decode to the same block, and prints to a form that reads
// back to it. The same bytes as a block's own encoding go the other way round.
#include "ledger/block_json.h"
#include "ledger/codec.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(block_json_fuzz) {
    const ByteView input{data, size};
    const auto survives = [](const ledger::Block& block) {
        const auto again = ledger::block_from_json(json::print(ledger::to_json(block)));
        ensure(again.has_value(), "a printed block is read");
        ensure(*again == block, "a block survives its JSON form");
        const auto decoded = ledger::decode_block(ledger::encode(block));
        ensure(decoded && *decoded == block, "a block from JSON survives its bytes");
    };
    if (const auto block = ledger::block_from_json(as_text(input))) survives(*block);
    if (const auto block = ledger::decode_block(input)) survives(*block);
    return 0;
}
