// SPDX-License-Identifier: Apache-2.0
// A block from a stranger: what decodes encodes to the same bytes.
#include "ledger/codec.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(block_fuzz) {
    const ByteView input{data, size};
    if (const auto block = ledger::decode_block(input)) {
        const Bytes again = ledger::encode(*block);
        ensure(std::equal(again.begin(), again.end(), input.begin(), input.end()), "a block has one encoding");
        (void)ledger::hash_of(block->header);
        (void)ledger::seal_root_of(block->seal);
    }
    if (const auto header = ledger::decode_header(input)) {
        const Bytes again = ledger::encode(*header);
        ensure(std::equal(again.begin(), again.end(), input.begin(), input.end()), "a header has one encoding");
    }
    return 0;
}
