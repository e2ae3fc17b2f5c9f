// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/chain/shared.h"
#include "cli/commands/state/verbs.h"
#include "cli/data_option.h"
#include "cli/offline_chain.h"
#include "ledger/state_export.h"

/// `state export`.
namespace rhizome::cli::state_verbs {
namespace {

Result<void> run_export(Invocation& call) {
    TRY(const auto at, open_chain(call));
    TRY(const auto height, height_of(call, "at", *at));
    TRY(const auto state, state_of(call, *at, height));
    if (state.view.size() > ledger::kStateEntriesMax)
        return fail(ErrorKind::Exhausted,
                    fmt::format("the state has {} entries; tools read at most {}\nlarge states travel as snapshots",
                                state.view.size(), ledger::kStateEntriesMax));
    return chain::put_out(call, ledger::export_state(state));
}

}  // namespace

Command export_command() {
    return {
        .name = "export",
        .summary = "Write the whole state to a file for tools without a node",
        .details =
            "Prints the state with all documents, locks and the chain's records as JSON, one entry a line. 'rhizome tx "
            "--state' works against it, also on a machine without a network; whoever reads it computes its root anew "
            "and refuses a changed one.",
        .examples = {{"for a machine where keys are kept", "rhizome state export --out state.json"},
                     {"as it was", "rhizome state export --at 100 --out then.json"}},
        .options = {data_option(), at_option(), chain::out_option("write to this file instead of stdout")},
        .run = run_export,
    };
}

}  // namespace rhizome::cli::state_verbs
