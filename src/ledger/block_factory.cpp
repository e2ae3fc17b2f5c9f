// SPDX-License-Identifier: Apache-2.0
#include "ledger/block_factory.h"

#include <algorithm>
#include <optional>

#include "base/ensure.h"
#include "ledger/limits.h"
#include "ledger/order.h"

namespace rhizome::ledger {
namespace {

/// Magic, size, header, signature, counts and the seal's own lengths.
constexpr std::size_t kFrameBytes = 4 + 4 + kHeaderBytes + 64 + 4 + 4 + 8;

std::size_t bytes_of(const SharedTx& tx) { return tx->bytes; }
std::size_t bytes_of(const Effects* decided) { return decided->tx->bytes; }

/// As many from the front of `candidates` as have room, whatever they do.
template <class Candidate>
std::vector<Candidate> take_what_fits(std::span<const Candidate> candidates, const LedgerState& parent,
                                      std::size_t seal_bytes) {
    const std::size_t frame = kFrameBytes + seal_bytes;
    std::size_t bytes_left = parent.parameters().block_bytes > frame ? parent.parameters().block_bytes - frame : 0;
    std::vector<Candidate> taken;
    taken.reserve(std::min(candidates.size(), kBlockTxsMax));
    for (const Candidate& candidate : candidates) {
        if (taken.size() >= kBlockTxsMax) break;
        if (bytes_of(candidate) > bytes_left) continue;
        bytes_left -= bytes_of(candidate);
        taken.push_back(candidate);
    }
    return taken;
}

/// What of `candidates` is valid together. Each round decides all that are left on the state so far, then does those
/// that passed in their canonical order: so a lock is used before it is changed and a pod changed before its namespace
/// goes, whatever order they came in. Rounds go on while they bring something, because children wait for their parents.
std::vector<Effects> select(const LedgerState& parent, const Place& place, std::vector<SharedTx> candidates,
                            const Rules& rules, SignatureCache& cache) {
    WorkingState state{parent.view(), parent.index()};
    std::vector<Effects> selected;
    std::size_t checks_left = kBlockChecksMax;
    for (bool progress = true; progress && !candidates.empty();) {
        progress = false;
        std::vector<Effects> able;
        std::vector<SharedTx> left;
        for (const SharedTx& tx : candidates) {
            auto effects = decide(tx, state, place, rules, cache, checks_left);
            if (effects) {
                able.push_back(*std::move(effects));
            } else {
                left.push_back(tx);
            }
        }
        const Ordering ordering = canonical_order(able);
        for (const std::size_t position : ordering.left_out) left.push_back(able[position].tx);
        for (const std::size_t position : ordering.order) {
            auto effects = decide(able[position].tx, state, place, rules, cache, checks_left);
            if (!effects) {
                left.push_back(able[position].tx);
                continue;
            }
            perform(*effects, state, place);
            checks_left -= effects->checks;
            selected.push_back(*std::move(effects));
            progress = true;
        }
        candidates = std::move(left);
    }
    return selected;
}

/// Rounds that `settle` tries before it gives up on all but one. Two are enough unless somebody tries hard.
constexpr int kSettleRounds = 8;

/// The largest part of `selected` that is valid in its own canonical order. Left out are those that wait for each other
/// in a circle, those that needed one that was left out, and the rare one that is valid in some order but not in this
/// (a report signed with a key that the same block replaces): they wait for the next block.
std::vector<SharedTx> settle(const LedgerState& parent, const Place& place, std::vector<Effects> selected,
                             const Rules& rules, SignatureCache& cache) {
    std::vector<SharedTx> txs;
    for (int round = 0;; ++round) {
        const Ordering ordering = canonical_order(selected);
        WorkingState state{parent.view(), parent.index()};
        std::vector<Effects> valid;
        txs.clear();
        for (const std::size_t position : ordering.order) {
            auto effects = decide(selected[position].tx, state, place, rules, cache, kBlockChecksMax);
            if (!effects) continue;
            perform(*effects, state, place);
            txs.push_back(effects->tx);
            valid.push_back(*std::move(effects));
        }
        if (valid.size() == selected.size()) return txs;
        if (round == kSettleRounds) {
            txs.resize(std::min<std::size_t>(txs.size(), 1));  // one alone is in order
            return txs;
        }
        selected = std::move(valid);
    }
}

/// The draft with transactions in the canonical order of what they were `decided` to do; nothing when that leaves some
/// out, or when they are not valid in it or do something else there. Only the order is taken from `decided`, so nothing
/// depends on whether it still holds.
std::optional<BlockDraft> build_decided(const LedgerState& parent, const NextBlock& next,
                                        std::span<const Effects* const> decided, const ConsensusPart& consensus,
                                        const Rules& rules, SignatureCache& cache, Parallel& parallel) {
    const Ordering ordering = canonical_order(decided);
    if (!ordering.left_out.empty()) return std::nullopt;
    BlockDraft draft;
    draft.txs.reserve(decided.size());
    for (const std::size_t position : ordering.order) draft.txs.push_back(decided[position]->tx);
    auto applied = execute(parent, next, draft.txs, consensus, rules, cache, parallel);
    if (!applied) return std::nullopt;
    draft.applied = *std::move(applied);
    // What they do together may differ from what was decided: the order must be that of the former.
    const Ordering together = canonical_order(draft.applied.effects);
    if (!together.left_out.empty() || !std::is_sorted(together.order.begin(), together.order.end()))
        return std::nullopt;
    return draft;
}

/// What to do when nothing is in the way, which is nearly always: all candidates are valid on the parent's state, and
/// in the canonical order of what they do there. Nothing when that is not so.
std::optional<BlockDraft> build_undisturbed(const LedgerState& parent, const NextBlock& next, const Place& place,
                                            const std::vector<SharedTx>& candidates, const ConsensusPart& consensus,
                                            const Rules& rules, SignatureCache& cache, Parallel& parallel) {
    const WorkingState state{parent.view(), parent.index()};
    std::vector<Effects> effects;
    std::vector<const Effects*> decided;
    effects.reserve(candidates.size());
    decided.reserve(candidates.size());
    for (const SharedTx& tx : candidates) {
        auto alone = decide(tx, state, place, rules, cache, kBlockChecksMax);
        if (!alone) return std::nullopt;
        decided.push_back(&effects.emplace_back(*std::move(alone)));  // reserved above: it stays where it is
    }
    return build_decided(parent, next, decided, consensus, rules, cache, parallel);
}

BlockDraft build_carefully(const LedgerState& parent, const NextBlock& next, const Place& place,
                           std::vector<SharedTx> candidates, const ConsensusPart& consensus, const Rules& rules,
                           SignatureCache& cache, Parallel& parallel) {
    std::vector<Effects> selected = select(parent, place, std::move(candidates), rules, cache);
    BlockDraft draft;
    const SharedTx first = selected.empty() ? nullptr : selected.front().tx;
    draft.txs = settle(parent, place, std::move(selected), rules, cache);
    // Where all wait for each other something must begin, or it would be so for ever: the first was decided alone.
    if (draft.txs.empty() && first) draft.txs.push_back(first);
    auto applied = execute(parent, next, draft.txs, consensus, rules, cache, parallel);
    ensure(applied.has_value(), "what settled in its canonical order is valid in it");
    draft.applied = *std::move(applied);
    return draft;
}

BlockDraft with_header(BlockDraft draft, const LedgerState& parent, const NextBlock& next) {
    draft.header = {.previous = next.parent,
                    .merkle_root = merkle_root_of_txs(draft.txs),
                    .state_root = draft.applied.commit.view.root(),
                    .time = next.time,
                    .height = next.height,
                    .consensus = parent.parameters().consensus};
    return draft;
}

BlockDraft build_of_fitting(const LedgerState& parent, const NextBlock& next, std::vector<SharedTx> fitting,
                            const ConsensusPart& consensus, const Rules& rules, SignatureCache& cache,
                            Parallel& parallel) {
    const Place place = place_of(parent, next);
    auto undisturbed = build_undisturbed(parent, next, place, fitting, consensus, rules, cache, parallel);
    BlockDraft draft =
        undisturbed ? *std::move(undisturbed)
                    : build_carefully(parent, next, place, std::move(fitting), consensus, rules, cache, parallel);
    return with_header(std::move(draft), parent, next);
}

}  // namespace

Block BlockDraft::to_block(const Seal& seal) const {
    ensure(header.seal_root == seal_root_of(seal), "a draft is completed with the seal its header names");
    Block block{.header = header, .seal = seal};
    block.txs.reserve(txs.size());
    for (const SharedTx& tx : txs) block.txs.push_back(tx->tx);
    return block;
}

BlockDraft build_block(const LedgerState& parent, const NextBlock& next, std::span<const SharedTx> candidates,
                       const ConsensusPart& consensus, std::size_t seal_bytes, const Rules& rules,
                       SignatureCache& cache, Parallel& parallel) {
    return build_of_fitting(parent, next, take_what_fits(candidates, parent, seal_bytes), consensus, rules, cache,
                            parallel);
}

BlockDraft build_block(const LedgerState& parent, const NextBlock& next, std::span<const Effects* const> decided,
                       const ConsensusPart& consensus, std::size_t seal_bytes, const Rules& rules,
                       SignatureCache& cache, Parallel& parallel) {
    const std::vector<const Effects*> fitting = take_what_fits(decided, parent, seal_bytes);
    if (auto draft = build_decided(parent, next, fitting, consensus, rules, cache, parallel))
        return with_header(*std::move(draft), parent, next);
    std::vector<SharedTx> txs;
    txs.reserve(fitting.size());
    for (const Effects* each : fitting) txs.push_back(each->tx);
    return build_of_fitting(parent, next, std::move(txs), consensus, rules, cache, parallel);
}

}  // namespace rhizome::ledger
