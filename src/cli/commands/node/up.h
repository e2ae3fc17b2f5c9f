// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/invocation.h"
#include "node/config.h"
#include "node/daemon.h"

/// Running a node in this process: `up`, and `join` once the machine has a chain.
namespace rhizome::cli {

/// A flag for each setting of a node, and `--detach`.
std::vector<Option> running_options();
/// What the settings say of a daemon.
node::DaemonOptions daemon_options(const node::Config& config, const std::filesystem::path& data);

/// Runs until Ctrl-C, SIGTERM, `down` or a failure; on a terminal with a line of status that is always current. A
/// second signal ends it at once: nothing that was answered is lost by that either.
Result<void> run_node(Invocation& call, const node::Config& config, node::DaemonOptions options);
/// The words that start the same node again in the background; with these peers besides.
std::vector<std::string> detached_words(const Invocation& call, const node::Config& config,
                                        const std::filesystem::path& data, const std::vector<std::string>& peers = {});
/// Starts the same in the background and returns once it answers. `words` is what it is called with.
Result<void> detach_node(Invocation& call, const std::filesystem::path& data, const std::vector<std::string>& words);

/// The error that a process in the background ended with, as a message: from what it printed last. Nothing when it
/// printed none.
std::optional<std::string> last_error_in(const std::filesystem::path& last_words);

/// Where a node in the background logs, unless its settings say otherwise.
std::filesystem::path log_file_of(const std::filesystem::path& data);

}  // namespace rhizome::cli
