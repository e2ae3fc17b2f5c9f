// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/json.h"
#include "ledger/apply.h"
#include "ledger/signing.h"

/// Transactions before they are sent: what one would do, what signing one needs to know, and one from a wish. For the
/// RPC and for commands that work on a data directory or an exported state alike.
namespace rhizome::node {

/// What `tx` would do in the block `next`, or why it would be refused:
///
///     {"ok":true,"txid","block":{"height","time"},"creates":[path],"updates":[…],"deletes":[…],
///      "inputs":[{"input","role","path","txid","vout"}],"signatureChecks","dependsOnBlock"}
///     {"ok":false,"code","why","input","scriptError","position","block","trace","unlocking","locking"}
///
/// Judged exactly as a node judges what is submitted; nothing is changed. With `trace` a refusal by a script has its
/// steps (`script/trace_json.h`) and both scripts in hexadecimal.
json::Object judge_tx(const ledger::Tx& tx, const ledger::LedgerState& state, const ledger::NextBlock& next,
                      bool trace);
/// The refusal in such an answer; nothing when it was good.
std::optional<ledger::Reject> refusal_in(const json::Value& judged);

/// The part of a state that signing `tx` needs: what its inputs and outputs name, all above them, the chain's id and
/// parameters, and the members where a lock asks for one. `uses_of_inputs`, `can_help` and `advance` say of the part
/// what they would say of the whole.
state::StateView context_of(const ledger::CheckedTx& tx, const ledger::LedgerState& state);
/// The same where every input names what an output names or something above it, as in a draft of ours: that needs no
/// index over all outputs.
state::StateView context_of_draft(const ledger::CheckedTx& tx, const state::StateView& whole);
/// The same in two steps. Of drafts that are alike the entries are mostly the very same, and so is what is made of
/// them.
std::vector<state::EntryPtr> entries_for_draft(const ledger::CheckedTx& tx, const state::StateView& whole);
state::StateView view_of(std::span<const state::EntryPtr> entries);

}  // namespace rhizome::node
