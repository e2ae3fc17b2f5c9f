// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/invocation.h"
#include "node/machine.h"

/// Making a cluster, for `init` and for an `up` that finds none.
namespace rhizome::cli {

/// The options that say what kind of cluster; `data_option` is not among them. The command has an argument NAME.
std::vector<Option> founding_options();
/// Makes it and reports.
Result<void> found_cluster(Invocation& call, const node::NodeTraits& traits);
/// `--node`, or this machine's host name as Kubernetes takes it.
Result<std::string> node_name_of_host(const Invocation& call);
/// Whether there is a chain in the directory.
bool has_chain(const std::filesystem::path& data);

}  // namespace rhizome::cli
