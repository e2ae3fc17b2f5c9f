// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "base/bounded.h"
#include "core/messages.h"
#include "ledger/block_source.h"
#include "ledger/check.h"

namespace rhizome::core::detail {

/// The disk with the newest blocks in memory: most moves between branches are short, and what a step handed to the disk
/// is not there before the step has ended.
class RecentBlocks final : public ledger::BlockSource {
public:
    RecentBlocks(const ledger::BlockSource& disk, std::size_t bytes_max, std::size_t changes_max)
        : disk_(disk), blocks_(bytes_max), changes_(changes_max) {}

    void put(const ledger::BlockHash& hash, SharedBlock block);
    /// Its transactions as they were checked here before it came: it need not be done again. The last few blocks' only.
    void put_checked(const ledger::BlockHash& hash, std::vector<ledger::SharedTx> txs);
    /// Null when they are not at hand. Good until the next `put_checked`.
    [[nodiscard]] const std::vector<ledger::SharedTx>* checked(const ledger::BlockHash& hash) const;
    void put_change(const ledger::BlockHash& hash, const state::Delta& change);
    /// What this step handed over is on the disk now.
    void end_step();

    /// Without copying, when it is at hand; else from the disk.
    [[nodiscard]] Result<SharedBlock> shared(const ledger::BlockHash& hash) const;
    [[nodiscard]] Result<ledger::Block> block(const ledger::BlockHash& hash) const override;
    [[nodiscard]] Result<state::Delta> change(const ledger::BlockHash& hash) const override;

private:
    const ledger::BlockSource& disk_;
    std::map<ledger::BlockHash, SharedBlock> step_blocks_;
    std::map<ledger::BlockHash, state::Delta> step_changes_;
    mutable LruCache<ledger::BlockHash, SharedBlock> blocks_;
    mutable LruCache<ledger::BlockHash, state::Delta> changes_;
    static constexpr std::size_t kCheckedBytes = 8u << 20;
    mutable LruCache<ledger::BlockHash, std::vector<ledger::SharedTx>> checked_{kCheckedBytes};
};

}  // namespace rhizome::core::detail
