// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "cli/doctor/facts.h"
#include "runtime/environment.h"

namespace rhizome::cli::doctor {

/// Looks at this host: reads /proc and /sys, asks the kernel, tries networks in a throwaway namespace. Takes well under
/// a second, changes nothing, and never fails: what cannot be found out counts as absent, with the reason.
Facts gather(const runtime::Environment& environment, const std::filesystem::path& data_folder);

}  // namespace rhizome::cli::doctor
