// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/invocation.h"
#include "node/daemon.h"

/// Running a node in this process: `up`, and `join` once the machine has a chain.
namespace rhizome::cli {

/// `--listen`, `--rpc-listen`, `--peer`, `--mine`, `--log`, `--detach`.
std::vector<Option> running_options();
/// What those say.
Result<node::DaemonOptions> daemon_options(Invocation& call, const std::filesystem::path& data);

/// Runs until Ctrl-C, `down` or a failure; on a terminal with a line of status that is always current.
Result<void> run_node(Invocation& call, node::DaemonOptions options);
/// The words that start the same node again in the background; with these peers besides.
std::vector<std::string> detached_words(const Invocation& call, const std::filesystem::path& data,
                                        const std::vector<std::string>& peers = {});
/// Starts the same in the background and returns once it answers. `words` is what it is called with.
Result<void> detach_node(Invocation& call, const std::filesystem::path& data, const std::vector<std::string>& words);

}  // namespace rhizome::cli
