// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/command.h"
#include "cli/invocation.h"
#include "runtime/environment.h"

namespace rhizome::cli {

struct Parsed {
    CommandPath path;
    Values values;
};

/// Which command the words name, and with which values. Every error is of kind Usage, says which word is wrong and what
/// may have been meant, and names the help page. `program` is what the person types to run this program.
///
/// What is accepted follows from `walk`, which completion and help use too, so that the three never read a line in
/// different ways. CLI11 was tried in its place and given up: it cuts `[a,b]` into two arguments, drops `++`, and after
/// `--` may read words as options of the command above.
Result<Parsed> parse(const Command& root, std::string_view program, std::span<const std::string> words,
                     const runtime::Environment& environment);

}  // namespace rhizome::cli
