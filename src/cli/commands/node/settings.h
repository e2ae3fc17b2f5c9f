// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/invocation.h"
#include "node/config.h"

/// A node's settings on the command line: everything follows from the table in `node/config.h`.
namespace rhizome::cli {

/// `--config` and a flag for each setting.
std::vector<Option> setting_options();
/// What the environment may say, for the help.
std::vector<Variable> setting_variables();

/// The settings that this call, its environment and the file of this data directory give. The command declares
/// `setting_options`.
Result<node::Config> config_of(const Invocation& call, const std::filesystem::path& data);
/// The file that is read; nothing when there is none.
Result<std::optional<node::ConfigFile>> config_file_of(const Invocation& call, const std::filesystem::path& data);

/// The words that say the same settings again: those flags that were given.
std::vector<std::string> setting_words(const Invocation& call);

}  // namespace rhizome::cli
