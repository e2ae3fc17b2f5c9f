// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

/// The commands below `rhizome key`.
namespace rhizome::cli::key {

Command new_command();
Command list_command();
Command show_command();
Command export_command();
Command import_command();
Command sign_command();
Command verify_command();

}  // namespace rhizome::cli::key
