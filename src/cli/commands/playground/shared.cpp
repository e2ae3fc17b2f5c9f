// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/playground/verbs.h"
#include "cli/text.h"

namespace rhizome::cli::playground {

Option folder_option() {
    return {.name = "dir",
            .value_name = "DIR",
            .help = "where it is kept; default: playground in your state folder (~/.local/state/rhizome)",
            .variable = "RHIZOME_PLAYGROUND",
            .completion = Completion::folders()};
}

Result<std::filesystem::path> folder_of(const Invocation& call) {
    if (const auto given = call.if_text("dir")) return std::filesystem::absolute(*given).lexically_normal();
    TRY(const auto state, call.console.environment.state_folder());
    return state / "playground";
}

Result<Playground> opened(const Invocation& call) {
    TRY(const auto folder, folder_of(call));
    return Playground::open(folder);
}

Argument node_argument(std::string help) { return {.name = "NODE", .help = std::move(help)}; }

Result<unsigned> node_of(const Invocation& call, const Playground& on) {
    std::string text = call.argument("NODE");
    if (text.starts_with('n')) text.erase(0, 1);  // as status shows it
    for (unsigned node = 1; node <= on.record().count(); ++node)
        if (text == std::to_string(node)) return node;
    return fail(ErrorKind::Usage, fmt::format("\"{}\" is no node of this playground: they are 1 to {}",
                                              printable(call.argument("NODE")), on.record().count()));
}

}  // namespace rhizome::cli::playground
