// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"

namespace rhizome::cli {

/// The values of one command line, checked: every declared option and argument has an entry, defaults and environment
/// variables are filled in, choices hold, required ones are there.
struct Values {
    std::map<std::string, std::vector<std::string>, std::less<>> options;  ///< a flag that is set has one empty value
    std::map<std::string, std::vector<std::string>, std::less<>> arguments;
};

/// One call of a command, handed to its handler. Asking for a name that the command does not declare is our own mistake
/// and stops the process. Borrows everything.
class Invocation {
public:
    Invocation(Console& console_in, const CommandPath& path_in, std::string_view program_in, const Values& values)
        : console(console_in), path(path_in), program(program_in), values_(values) {}

    Console& console;
    const CommandPath& path;   ///< the root first, the command being run last
    std::string_view program;  ///< what the person types to run this program: `rhizome`, or `kubectl rhizome`

    [[nodiscard]] const Command& root() const { return *path.front(); }

    [[nodiscard]] bool flag(std::string_view option) const { return !option_values(option).empty(); }
    /// The value of an option, the last one when given twice; empty when there is none.
    [[nodiscard]] std::string text(std::string_view option) const;
    [[nodiscard]] std::optional<std::string> if_text(std::string_view option) const;
    [[nodiscard]] const std::vector<std::string>& texts(std::string_view option) const { return option_values(option); }

    /// The value of an argument; empty when it is optional and absent.
    [[nodiscard]] std::string argument(std::string_view name) const;
    [[nodiscard]] const std::vector<std::string>& arguments(std::string_view name) const;

private:
    [[nodiscard]] const std::vector<std::string>& option_values(std::string_view name) const;

    const Values& values_;
};

}  // namespace rhizome::cli
