// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"
#include "cli/commands/state/verbs.h"

namespace rhizome::cli {

Command state_command() {
    return {
        .name = "state",
        .summary = "Read what stands in the cluster's state, now or at any height",
        .details =
            "The state is what all blocks together led to: every document with its lock, and the chain's own records "
            "under /chain. These commands read it from a data directory while no node uses it. With --at they show it "
            "as it was after the block of a height.\n"
            "\n"
            "Things are named by their path, as 'state list' prints it, or by KIND/NAME with -n for the namespace.",
        .examples = {{"what is there", "rhizome state list"},
                     {"one document", "rhizome state get pod/db -n web"},
                     {"what a block changed", "rhizome state diff 41 42"}},
        .subcommands = {state_verbs::get_command(), state_verbs::list_command(), state_verbs::diff_command(),
                        state_verbs::proof_command(), state_verbs::export_command()},
        .group = std::string{kGroupChain},
    };
}

}  // namespace rhizome::cli
