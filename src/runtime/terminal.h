// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"
#include "runtime/environment.h"

/// The person in front of the program.
namespace rhizome::runtime {

/// Is there a person (or something that plays one) behind this descriptor?
bool is_terminal(int descriptor);

/// Columns of the terminal behind this descriptor; nothing for files and pipes.
std::optional<unsigned> terminal_width(int descriptor);

/// May output to this descriptor carry colours? Only on a terminal that knows them, and never when NO_COLOR is set
/// (https://no-color.org: any value but the empty one).
bool wants_colour(int descriptor, const Environment& environment);

/// Asks on the terminal, not on stdin and stdout, which may be redirected. Both restore the terminal before they return
/// and before a signal (Ctrl-C, Ctrl-Z, hangup, termination) takes its usual effect, so that nobody is left with a
/// shell that does not echo. Usage when there is no terminal, Denied when the person ends the input (Ctrl-D).
///
/// `terminal` is a parameter for tests only.
Result<SecretBytes> ask_passphrase(std::string_view prompt, const std::filesystem::path& terminal = "/dev/tty");
/// `prompt [y/N] `: true for y or yes, false for anything else.
Result<bool> confirm(std::string_view prompt, const std::filesystem::path& terminal = "/dev/tty");

}  // namespace rhizome::runtime
