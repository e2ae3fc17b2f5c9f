// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

namespace rhizome::cli {

/// The whole program as a tree of commands.
Command command_tree();

}  // namespace rhizome::cli
