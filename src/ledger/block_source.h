// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/result.h"
#include "ledger/block.h"
#include "state/delta.h"

namespace rhizome::ledger {

/// Where blocks and their changes lie: the disk of a real node, memory in simulation. Declared here so that moving
/// between branches is decided without knowing which.
class BlockSource {
public:
    virtual ~BlockSource() = default;

    /// NotFound when there is no such block here (or it was pruned), Corrupt when its bytes are damaged.
    [[nodiscard]] virtual Result<Block> block(const BlockHash& hash) const = 0;
    /// What the block changed, when it was applied here before and that is still kept: undoes it, and does it again
    /// without running a script. NotFound otherwise, which is no fault: the block can be applied anew.
    [[nodiscard]] virtual Result<state::Delta> change(const BlockHash& hash) const = 0;
};

}  // namespace rhizome::ledger
