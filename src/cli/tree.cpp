// SPDX-License-Identifier: Apache-2.0
#include "cli/tree.h"

#include "cli/commands/commands.h"
#include "cli/help.h"
#include "cli/invocation.h"
#include "cli/program.h"

namespace rhizome::cli {
namespace {

Result<void> run_root(Invocation& call) {
    if (call.flag("version")) {
        call.console.out << version_line() << '\n';
        return ok();
    }
    call.console.out << render_overview(
        call.root(), {.program = call.program, .width = call.console.prose_width(), .style = call.console.out_style});
    return ok();
}

}  // namespace

Command command_tree() {
    return {
        .name = "rhizome",
        .summary = "Rhizome, a cluster operating system without a master",
        .details =
            "'up' starts a node on this machine, and a cluster with it when there is none. 'kubeconfig' lets kubectl "
            "ask it.",
        .examples = {{"a cluster of this machine", "rhizome up"},
                     {"let kubectl ask it", "rhizome kubeconfig"},
                     {"see what this host can do", "rhizome doctor"},
                     {"make yourself a key", "rhizome key new alice"},
                     {"let the tab key complete commands in this bash", ". <(rhizome completion bash)"}},
        .options = {{.name = "version", .help = "print the version and stop"}},
        .subcommands = {up_command(),     down_command(),       join_command(),   token_command(),
                        status_command(), kubeconfig_command(), peers_command(),  watch_command(),
                        logs_command(),   node_command(),       config_command(), service_command(),
                        light_command(),  recover_command(),    secret_command(), init_command(),
                        key_command(),    chain_command(),      state_command(),  tx_command(),
                        script_command(), why_command(),        sim_command(),    playground_command(),
                        doctor_command(), completion_command(), proxy_command(),  help_command(),
                        man_command(),    version_command()},
        .variables = {{"NO_COLOR", "when set to anything, no colours"}},
        .run = run_root,
        .global_options = global_options(),
    };
}

}  // namespace rhizome::cli
