// SPDX-License-Identifier: Apache-2.0
// Proofs and anchors from a stranger: what is read prints to a file that reads back to the same, and checking it ends.
#include "ledger/proof_files.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(proof_files_fuzz) {
    const std::string_view text = as_text({data, size});
    if (const auto anchor = ledger::anchor_from_json(text)) {
        const auto again = ledger::anchor_from_json(json::print(ledger::to_json(*anchor)));
        ensure(again && *again == *anchor, "an anchor survives its file");
    }
    if (const auto proof = ledger::tx_proof_from_json(text)) {
        const auto again = ledger::tx_proof_from_json(json::print(ledger::to_json(*proof)));
        ensure(again && *again == *proof, "a transaction's proof survives its file");
        (void)ledger::check(*proof);
    }
    if (const auto proof = ledger::state_proof_from_json(text)) {
        const auto again = ledger::state_proof_from_json(json::print(ledger::to_json(*proof)));
        ensure(again && *again == *proof, "a state's proof survives its file");
        (void)ledger::check(*proof);
    }
    return 0;
}
