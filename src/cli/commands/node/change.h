// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands/node/shared.h"
#include "cli/commands/tx/shared.h"
#include "ledger/draft.h"
#include "ledger/json_form.h"

/// Changing the cluster through the node that runs here, with a key of the person's.
namespace rhizome::cli {

/// `--key NAME` (default: admin), `--passphrase-file`, `--keys`.
std::vector<Option> signing_options();

/// The draft with every unlocking script that `signer` alone can make; Denied when it needs somebody else's signature.
Result<ledger::Tx> sign_draft(tx::Drafted drafted, const ledger::Signer& signer, std::string_view program);

/// What the node answers to a transaction once it has come as far as `stage` (accepted, included, final). A refusal is
/// an error with the ledger's own sentence.
Result<json::Value> submit_tx(node::RpcClient& client, const ledger::Tx& tx, std::string_view stage);

/// Drafts, signs with `--key` and submits. `by`: whose lock is to decide, instead of the resource's own. Returns when
/// the change is final, or as far as that comes in half a minute
/// (`stage` in the answer says how far).
Result<json::Value> write_changes(Invocation& call, node::RpcClient& client, std::vector<ledger::Change> changes,
                                  std::optional<state::Path> by = {});

}  // namespace rhizome::cli
