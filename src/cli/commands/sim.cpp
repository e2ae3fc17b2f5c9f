// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/commands.h"
#include "cli/commands/sim/verbs.h"

namespace rhizome::cli {

Command sim_command() {
    return {
        .name = "sim",
        .summary = "Simulate clusters: the same node in a virtual world where everything goes wrong",
        .details =
            "Runs the deciding half of the node, many times in one process, on virtual time: networks that are cut, "
            "machines that lose power, clocks and disks that are wrong, members that lie. Nothing of this host is "
            "touched but the processor, and the same seed gives the same history everywhere.\n"
            "\n"
            "'run' looks for broken promises in many histories, 'replay' tells one of them, 'tables' measures the "
            "availability and attack tables of the specification, 'explore' is a cluster to play with.",
        .examples = {{"look for faults on all processors", "rhizome sim run --seeds 1000"},
                     {"tell what happened in one history", "rhizome sim replay 17 --html seed-17.html"},
                     {"cut a cluster of five by hand", "rhizome sim explore --machines 5"}},
        .subcommands = {simulate::run_command(), simulate::replay_command(), simulate::tables_command(),
                        simulate::explore_command()},
        .group = std::string{kGroupProgram},
    };
}

}  // namespace rhizome::cli
