// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cli/command.h"
#include "cli/console.h"

namespace rhizome::cli {

/// KIND/NAME of what stands in the state of the node that runs on the default data directory, for the tab key: at most
/// a few hundred, none when no node answers.
std::vector<Candidate> resource_names(const Console& console);

}  // namespace rhizome::cli
