// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

/// The commands below `rhizome chain`.
namespace rhizome::cli::chain {

Command show_command();
Command block_command();
Command tx_command();
Command proof_command();
Command verify_command();
Command anchor_command();
Command export_command();
Command import_command();
Command backup_command();
Command restore_command();
Command snapshot_command();
Command prune_command();

}  // namespace rhizome::cli::chain
