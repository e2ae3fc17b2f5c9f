// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/chain/verbs.h"
#include "cli/commands/commands.h"

namespace rhizome::cli {

Command chain_command() {
    return {
        .name = "chain",
        .summary = "Look at, check and carry the blocks of a data directory",
        .details =
            "The chain is the cluster's history: every change that was ever accepted, in order, signed, and with the "
            "root of the state that it led to. These commands read it from a data directory while no node uses it; "
            "they need no network.\n"
            "\n"
            "'show' gives an overview, 'block' and 'tx' show one of them, 'verify' executes everything again and names "
            "the first fault. 'anchor' and 'proof' print small files that others can check without the chain. 'export' "
            "and 'import' carry blocks between machines and to other tools; 'backup', 'restore' and 'snapshot' carry "
            "whole chains and states; 'prune' deletes what is old.",
        .examples = {{"what is in this machine's data directory", "rhizome chain show"},
                     {"is it whole and true", "rhizome chain verify"},
                     {"all changes, for jq", "rhizome chain export -o jsonl --what changes | jq .path"}},
        .subcommands = {chain::show_command(), chain::block_command(), chain::tx_command(), chain::proof_command(),
                        chain::verify_command(), chain::anchor_command(), chain::export_command(),
                        chain::import_command(), chain::backup_command(), chain::restore_command(),
                        chain::snapshot_command(), chain::prune_command()},
        .group = std::string{kGroupChain},
    };
}

}  // namespace rhizome::cli
