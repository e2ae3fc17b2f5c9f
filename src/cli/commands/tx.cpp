// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"
#include "cli/commands/tx/verbs.h"

namespace rhizome::cli {

Command tx_command() {
    return {
        .name = "tx",
        .summary = "Write, sign, read, try out and submit transactions",
        .details =
            "A transaction is a signed change: it writes documents, or deletes them, and shows that whoever signed may "
            "do "
            "so. These commands work on files and need no node: a machine without a network can sign.\n"
            "\n"
            "'new' makes an unsigned one from documents, 'sign' adds your signature (several people sign one after the "
            "other), 'check' says what it would do in the next block, 'decode' shows what is in it. All but the last "
            "ask a state which locks are in force: that of this machine's data directory, or one from 'state export' "
            "on a machine that has none. 'submit' puts signed ones into a block; 'held' lists what waits for more "
            "signatures, 'lost' what a node had accepted and a heal took back.",
        .examples = {{"write", "rhizome tx new pod.yaml --state state.json --out tx.json"},
                     {"sign", "rhizome tx sign tx.json --key alice --state state.json --out tx.json"},
                     {"try it out", "rhizome tx check tx.json --state state.json"},
                     {"put it into a block of this machine's chain", "rhizome tx submit tx.json --offline"}},
        .subcommands = {tx::new_command(), tx::sign_command(), tx::cosign_command(), tx::check_command(),
                        tx::decode_command(), tx::submit_command(), tx::held_command(), tx::lost_command()},
        .group = std::string{kGroupChain},
    };
}

}  // namespace rhizome::cli
