// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "base/result.h"

namespace rhizome::store {

/// Takes away what making a chain left in this folder when it was killed half way: log, index and place without the
/// file that says whose they are. For whoever knows that it made them: a lost `format` looks the same. Conflict while
/// another process uses the folder, or when there is a chain in it.
Result<void> discard_unfinished(const std::filesystem::path& folder);

}  // namespace rhizome::store
