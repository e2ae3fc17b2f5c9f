// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/invocation.h"

/// Making a cluster, for `init` and for an `up` that finds none.
namespace rhizome::cli {

/// The options that say what kind of cluster; `data_option` is not among them. The command has an argument NAME.
std::vector<Option> founding_options();
/// Makes it and reports.
Result<void> found_cluster(Invocation& call);
/// Whether there is a chain in the directory.
bool has_chain(const std::filesystem::path& data);

}  // namespace rhizome::cli
