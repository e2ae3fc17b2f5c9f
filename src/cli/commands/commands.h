// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.h"

/// Every command of the program, one file each. `tree.cpp` puts them together.
namespace rhizome::cli {

/// Headings of the overview.
inline constexpr std::string_view kGroupChain = "The chain";
inline constexpr std::string_view kGroupHost = "This host";
inline constexpr std::string_view kGroupYou = "You";
inline constexpr std::string_view kGroupProgram = "This program";

Command chain_command();
Command completion_command();
Command config_command();
Command doctor_command();
Command down_command();
Command help_command();
Command init_command();
Command join_command();
Command key_command();
Command kubeconfig_command();
Command light_command();
Command logs_command();
Command man_command();
Command node_command();
Command peers_command();
Command playground_command();
Command proxy_command();
Command recover_command();
Command script_command();
Command secret_command();
Command service_command();
Command sim_command();
Command state_command();
Command status_command();
Command token_command();
Command tx_command();
Command up_command();
Command version_command();
Command watch_command();
Command why_command();

/// One line, as `rhizome --version` prints it.
std::string version_line();

}  // namespace rhizome::cli
