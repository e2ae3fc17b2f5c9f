// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "cli/console.h"

namespace rhizome::cli {

/// The whole of a file, or of stdin for `-`, when it has at most `max_bytes`: for what is no secret.
Result<std::string> read_input(Console& console, const std::string& file, std::size_t max_bytes);

}  // namespace rhizome::cli
