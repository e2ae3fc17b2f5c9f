// SPDX-License-Identifier: Apache-2.0
#include "ledger/block_factory.h"

#include <algorithm>

#include "base/ensure.h"
#include "ledger/limits.h"
#include "ledger/order.h"

namespace rhizome::ledger {
namespace {

/// Magic, size, header, signature, counts and the seal's own lengths.
constexpr std::size_t kFrameBytes = 4 + 4 + kHeaderBytes + 64 + 4 + 4 + 8;

/// As many from the front of `candidates` as have room, whatever they do.
std::vector<SharedTx> take_what_fits(std::span<const SharedTx> candidates, std::size_t bytes_left) {
    std::vector<SharedTx> taken;
    for (const SharedTx& tx : candidates) {
        if (taken.size() >= kBlockTxsMax) break;
        if (tx->bytes > bytes_left) continue;
        bytes_left -= tx->bytes;
        taken.push_back(tx);
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
        Ordering ordering = canonical_order(able);
        for (const std::size_t position : ordering.cyclic) left.push_back(able[position].tx);
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
    const Place place = place_of(parent, next);
    const std::size_t frame = kFrameBytes + seal_bytes;
    const std::size_t room = parent.parameters().block_bytes > frame ? parent.parameters().block_bytes - frame : 0;
    std::vector<Effects> selected = select(parent, place, take_what_fits(candidates, room), rules, cache);

    BlockDraft draft;
    for (;;) {
        const Ordering ordering = canonical_order(selected);
        draft.txs.clear();
        for (const std::size_t position : ordering.order) draft.txs.push_back(selected[position].tx);
        auto applied = execute(parent, next, draft.txs, consensus, rules, cache, parallel);
        if (applied) {
            // Dropping the cyclic ones may have freed others from their edges: the order must be that of what is left.
            const Ordering again = canonical_order(applied->effects);
            if (again.cyclic.empty() && std::is_sorted(again.order.begin(), again.order.end())) {
                draft.applied = *std::move(applied);
                break;
            }
            selected = std::move(applied->effects);
            continue;
        }
        // Valid one after the other but not in the canonical order (a report signed with a key that the same block
        // replaces): take out what failed and try again.
        const std::size_t failed = applied.error().transaction.value_or(0);
        ensure(failed < draft.txs.size(), "a failed transaction is one of the block's");
        const TxId id = draft.txs[failed]->id;
        std::erase_if(selected, [&](const Effects& effects) { return effects.tx->id == id; });
    }
    std::vector<WireId> wire_ids;
    wire_ids.reserve(draft.txs.size());
    for (const SharedTx& tx : draft.txs) wire_ids.push_back(tx->wire_id);
    draft.header = {.previous = next.parent,
                    .merkle_root = merkle_root_of(wire_ids),
                    .state_root = draft.applied.commit.view.root(),
                    .time = next.time,
                    .height = next.height,
                    .consensus = parent.parameters().consensus};
    return draft;
}

}  // namespace rhizome::ledger
