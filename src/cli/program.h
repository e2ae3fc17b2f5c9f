// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/command.h"
#include "cli/console.h"

namespace rhizome::cli {

/// Runs one command line: parses it, shows help where asked, calls the handler, prints its error. `words` come without
/// the program's name; the answer is the exit code. `argv0` decides what the program calls itself in texts.
int run_program(const Command& root, std::string_view argv0, std::span<const std::string> words, Console& console);

/// What the person types to run the program: `kubectl rhizome` for `…/kubectl-rhizome`, which kubectl calls as its
/// plugin, and `rhizome` for every other name.
std::string program_name(std::string_view argv0);

/// The options that every command takes: --color and --help.
std::vector<Option> global_options();

}  // namespace rhizome::cli
