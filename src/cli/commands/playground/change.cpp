// SPDX-License-Identifier: Apache-2.0
// `rhizome playground up`, `down`, `cut`, `heal`, `kill`, `start`: what is done to it.
#include <unistd.h>

#include <fmt/core.h>

#include "cli/commands/playground/verbs.h"
#include "cli/text.h"
#include "cli/values.h"
#include "runtime/interrupt.h"

namespace rhizome::cli::playground {
namespace {

Result<Apart> apart_of(const Invocation& call) {
    const bool root = ::geteuid() == 0;
    const std::string asked = call.text("apart");
    if (asked == "networks" && !root)
        return fail(ErrorKind::Denied,
                    "networks of their own need root\nwithout --apart the nodes are on ports of the loopback");
    return asked == "ports" || !root ? Apart::Ports : Apart::Networks;
}

Result<void> run_up(Invocation& call) {
    TRY(const auto folder, folder_of(call));
    TRY(const auto nodes, whole_number(call, "nodes", kNodesMax));
    if (nodes == 0) return fail(ErrorKind::Usage, "--nodes 0: a cluster has one node at least");
    TRY(const auto apart, apart_of(call));
    const runtime::Interrupt interrupt;
    TRY(const auto on,
        Playground::up({.folder = folder,
                        .nodes = static_cast<unsigned>(nodes),
                        .apart = apart,
                        .told = [&](const std::string& line) { call.console.err << line << '\n'
                                                                                << std::flush; },
                        .stop_asked = [&] { return interrupt.asked(); }}));
    call.console.err << '\n';
    call.console.out << look_text(call.console.out_style, on.look());
    call.console.err << fmt::format(
        "\n{} nodes run{}. Try, with '{} playground' before each:\n"
        "  watch       in another terminal\n"
        "  cut 1       {}\n"
        "  write 1     an order to the side that was cut off, and 'write {}' to the other\n"
        "  heal        nothing is lost\n"
        "  down        takes everything away\n",
        nodes, apart == Apart::Networks ? ", each in a network of its own" : " on ports of the loopback", call.program,
        "the first node from the others", nodes);
    return ok();
}

Result<void> run_down(Invocation& call) {
    TRY(const auto folder, folder_of(call));
    TRY(const unsigned ended, Playground::down(folder));
    call.console.out << fmt::format("{} process{} ended, {} deleted\n", ended, ended == 1 ? "" : "es",
                                    printable(folder.native()));
    return ok();
}

/// What `cut` and `heal` leave.
void say_sides(Invocation& call, const Playground& on) {
    const std::string text = look_text(call.console.out_style, on.look());
    const std::size_t below = text.find("\n\n");
    call.console.out << (below == std::string::npos ? text : text.substr(below + 2));
}

Result<void> run_cut(Invocation& call) {
    TRY(auto on, opened(call));
    TRY(on.cut(call.arguments("CUT")));
    say_sides(call, on);
    return ok();
}

Result<void> run_heal(Invocation& call) {
    TRY(auto on, opened(call));
    TRY(on.heal(call.arguments("CUT")));
    say_sides(call, on);
    return ok();
}

Result<void> run_kill(Invocation& call) {
    TRY(auto on, opened(call));
    TRY(const unsigned node, node_of(call, on));
    TRY(on.kill(node));
    call.console.out << fmt::format("n{} is killed\n", node);
    return ok();
}

Result<void> run_start(Invocation& call) {
    TRY(auto on, opened(call));
    TRY(const unsigned node, node_of(call, on));
    TRY(on.start(node));
    call.console.out << fmt::format("n{} runs\n", node);
    return ok();
}

/// Nothing but to be there: the descriptors that it was born with keep the networks.
Result<void> run_hold(Invocation&) {
    for (;;) ::pause();
}

}  // namespace

Command up_command() {
    return {.name = "up",
            .summary = "Start a playground",
            .details =
                "Founds a cluster and starts its nodes in the background: each is a process of this program with a "
                "data directory of its own. Returns when all of them are members and vote. Ctrl-C takes back what was "
                "begun.\n"
                "\n"
                "Edit DIR/nN/config.yaml, 'kill N' and 'start N' to give one node other settings.",
            .examples = {{"three nodes", "rhizome playground up"}, {"five", "rhizome playground up --nodes 5"}},
            .options = {folder_option(),
                        {.name = "nodes", .letter = 'n', .value_name = "N", .help = "how many", .fallback = "3"},
                        {.name = "apart",
                         .value_name = "HOW",
                         .help = "how nodes are kept apart; default: networks for root, else ports",
                         .choices = {{"networks", "each has a network of its own; needs root"},
                                     {"ports", "on ports of the loopback; no cuts of one way"}}}},
            .run = run_up};
}

Command down_command() {
    return {.name = "down",
            .summary = "End all nodes and delete everything of a playground",
            .details =
                "Also what a playground left whose commands were killed: processes are known by number and start, so "
                "that no other process is ever ended.",
            .examples = {{"all gone", "rhizome playground down"}},
            .options = {folder_option()},
            .run = run_down};
}

Command cut_command() {
    return {.name = "cut",
            .summary = "Cut nodes off from the others",
            .details =
                "1,2 cuts these from all others, both ways. 1>3 loses what node 1 sends to node 3 and nothing else "
                "(nodes in networks of their own only). Several cuts may stand; 'heal' ends them.",
            .examples = {{"two sides", "rhizome playground cut 1,2"},
                         {"three sides of five", "rhizome playground cut 1,2 5"},
                         {"one way", "rhizome playground cut '1>2'"}},
            .arguments = {{.name = "CUT", .help = "1,2 or 1>3", .repeatable = true}},
            .options = {folder_option()},
            .run = run_cut};
}

Command heal_command() {
    return {
        .name = "heal",
        .summary = "End cuts",
        .examples = {{"all of them", "rhizome playground heal"}, {"one", "rhizome playground heal 1,2"}},
        .arguments = {{.name = "CUT", .help = "as it was cut; default: all", .required = false, .repeatable = true}},
        .options = {folder_option()},
        .run = run_heal};
}

Command kill_command() {
    return {.name = "kill",
            .summary = "Kill a node as a power failure does",
            .details = "With SIGKILL. Nothing that it answered as included is lost: 'start' brings it back.",
            .examples = {{"the third", "rhizome playground kill 3"}},
            .arguments = {node_argument("which node: 1 or n1")},
            .options = {folder_option()},
            .run = run_kill};
}

Command start_command() {
    return {.name = "start",
            .summary = "Start a node again that was killed",
            .examples = {{"the third", "rhizome playground start 3"}},
            .arguments = {node_argument("which node: 1 or n1")},
            .options = {folder_option()},
            .run = run_start};
}

Command hold_command() {
    return {.name = "hold",
            .summary = "Keep networks",
            .examples = {{"started by 'up'", "rhizome playground hold"}},
            .run = run_hold,
            .hidden = true};
}

}  // namespace rhizome::cli::playground
