// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "cli/console.h"

/// What a shell offers when the tab key is pressed. One engine over the command tree; the shells' scripts only ask it.
namespace rhizome::cli {

/// The hidden command that the scripts call: `rhizome __complete -- doctor --out`. The last word is the one under the
/// cursor, perhaps empty.
inline constexpr std::string_view kCompleteCommand = "__complete";

struct Completed {
    std::vector<Candidate> candidates;
    bool files = false;    ///< let the shell offer files
    bool folders = false;  ///< let the shell offer folders
};

Completed complete(const Command& root, std::span<const std::string> words, const Console& console);

/// One candidate per line, a tab before its description, and at the end `:N` with N as cobra defines it (0 files
/// too, 4 no files, 16 folders only), so that kubectl understands us as its plugin without translation.
std::string to_protocol(const Completed& completed);

enum class Shell : unsigned char { Bash, Zsh, Fish };
/// The script that makes the shell ask us, for `rhizome` and for `kubectl-rhizome`.
std::string_view completion_script(Shell shell);

}  // namespace rhizome::cli
