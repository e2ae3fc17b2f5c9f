// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

/// The commands below `rhizome state`. Not `cli::state`: that would hide `rhizome::state` in every command.
namespace rhizome::cli::state_verbs {

Command get_command();
Command list_command();
Command diff_command();
Command proof_command();
Command export_command();

}  // namespace rhizome::cli::state_verbs
