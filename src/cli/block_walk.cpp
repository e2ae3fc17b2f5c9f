// SPDX-License-Identifier: Apache-2.0
#include "cli/block_walk.h"

#include <algorithm>

#include <fmt/core.h>

namespace rhizome::cli {
namespace {

/// Whose deletion took this document: the transaction that removed it or something above it.
ledger::TxId remover_of(std::string_view key, const ledger::Applied& applied) {
    for (const ledger::Effects& effects : applied.effects) {
        const bool removes = std::any_of(effects.removes.begin(), effects.removes.end(),
                                         [&](const state::Path& path) { return path.subtree().covers(key); });
        if (removes) return effects.tx->id;
    }
    return {};
}

Error broken(ledger::Height height, const ledger::Reject& reject) {
    return {ErrorKind::Corrupt, fmt::format("the block of height {} does not hold: {}\n'chain verify' looks at all",
                                            height, to_text(reject))};
}

}  // namespace

std::string_view name(Verb verb) {
    switch (verb) {
        case Verb::Created: return "created";
        case Verb::Updated: return "updated";
        case Verb::Deleted: return "deleted";
    }
    unreachable("a Verb is one of three");
}

std::vector<DocumentChange> changes_of(const ledger::Applied& applied) {
    std::vector<DocumentChange> changes;
    applied.commit.delta.visit([&](const state::Change& change) {
        const state::Entry& any = change.before ? *change.before : *change.after;
        if (!any.is_written()) return;  // the chain's own records
        const state::Path path = any.path();
        const bool again = change.before && change.after && change.before->origin().born != change.after->origin().born;
        if (!change.after || again)
            changes.push_back({Verb::Deleted, path, remover_of(any.key(), applied), change.before, {}});
        if (!change.after) return;
        const Verb verb = change.before && !again ? Verb::Updated : Verb::Created;
        changes.push_back({verb, path, change.after->origin().latest.output.change,
                           verb == Verb::Updated ? change.before : state::EntryPtr{}, change.after});
    });
    return changes;
}

Result<BlockWalk> BlockWalk::from(Invocation& call, OfflineChain& at, ledger::Height first) {
    BlockWalk walk{at};
    walk.height_ = first;
    if (first == ledger::Height{0}) return walk;
    TRY(const auto before, at.store().info_at(first - 1));
    walk.parent_ = before.header;
    TRY(const auto state, state_of(call, at, first - 1));
    walk.state_.emplace(state.view);
    return walk;
}

Result<BlockWalk::Step> BlockWalk::genesis(ledger::Block block) {
    const auto part = at_->judge.judge_genesis(block);
    if (!part) return Fail{broken(height_, part.error())};
    auto commit = ledger::apply_genesis(block, *part);
    if (!commit) return Fail{broken(height_, commit.error())};
    state_.emplace(commit->view);
    return Step{std::move(block), {.commit = *std::move(commit)}};
}

Result<BlockWalk::Step> BlockWalk::next() {
    TRY(const auto info, at_->store().info_at(height_));
    TRY(auto block, at_->store().block(info.hash));
    if (!state_) {
        TRY(auto step, genesis(std::move(block)));
        parent_ = step.block.header;
        ++height_;
        return step;
    }
    auto applied =
        judge_and_apply(*state_, parent_, block, at_->block_rules(), at_->chain->cache(), at_->chain->parallel());
    if (!applied) return Fail{broken(height_, applied.error())};
    state_->advance(applied->commit);
    parent_ = block.header;
    ++height_;
    return Step{std::move(block), *std::move(applied)};
}

}  // namespace rhizome::cli
