// SPDX-License-Identifier: Apache-2.0
// An exported state from a stranger: what is taken exports to a text that is taken again, and a block can be built on
// it: nothing that the ledger relies on slipped through.
#include "ledger/apply.h"
#include "ledger/state_export.h"
#include "support/fuzz_target.h"

using namespace rhizome;

namespace {

/// A stranger can compute a root too, so the right one is put in place of a wrong one.
Result<ledger::ExportedState> import_with_its_root(std::string text) {
    auto state = ledger::import_state(text);
    if (state || state.error().kind != ErrorKind::Corrupt) return state;
    constexpr std::string_view kSays = "the state's root is ";
    constexpr std::string_view kMember = "\"root\": \"";
    const std::size_t at = text.find(kMember);
    if (!state.error().message.starts_with(kSays) || at == std::string::npos) return state;
    const std::string root = state.error().message.substr(kSays.size(), 64);
    return ledger::import_state(text.replace(at + kMember.size(), root.size(), root));
}

}  // namespace

FUZZ_TARGET(state_export_fuzz) {
    const auto state = import_with_its_root(std::string{as_text(ByteView{data, size})});
    if (!state) return 0;
    const auto again = ledger::import_state(ledger::export_state(*state));
    ensure(again.has_value(), "an exported state is imported");
    ensure(again->view.root() == state->view.root(), "a state survives its export");
    const ledger::LedgerState judged{state->view};
    ensure(judged.chain().is_zero() || judged.chain() == state->chain, "the chain is the one that the state names");
    const ledger::NextBlock next{.parent = state->tip,
                                 .height = state->height + 1,
                                 .time = state->time + seconds{1},
                                 .parent_time = state->time};
    ledger::SignatureCache cache;
    Inline parallel;
    const auto applied = ledger::execute(judged, next, {}, {}, ledger::Rules{}, cache, parallel);
    ensure(applied.has_value(), "an empty block is good on every state");
    return 0;
}
