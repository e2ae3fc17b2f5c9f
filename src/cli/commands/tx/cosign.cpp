// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/key/passphrase.h"
#include "cli/commands/tx/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/text.h"
#include "ledger/check.h"
#include "ledger/json_form.h"

/// `tx cosign`.
namespace rhizome::cli::tx {
namespace {

/// Longer than all that a co-signer may wait for.
constexpr seconds kAnswerTime{200};

Result<void> run_cosign(Invocation& call) {
    TRY(const auto tx, read_tx(call.console, call.argument("FILE")));
    TRY(const auto client, asked_node(call));
    TRY(const auto reply, client->ask("POST", "/rhizome/v1/cosign", json::print(ledger::to_json(tx)), kAnswerTime));
    if (!reply.is_good()) return Fail{reply.error()};
    const json::Value* answer = reply.body.find("transaction");
    if (answer == nullptr) return fail(ErrorKind::Failed, "the co-signer answered without a transaction");
    TRY(const auto cosigned, ledger::tx_from_json(json::print(*answer)));
    // Whoever it is: it may add signatures and change nothing.
    if (id_of(cosigned) != id_of(tx))
        return fail(ErrorKind::Denied, "the co-signer gave back another transaction; it was thrown away");
    return write_tx(call, cosigned);
}

}  // namespace

Command cosign_command() {
    return {
        .name = "cosign",
        .summary = "Get a co-signer's signature",
        .details =
            "Asks a node that co-signs (an observer or watchtower with cosign.rules) to sign a transaction under a "
            "lock "
            "of the form 'cosigned KEY ..'. It signs last: all others must have. What its rules do not allow, or a "
            "command of theirs refuses, is answered with the reason (exit code 4).",
        .examples = {{"the watchtower's", "rhizome tx cosign tx.json --node 10.0.0.9:7701 --out tx.json"}},
        .arguments = {tx_argument()},
        .options = with_node_options({data_option(), out_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_cosign,
    };
}

}  // namespace rhizome::cli::tx
