// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include "cli/commands/commands.h"
#include "cli/invocation.h"

namespace rhizome::cli {
namespace {

Result<void> run(Invocation& call) {
    const auto shell = call.argument("SHELL");
    call.console.out << completion_script(shell == "bash" ? Shell::Bash : shell == "zsh" ? Shell::Zsh : Shell::Fish);
    return ok();
}

}  // namespace

Command completion_command() {
    return {
        .name = "completion",
        .summary = "Print a script that teaches your shell to complete commands",
        .details =
            "The script asks this program what fits whenever you press the tab key, so it stays right when the "
            "program is upgraded. Packages install it; these are the ways by hand.\n"
            "\n"
            "For kubectl 1.26 or later, completing 'kubectl rhizome' needs an executable named "
            "kubectl_complete-rhizome in PATH:\n"
            "\n"
            "  #!/bin/sh\n"
            "  exec rhizome __complete -- \"$@\"",
        .examples = {{"bash, this shell only", ". <(rhizome completion bash)"},
                     {"bash, all new shells of yours (needs the package bash-completion)",
                      "rhizome completion bash > ~/.local/share/bash-completion/completions/rhizome"},
                     {"zsh, into a folder that is in $fpath", "rhizome completion zsh > ~/.zfunc/_rhizome"},
                     {"fish", "rhizome completion fish > ~/.config/fish/completions/rhizome.fish"}},
        .arguments =
            {{.name = "SHELL",
              .help = "the shell",
              .choices = {{"bash", "GNU Bash 4.2 or later"}, {"zsh", "Z shell"}, {"fish", "fish 3 or later"}}}},
        .run = run,
        .group = std::string{kGroupProgram},
    };
}

}  // namespace rhizome::cli
