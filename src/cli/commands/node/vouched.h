// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "node/light_node.h"

namespace rhizome::cli {

/// `--trust`: HEIGHT:HASH, or a file that `chain anchor` wrote.
Result<node::VouchedBlock> read_vouched(const std::string& text);

}  // namespace rhizome::cli
