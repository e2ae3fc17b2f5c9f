// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/invocation.h"
#include "cli/text.h"
#include "runtime/files.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCompleter = "#!/bin/sh\nexec kubectl-rhizome __complete -- \"$@\"\n";

/// Makes this program kubectl's plugin: kubectl finds it by its name.
Result<void> install_plugin(Invocation& call) {
    fs::path folder;
    if (const auto given = call.if_text("dir")) {
        folder = *given;
    } else {
        const auto home = call.console.environment.find_filled("HOME");
        if (!home) return fail(ErrorKind::Usage, "HOME is not set: say where the links go with --dir DIR");
        folder = fs::path{*home} / ".local" / "bin";
    }
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    if (failed) return fail(ErrorKind::Failed, "this program does not find itself: " + failed.message());
    TRY(runtime::make_folder(folder, 0755));
    const fs::path link = folder / "kubectl-rhizome";
    const bool is_link = fs::is_symlink(fs::symlink_status(link, failed));
    if (!is_link && fs::exists(link, failed))
        return fail(ErrorKind::Conflict,
                    fmt::format("{} is there and is no link: move it away", printable(link.native())));
    fs::remove(link, failed);
    fs::create_symlink(program, link, failed);
    if (failed) return fail(ErrorKind::Failed, fmt::format("{}: {}", link.native(), failed.message()));
    TRY(runtime::replace_file(folder / "kubectl_complete-rhizome", kCompleter, 0755));
    call.console.err << fmt::format("'kubectl rhizome' works where {} is in PATH\n", printable(folder.native()));
    return ok();
}

Result<void> run_completion(Invocation& call) {
    const auto shell = call.argument("SHELL");
    if (shell == "kubectl") return install_plugin(call);
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
            "'kubectl' prints nothing: it makes this program kubectl's plugin, so that 'kubectl rhizome ...' works. It "
            "links kubectl-rhizome to this program and writes kubectl_complete-rhizome (for kubectl 1.26 or later), "
            "both into --dir, which has to be in PATH.",
        .examples = {{"bash, this shell only", ". <(rhizome completion bash)"},
                     {"bash, all new shells of yours (needs the package bash-completion)",
                      "rhizome completion bash > ~/.local/share/bash-completion/completions/rhizome"},
                     {"zsh, into a folder that is in $fpath", "rhizome completion zsh > ~/.zfunc/_rhizome"},
                     {"fish", "rhizome completion fish > ~/.config/fish/completions/rhizome.fish"},
                     {"kubectl", "rhizome completion kubectl && kubectl rhizome status"}},
        .arguments = {{.name = "SHELL",
                       .help = "the shell",
                       .choices = {{"bash", "GNU Bash 4.2 or later"},
                                   {"zsh", "Z shell"},
                                   {"fish", "fish 3 or later"},
                                   {"kubectl", "kubectl's plugin"}}}},
        .options = {{.name = "dir",
                     .value_name = "DIR",
                     .help = "where kubectl's links go; default: ~/.local/bin",
                     .completion = Completion::folders()}},
        .run = run_completion,
        .group = std::string{kGroupProgram},
    };
}

}  // namespace rhizome::cli
