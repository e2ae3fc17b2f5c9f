// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "api/kubeconfig.h"
#include "cli/console.h"

namespace rhizome::cli {

/// Puts a context into kubectl's own file, as the current one: the first file of KUBECONFIG, else ~/.kube/config. What
/// else is there stays. `out` is a file of its own instead, `-` stdout. Gives the file; empty for stdout.
Result<std::filesystem::path> write_kube_context(Console& console, const std::optional<std::string>& out,
                                                 const api::KubeContext& context);

}  // namespace rhizome::cli
