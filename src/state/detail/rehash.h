// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/parallel.h"
#include "state/detail/node.h"

namespace rhizome::state::detail {

/// H(tag ‖ bit ‖ left ‖ right), on its own; `rehash` computes many side by side.
Hash256 inner_hash(std::uint16_t bit, const Hash256& left, const Hash256& right);

/// The hash of the tree at `root`, bringing every stale hash below it up to date. Works upward level by level, so that
/// hashes that do not wait for each other run two at a time, and over `parallel`'s threads when given.
Hash256 rehash(NodeRef root, Parallel* parallel);

}  // namespace rhizome::state::detail
