// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include "cli/commands/command_names.h"
#include "cli/commands/commands.h"

namespace rhizome::cli {
namespace {

Result<void> run_help(Invocation& call) {
    TRY(const auto path, find_command(call, call.arguments("COMMAND")));
    const HelpLook look{.program = call.program, .width = call.console.prose_width(), .style = call.console.out_style};
    call.console.out << (path.size() == 1 ? render_overview(call.root(), look) : render_help(path, look));
    return ok();
}

}  // namespace

Command help_command() {
    return {
        .name = "help",
        .summary = "Show what a command does and how to call it",
        .details = "The same text as with --help after the command.",
        .examples = {{"all commands", "rhizome help"}, {"one of them", "rhizome help doctor"}},
        .arguments = {{.name = "COMMAND",
                       .help = "the command, all its words",
                       .required = false,
                       .repeatable = true,
                       .completion = Completion::commands()}},
        .run = run_help,
        .group = std::string{kGroupProgram},
    };
}

}  // namespace rhizome::cli
