// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "ledger/seal_judge.h"
#include "ledger/signature_work.h"

namespace rhizome::ledger {

/// Blocks that follow one another, applied in their order: for catching up, replaying, verifying a chain. While one is
/// executed, which takes one core, the others verify the signatures of the next and check the one after that.
///
/// Says of every block what `judge_and_apply` says of it alone. Signatures are verified before the block's seal is
/// judged, against the state of its grandparent: whoever takes blocks from strangers has looked at their headers
/// before. What a block's own parent makes (a lock, a version) is verified when its turn comes.
///
/// Confined to one thread. Borrows rules, cache and cores.
class BlockRow {
public:
    /// As many as are worked on at once; more only take memory.
    static constexpr std::size_t kDepth = 3;

    BlockRow(const BlockRules& rules, SignatureCache& cache, Parallel& parallel);
    ~BlockRow();
    BlockRow(const BlockRow&) = delete;
    BlockRow& operator=(const BlockRow&) = delete;

    /// Puts a block behind the others.
    void push(std::shared_ptr<const Block> block);
    /// The same for one that outlives its time in the row.
    void push_borrowed(const Block& block) { push({std::shared_ptr<const Block>{}, &block}); }
    [[nodiscard]] std::size_t size() const { return waiting_.size(); }
    [[nodiscard]] bool empty() const { return waiting_.empty(); }

    /// What came of a block. Called on the caller's thread while others go on working for the blocks behind it; may
    /// move the state forward.
    using Outcome = std::function<void(const Block& block, Result<Applied, Reject> applied)>;
    /// Judges and applies the first of the row on `parent`; then it leaves the row. After a refusal the blocks behind
    /// it have no parent, and the row is of no more use.
    void step(const LedgerState& parent, const Header& parent_header, const Outcome& outcome);

private:
    struct Waiting;
    void check(std::size_t count);

    BlockRules rules_;
    SignatureCache& cache_;
    Parallel& parallel_;
    std::deque<std::unique_ptr<Waiting>> waiting_;
};

}  // namespace rhizome::ledger
