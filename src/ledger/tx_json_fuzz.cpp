// SPDX-License-Identifier: Apache-2.0
// A transaction's JSON from a stranger: what is read prints to a form that reads back to the same transaction. The same
// bytes as a transaction's own encoding go the other way round.
#include "ledger/codec.h"
#include "ledger/json_form.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(tx_json_fuzz) {
    const ByteView input{data, size};
    const auto survives = [](const ledger::Tx& tx) {
        const auto again = ledger::tx_from_json(json::print(ledger::to_json(tx)));
        ensure(again.has_value(), "a printed transaction is read");
        ensure(*again == tx, "a transaction survives its JSON form");
    };
    if (const auto tx = ledger::tx_from_json(as_text(input))) survives(*tx);
    if (const auto tx = ledger::decode_tx(input)) survives(*tx);
    return 0;
}
