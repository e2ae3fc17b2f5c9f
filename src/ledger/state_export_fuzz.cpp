// SPDX-License-Identifier: Apache-2.0
// An exported state from a stranger: what is taken exports to a text that is taken again, and can be judged against.
#include "ledger/apply.h"
#include "ledger/state_export.h"

using namespace rhizome;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto state = ledger::import_state(as_text(ByteView{data, size}));
    if (!state) return 0;
    const auto again = ledger::import_state(ledger::export_state(*state));
    ensure(again.has_value(), "an exported state is imported");
    ensure(again->view.root() == state->view.root(), "a state survives its export");
    const ledger::LedgerState judged{state->view};
    ensure(judged.chain().is_zero() || judged.chain() == state->chain, "the chain is the one that the state names");
    return 0;
}
