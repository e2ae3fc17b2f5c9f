// SPDX-License-Identifier: Apache-2.0
#include "ledger/reorganise.h"

#include <algorithm>
#include <utility>

#include "base/ensure.h"

namespace rhizome::ledger {
Reorganisation::Reorganisation(LedgerState& state, const Node* from, const Node* to, const BlockSource& source,
                               BlockRules rules, SignatureCache& cache, Parallel& parallel, std::optional<Kept> kept)
    : state_(state),
      from_(from),
      to_(to),
      source_(source),
      rules_(rules),
      cache_(cache),
      parallel_(parallel),
      kept_(std::move(kept)),
      start_(state.view()),
      route_(HeaderTree::route(from, to)),
      at_(from) {
    ensure(state_.view().root() == from_->header.state_root, "the state is that after the block to start from");
    ensure(!kept_ || kept_->view.root() == kept_->node->header.state_root, "a kept state is that after its block");
    if (may_jump() && to_->header.height - kept_->node->header.height < route_.undo.size() + route_.apply.size())
        phase_ = Phase::Jump;
}

/// Only forward from there: a kept state on another branch is no shorter way than undoing.
bool Reorganisation::may_jump() const { return kept_ && HeaderTree::is_ancestor(kept_->node, to_); }

Reorganisation::Progress Reorganisation::step(std::size_t blocks_max) {
    ensure(blocks_max > 0, "a step handles at least one block");
    while (progress_ == Progress::Moving) {
        if (ends_phase()) {
            if (phase_ == Phase::Gather) {
                arrive();
            } else if (phase_ == Phase::Apply) {
                phase_ = Phase::Gather;
                next_ = 0;
            } else {
                start_applying();
            }
            continue;
        }
        if (blocks_max-- == 0) break;
        switch (phase_) {
            case Phase::Undo: undo_next(); break;
            case Phase::Jump: jump(); break;
            case Phase::Skip: note_included(*route_.apply[next_++]); break;
            case Phase::Apply: apply_next(); break;
            case Phase::Gather: gather_next(); break;
        }
    }
    return progress_;
}

bool Reorganisation::ends_phase() const {
    switch (phase_) {
        case Phase::Jump: return false;
        case Phase::Skip:
            return next_ == route_.apply.size() || route_.apply[next_]->header.height > at_->header.height;
        case Phase::Apply: return next_ == to_apply_.size();
        case Phase::Undo:
        case Phase::Gather: return next_ == route_.undo.size();
    }
    unreachable("all phases end");
}

void Reorganisation::abandon() {
    if (progress_ == Progress::Moving) {
        report_.failed = {at_, Error{ErrorKind::Conflict, "the change of branches was given up"}};
        go_back(Progress::Failed);
    }
}

std::vector<Reorganisation::Judged> Reorganisation::take_judged() { return std::exchange(judged_, {}); }

// ---- undoing --------------------------------------------------------------------------------------------------------

void Reorganisation::undo_next() {
    const Node& node = *route_.undo[next_];
    const auto undone = [&]() -> Result<void> {
        TRY(const auto change, source_.change(node.hash));
        if (change.root_before() != node.parent->header.state_root)
            return fail(ErrorKind::Corrupt, "the record of the block's changes does not lead to its parent's state");
        TRY(state_.step_back(change));
        return {};
    }();
    if (undone) {
        at_ = node.parent;
        ++next_;
    } else if (may_jump()) {
        phase_ = Phase::Jump;
    } else {
        report_.failed = {&node, undone.error()};
        go_back(Progress::Failed);
    }
}

void Reorganisation::jump() {
    (void)state_.jump_to(kept_->view);
    at_ = kept_->node;
    report_.jumped = true;
    // Blocks of the new branch that the kept state has in it already are asked for their transactions only.
    phase_ = Phase::Skip;
    next_ = 0;
}

// ---- applying -------------------------------------------------------------------------------------------------------

void Reorganisation::start_applying() {
    to_apply_ = HeaderTree::route(at_, to_).apply;
    phase_ = Phase::Apply;
    next_ = 0;
}

/// Whether a block joins the chain: with a jump below the fork, blocks that both chains have are handled too.
bool Reorganisation::is_new(const Node& node) const {
    return !route_.apply.empty() && node.header.height >= route_.apply.front()->header.height;
}

Result<Block> Reorganisation::read(const Node& node) const {
    TRY(auto block, source_.block(node.hash));
    if (hash_of(block.header) != node.hash) return fail(ErrorKind::Corrupt, "another block was kept in its place");
    return block;
}

void Reorganisation::note_included(const Node& node) {
    if (const auto block = read(node)) {
        for (const Tx& tx : block->txs) report_.included.push_back(id_of(tx));
    } else {
        ++report_.unread;
    }
}

void Reorganisation::apply_next() {
    const Node& node = *to_apply_[next_];
    if (redo(node)) {
        if (is_new(node)) note_included(node);
    } else {
        judge(node);
        if (progress_ != Progress::Moving) return;
    }
    at_ = &node;
    ++next_;
}

/// From the record, if there is a usable one. A damaged one is no harm: the block itself decides.
bool Reorganisation::redo(const Node& node) {
    const auto change = source_.change(node.hash);
    return change && change->root_after() == node.header.state_root && state_.step_forward(*change);
}

void Reorganisation::judge(const Node& node) {
    const auto block = read(node);
    if (!block) {
        report_.failed = {&node, block.error()};
        go_back(Progress::Failed);
        return;
    }
    auto applied = judge_and_apply(state_, node.parent->header, *block, rules_, cache_, parallel_);
    if (!applied && !is_whole(*block)) {
        report_.failed = {&node, Error{ErrorKind::Corrupt, "the kept transactions or seal are not the header's"}};
        go_back(Progress::Failed);
        return;
    }
    if (!applied) {
        report_.refused = {&node, std::move(applied).error()};
        go_back(Progress::Refused);
        return;
    }
    state_.advance(applied->commit);
    if (is_new(node))
        for (const Effects& effects : applied->effects) report_.included.push_back(effects.tx->id);
    judged_.push_back({&node, std::move(applied->commit.delta)});
}

// ---- what is told afterwards ----------------------------------------------------------------------------------------

/// The transactions of one block of the old branch, oldest block first.
void Reorganisation::gather_next() {
    if (next_ == 0) {
        still_in_ = report_.included;
        std::sort(still_in_.begin(), still_in_.end());
    }
    const Node& node = *route_.undo[route_.undo.size() - 1 - next_++];
    const auto block = read(node);
    if (!block) {
        ++report_.unread;
        return;
    }
    std::vector<const Tx*> lost;
    for (const Tx& tx : block->txs)
        if (!std::binary_search(still_in_.begin(), still_in_.end(), id_of(tx))) lost.push_back(&tx);
    std::vector<SharedTx> checked(lost.size());
    parallel_.for_ranges(lost.size(), [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            if (auto tx = check_tx(*lost[i])) checked[i] = *std::move(tx);
    });
    for (SharedTx& tx : checked)
        if (tx) report_.returned.push_back(std::move(tx));
}

void Reorganisation::arrive() {
    ensure(state_.view().root() == to_->header.state_root, "the way leads to the block's state");
    report_.change = state::diff(start_, state_.view());
    report_.undone = route_.undo;
    report_.applied = route_.apply;
    start_ = {};
    kept_.reset();
    progress_ = Progress::Arrived;
}

void Reorganisation::go_back(Progress end) {
    (void)state_.jump_to(start_);
    at_ = from_;
    report_.included.clear();
    report_.returned.clear();
    start_ = {};
    kept_.reset();
    progress_ = end;
}

}  // namespace rhizome::ledger
