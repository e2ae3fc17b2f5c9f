// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "ledger/block.h"
#include "state/delta.h"

namespace rhizome::ledger {

/// The outputs of a block's transactions: the record of what the block changed is kept without them, and read back with
/// them (`state::encode`). Borrows the block.
class BlockOutputs final : public state::Outputs {
public:
    /// `ids` are those of the block's transactions, in order; computed when there are none.
    explicit BlockOutputs(const Block& block, std::span<const TxId> ids = {});
    [[nodiscard]] std::optional<Output> find(const state::Outpoint& output) const override;

private:
    const Block& block_;
    std::vector<std::pair<TxId, std::size_t>> places_;  ///< sorted
};

}  // namespace rhizome::ledger
