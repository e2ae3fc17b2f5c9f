// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "api/revisions.h"

namespace rhizome::node {

/// The number before the first `resourceVersion` of this run, given what the clock says it should be: above all that
/// earlier runs in this data directory may have given, also when the clock was set back since. Says so to the disk
/// (`node/revisions`) before it returns; what cannot be read there counts for nothing. Errors are those of the disk.
Result<api::Revision> begin_revisions(const std::filesystem::path& data, api::Revision by_clock);

}  // namespace rhizome::node
