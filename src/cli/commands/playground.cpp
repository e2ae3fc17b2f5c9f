// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"
#include "cli/commands/playground/verbs.h"

namespace rhizome::cli {

Command playground_command() {
    return {
        .name = "playground",
        .summary = "Real nodes on this machine, to be cut, killed and healed",
        .details =
            "Starts several nodes of one cluster on this machine, as processes of this program, and lets you do to "
            "them what networks and power failures do: 'cut' them apart, 'kill' and 'start' them, give orders to any "
            "of them with 'write', 'heal', and 'watch' what becomes of it.\n"
            "\n"
            "As root every node has a network of its own (a namespace), and a cut loses packets as a broken cable "
            "does. Without root they are on ports of the loopback, and a cut tells nodes to refuse each other. This "
            "machine's own network and its own node are not touched. 'down' takes everything away again.",
        .examples = {{"five nodes", "rhizome playground up --nodes 5"},
                     {"see it, in another terminal", "rhizome playground watch"},
                     {"two of them cut off; both sides take orders",
                      "rhizome playground cut 1,2 && rhizome playground write 1 && rhizome playground write 4"},
                     {"together again: nothing is lost", "rhizome playground heal"},
                     {"all gone", "rhizome playground down"}},
        .subcommands = {playground::up_command(), playground::status_command(), playground::watch_command(),
                        playground::write_command(), playground::cut_command(), playground::heal_command(),
                        playground::kill_command(), playground::start_command(), playground::logs_command(),
                        playground::kubeconfig_command(), playground::down_command(), playground::hold_command()},
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
