// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "base/parallel.h"
#include "ledger/tx.h"
#include "state/delta.h"
#include "state/document.h"
#include "state/tree.h"
#include "state/view.h"

namespace rhizome::ledger {

/// For lookups only; ids are hashes, so eight bytes of them spread well.
struct OutpointHash {
    std::size_t operator()(const Outpoint& outpoint) const noexcept {
        return std::hash<crypto::Hash256>{}(outpoint.change) ^ outpoint.index;
    }
};

/// Which resource an output is the latest of. An input names an output only, and a deletion has no document that would
/// say what it is about. Derived from the tree, so it is in no root; follows it delta by delta.
class OutpointIndex {
public:
    OutpointIndex() = default;
    static OutpointIndex of(const state::StateView& view);

    [[nodiscard]] const state::Path* find(const Outpoint& outpoint) const;
    void apply(const state::Delta& delta);
    [[nodiscard]] std::size_t size() const { return paths_.size(); }
    friend bool operator==(const OutpointIndex&, const OutpointIndex&) = default;

private:
    std::unordered_map<Outpoint, state::Path, OutpointHash> paths_;
};

/// The state while a block (or the pool) is worked through: a batch on the parent's view that also knows which resource
/// an output belongs to. Nothing is visible outside before `finish`.
///
/// Borrows the index, which must be that of the base view. Entries it shows are good until its next change.
class WorkingState {
public:
    WorkingState(const state::StateView& base, const OutpointIndex& index) : batch_(base), index_(&index) {}

    /// The entry at `path` now; null when there is none.
    [[nodiscard]] const state::Entry* find(const state::Path& path) const { return batch_.get(path); }
    /// The resource whose latest output this is; null when it is of none (any more).
    [[nodiscard]] const state::Entry* find_latest(const Outpoint& outpoint) const;
    [[nodiscard]] state::Totals totals(const state::Prefix& prefix) const { return batch_.totals(prefix); }
    [[nodiscard]] state::Cursor walk(const state::Prefix& prefix) const { return batch_.walk(prefix); }
    /// The view that this began from: the parent's state.
    [[nodiscard]] const state::StateView& base() const { return batch_.base(); }

    void put(state::EntryPtr entry);
    /// A record under `/chain/`.
    void put_record(const state::Path& path, ByteView bytes);
    void erase(const state::Path& path) { (void)batch_.erase(path); }
    /// Removes the entry and all below it.
    void erase_subtree(const state::Path& path) { (void)batch_.erase_under(path.subtree()); }

    [[nodiscard]] state::Commit finish(Parallel* parallel = nullptr) && { return std::move(batch_).finish(parallel); }

private:
    state::Batch batch_;
    const OutpointIndex* index_;
    std::unordered_map<Outpoint, state::Path, OutpointHash> added_;
};

}  // namespace rhizome::ledger
