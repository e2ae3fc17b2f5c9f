// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ledger/apply.h"
#include "ledger/block_source.h"
#include "ledger/check.h"
#include "ledger/seal_judge.h"
#include "ledger/tree.h"

namespace rhizome::ledger {

/// Moves a `LedgerState` from the state after one block to that after another, a few blocks at a time, so that a long
/// way does not hold up whoever else waits for the strand.
///
/// The way: blocks of the old branch are undone by what they changed, back to the fork; then those of the new branch
/// are applied, from the record of what they changed where they were applied here before, else judged in full. With a
/// *kept* state (that of the newest final block) it starts from there instead when fewer blocks have to be handled that
/// way, or when a record needed for undoing is gone or damaged.
///
/// Where a block turns out bad, or cannot be read, the state goes back to where it began, exactly.
///
/// Borrows all it is given but the kept view, for as long as it lives; headers on the way must not be pruned meanwhile.
/// Between two steps the state is that of `at()`, on the way. Confined to the core strand.
class Reorganisation {
public:
    using Node = HeaderTree::Node;

    struct Kept {
        state::StateView view{};
        const Node* node = nullptr;
    };

    /// `state` is that after `from`. Both blocks are in one tree.
    Reorganisation(LedgerState& state, const Node* from, const Node* to, const BlockSource& source, BlockRules rules,
                   SignatureCache& cache, Parallel& parallel, std::optional<Kept> kept = std::nullopt);
    Reorganisation(const Reorganisation&) = delete;
    Reorganisation& operator=(const Reorganisation&) = delete;

    enum class Progress : std::uint8_t {
        Moving,   ///< not there yet
        Arrived,  ///< the state is that after `to`
        Refused,  ///< a block is invalid, and with it all above it; the state is that after `from`
        Failed,   ///< something could not be read; the state is that after `from`
    };
    /// Handles at most `blocks_max` blocks (at least one). A jump, there or back, counts as one, whatever its length.
    Progress step(std::size_t blocks_max);
    [[nodiscard]] Progress progress() const { return progress_; }

    /// Takes the state back to where it began, unless all is over already.
    void abandon();

    /// Whose state it is now.
    [[nodiscard]] const Node* at() const { return at_; }

    /// What a block that was judged here changed: to be recorded, so that it need not be judged again.
    struct Judged {
        const Node* node = nullptr;
        state::Delta change{};
    };
    /// Hands over those since the last call, oldest first. They are good whatever becomes of the rest.
    [[nodiscard]] std::vector<Judged> take_judged();

    struct Refused {
        const Node* node = nullptr;
        Reject why{};
    };
    struct Failed {
        const Node* node = nullptr;
        Error why{};
    };
    struct Report {
        // Of one that arrived.
        std::vector<const Node*> undone{};   ///< no longer on the chain, newest first
        std::vector<const Node*> applied{};  ///< new on the chain, oldest first
        std::vector<TxId> included{};        ///< transactions of `applied`, in order
        /// Transactions of `undone` that are not in `applied`, in chain order: for `PendingPool::set_tip`.
        std::vector<SharedTx> returned{};
        state::Delta change{};  ///< from the state it began with to the one it ends with, for watchers
        /// Blocks whose transactions could not be read, so that `included` and `returned` lack them.
        std::size_t unread = 0;
        bool jumped = false;  ///< it started from the kept state

        std::optional<Refused> refused{};
        std::optional<Failed> failed{};
    };
    /// Complete when progress is other than Moving.
    [[nodiscard]] const Report& report() const { return report_; }

private:
    enum class Phase : std::uint8_t { Undo, Jump, Skip, Apply, Gather };

    [[nodiscard]] bool may_jump() const;
    void start_applying();
    [[nodiscard]] bool ends_phase() const;
    void undo_next();
    void jump();
    void note_included(const Node& node);
    void apply_next();
    void gather_next();
    bool redo(const Node& node);
    void judge(const Node& node);
    [[nodiscard]] Result<Block> read(const Node& node) const;
    [[nodiscard]] bool is_new(const Node& node) const;
    void arrive();
    void go_back(Progress end);

    LedgerState& state_;
    const Node* from_;
    const Node* to_;
    const BlockSource& source_;
    BlockRules rules_;
    SignatureCache& cache_;
    Parallel& parallel_;
    std::optional<Kept> kept_;

    state::StateView start_;   ///< where to return to
    HeaderTree::Route route_;  ///< between the two chains, whichever way is taken
    Phase phase_ = Phase::Undo;
    Progress progress_ = Progress::Moving;
    const Node* at_;
    std::vector<const Node*> to_apply_;
    std::size_t next_ = 0;  ///< of the present phase
    std::vector<Judged> judged_;
    std::vector<TxId> still_in_;  ///< `included`, sorted
    Report report_;
};

}  // namespace rhizome::ledger
