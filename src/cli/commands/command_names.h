// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "cli/invocation.h"

namespace rhizome::cli {

/// The command that words name: `key new`. NotFound with the nearest names when there is none.
Result<CommandPath> find_command(const Invocation& call, std::span<const std::string> words);

}  // namespace rhizome::cli
