// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/invocation.h"
#include "cli/known_keys.h"
#include "ledger/apply.h"
#include "ledger/signing.h"
#include "ledger/state_export.h"
#include "ledger/tx.h"
#include "node/rpc/draft_wish.h"
#include "node/rpc_client.h"

/// What the tx commands have in common: the state they ask, transactions from files and back, and what inputs still
/// need.
namespace rhizome::cli::tx {

/// The state that a command works against.
struct World {
    ledger::ExportedState at;
    ledger::LedgerState state;
    Time now;              ///< what the next block's time is likely to be close to: the state's own, or this machine's
    bool of_file = false;  ///< an exported state; else that of a data directory
};
/// `--state FILE`. A command that declares it, `data_option` and `with_node_options` uses the functions below.
Option state_option();
/// The state of the file when there is one, else the latest of the data directory, which no node uses.
Result<World> world_of(Invocation& call);
/// What signing `tx` needs to know: the same, or, where a node is asked (`if_asked_node`), the part of its state that
/// the transaction is about.
Result<World> world_for(Invocation& call, const ledger::Tx& tx);
/// The node to ask; null with `--state`, and where none runs.
Result<std::unique_ptr<node::RpcClient>> node_to_ask(Invocation& call);

/// A draft of the node's, with the part of its state that signing needs. Denied when it says anything else than `form`.
struct Drafted {
    ledger::Tx tx;
    World world;
};
Result<Drafted> draft_at(node::RpcClient& client, const node::WishForm& form, Time now);

/// The argument FILE: a transaction.
Argument tx_argument();
/// A transaction from a file, from stdin with `-`, or from hexadecimal digits given in its place. JSON, hexadecimal and
/// bytes tell themselves apart.
Result<ledger::Tx> read_tx(Console& console, const std::string& given);

/// `--out FILE`; without it transactions go to stdout. A command that declares it uses `write_tx`.
Option out_option();
Result<void> write_tx(Invocation& call, const ledger::Tx& tx);

/// The names of all keys in the key folder that can be read; none when there is no folder. The command declares
/// `key::keys_option`.
KnownKeys keys_of(const Invocation& call);
/// The same text with names in place of keys and addresses in hexadecimal.
std::string with_names(std::string text, const KnownKeys& keys);

/// How far an input is, in one line: `input 0 (authority of /namespaces/web): needs the signature of alice`.
std::string progress_line(std::size_t index, const ledger::InputUse& use, const ledger::InputProgress& progress,
                          const KnownKeys& keys);

/// Exit codes tell denied, conflicting and missing apart; every other refusal is a plain failure.
Error error_of(const ledger::Reject& reject);

/// `ab12…:0`, as long as needed to tell outputs apart by eye.
std::string outpoint_text(const ledger::Outpoint& outpoint);

}  // namespace rhizome::cli::tx
