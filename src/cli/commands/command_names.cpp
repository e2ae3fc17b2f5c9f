// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/command_names.h"

#include <fmt/core.h>

#include "base/similar.h"
#include "cli/text.h"

namespace rhizome::cli {

Result<CommandPath> find_command(const Invocation& call, std::span<const std::string> words) {
    CommandPath path{&call.root()};
    for (const auto& word : words) {
        const auto* below = path.back()->find(word);
        if (below != nullptr) {
            path.push_back(below);
            continue;
        }
        std::vector<std::string> names;
        for (const auto& command : path.back()->subcommands) {
            if (!command.hidden) names.push_back(command.name);
        }
        const auto group = path_text(call.program, path);
        auto message = fmt::format("\"{}\" is not a command of {}", printable(word), group);
        if (const auto hint = did_you_mean(nearest(word, names)); !hint.empty()) message += "\n" + hint;
        return fail(ErrorKind::NotFound, message + fmt::format("\n'{} --help' lists what there is", group));
    }
    return path;
}

}  // namespace rhizome::cli
