// SPDX-License-Identifier: Apache-2.0
#include "ledger/block_outputs.h"

#include <algorithm>

namespace rhizome::ledger {

BlockOutputs::BlockOutputs(const Block& block, std::span<const TxId> ids) : block_(block) {
    places_.reserve(block.txs.size());
    for (std::size_t i = 0; i < block.txs.size(); ++i)
        places_.emplace_back(ids.size() == block.txs.size() ? ids[i] : id_of(block.txs[i]), i);
    std::sort(places_.begin(), places_.end());
}

std::optional<state::Outputs::Output> BlockOutputs::find(const state::Outpoint& output) const {
    const auto at = std::lower_bound(places_.begin(), places_.end(), output.change,
                                     [](const auto& place, const TxId& id) { return place.first < id; });
    if (at == places_.end() || at->first != output.change) return std::nullopt;
    const Tx& tx = block_.txs[at->second];
    if (output.index >= tx.outputs.size()) return std::nullopt;
    return Output{.script = tx.outputs[output.index].locking, .document = tx.outputs[output.index].value};
}

}  // namespace rhizome::ledger
