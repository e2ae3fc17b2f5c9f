// SPDX-License-Identifier: Apache-2.0
#include "core/detail/recent_blocks.h"

#include "ledger/codec.h"

namespace rhizome::core::detail {

void RecentBlocks::put(const ledger::BlockHash& hash, SharedBlock block) { step_blocks_[hash] = std::move(block); }

void RecentBlocks::put_change(const ledger::BlockHash& hash, const state::Delta& change) {
    step_changes_[hash] = change;
}

void RecentBlocks::put_checked(const ledger::BlockHash& hash, std::vector<ledger::SharedTx> txs) {
    std::size_t bytes = 1;
    for (const ledger::SharedTx& tx : txs) bytes += tx->bytes;
    checked_.put(hash, std::move(txs), bytes);
}

const std::vector<ledger::SharedTx>* RecentBlocks::checked(const ledger::BlockHash& hash) const {
    return checked_.get(hash);
}

void RecentBlocks::end_step() {
    for (auto& [hash, block] : step_blocks_) {
        const std::size_t bytes = ledger::encoded_size(*block);
        blocks_.put(hash, std::move(block), bytes);
    }
    for (auto& [hash, change] : step_changes_) changes_.put(hash, std::move(change));
    step_blocks_.clear();
    step_changes_.clear();
}

Result<SharedBlock> RecentBlocks::shared(const ledger::BlockHash& hash) const {
    if (const auto at = step_blocks_.find(hash); at != step_blocks_.end()) return at->second;
    if (const SharedBlock* known = blocks_.get(hash)) return *known;
    TRY(auto read, disk_.block(hash));
    return std::make_shared<const ledger::Block>(std::move(read));
}

Result<ledger::Block> RecentBlocks::block(const ledger::BlockHash& hash) const {
    TRY(const auto found, shared(hash));
    return *found;
}

Result<state::Delta> RecentBlocks::change(const ledger::BlockHash& hash) const {
    if (const auto at = step_changes_.find(hash); at != step_changes_.end()) return at->second;
    if (const state::Delta* known = changes_.get(hash)) return *known;
    return disk_.change(hash);
}

}  // namespace rhizome::core::detail
