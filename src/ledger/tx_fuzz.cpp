// SPDX-License-Identifier: Apache-2.0
// A transaction from a stranger: what decodes encodes to the same bytes, and checking it never crashes.
#include "ledger/check.h"
#include "ledger/codec.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(tx_fuzz) {
    const ByteView input{data, size};
    const auto tx = ledger::decode_tx(input);
    if (!tx) return 0;
    const Bytes again = ledger::encode(*tx);
    ensure(std::equal(again.begin(), again.end(), input.begin(), input.end()), "a transaction has one encoding");
    ensure(ledger::encoded_size(*tx) == size, "its size is known beforehand");
    const auto checked = ledger::check_tx(*tx);
    if (checked) ensure((*checked)->wire_id == ledger::wire_id_of(*tx), "its wire id is that of its bytes");
    return 0;
}
