// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

/// The commands below `rhizome tx`.
namespace rhizome::cli::tx {

Command new_command();
Command sign_command();
Command decode_command();
Command check_command();
Command submit_command();
Command cosign_command();
Command held_command();
Command lost_command();

}  // namespace rhizome::cli::tx
