// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands/playground/playground.h"
#include "cli/invocation.h"

/// The commands of `rhizome playground`, and what they share.
namespace rhizome::cli::playground {

Command up_command();
Command down_command();
Command cut_command();
Command heal_command();
Command kill_command();
Command start_command();
Command write_command();
Command status_command();
Command watch_command();
Command logs_command();
Command kubeconfig_command();
Command hold_command();  ///< hidden: keeps networks while no node is in them

/// `--dir DIR`. A command that declares it uses these.
Option folder_option();
Result<std::filesystem::path> folder_of(const Invocation& call);
Result<Playground> opened(const Invocation& call);
/// The argument NODE.
Argument node_argument(std::string help);
Result<unsigned> node_of(const Invocation& call, const Playground& on);

/// What `status` and `watch` show of `Playground::look`.
std::string look_text(const Style& style, const json::Value& look);

}  // namespace rhizome::cli::playground
