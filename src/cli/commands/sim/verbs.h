// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

/// The commands below `rhizome sim`.
namespace rhizome::cli::simulate {

Command run_command();
Command replay_command();
Command tables_command();
Command explore_command();

}  // namespace rhizome::cli::simulate
