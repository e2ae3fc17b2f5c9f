// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/style.h"

namespace rhizome::cli {

/// How help is drawn: what the program is called, how many columns there are, whether there are colours.
struct HelpLook {
    std::string_view program = "rhizome";
    unsigned width = 80;
    Style style{};
};

/// The help of one command: usage, what it does, examples, arguments, options, subcommands, global options,
/// environment.
std::string render_help(const CommandPath& path, const HelpLook& look);

/// What the program shows when called without arguments: all commands, grouped by purpose.
std::string render_overview(const Command& root, const HelpLook& look);

// ---- parts that the manual pages share ------------------------------------------------------------------------------

/// `rhizome key new [options] NAME [FILE]...`
std::string usage_line(std::string_view program, const CommandPath& path);
/// `-o, --output FORMAT`; without a letter `--color WHEN`.
std::string option_names(const Option& option);
/// The help with its default, choices and environment variable.
std::string option_help(const Option& option);
std::string argument_help(const Argument& argument);
/// The environment variables that matter to a command: those of its options, then its own, then the program's.
std::vector<Variable> variables_of(const CommandPath& path);
/// An example as it is typed by somebody who calls the program this way.
std::string example_line(std::string_view program, const Example& example);

}  // namespace rhizome::cli
