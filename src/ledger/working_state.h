// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_set>

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
///
/// Holds the tree's own entries: their output is looked up in them, so a document costs a pointer and its place in a
/// table (about 45 bytes) here, not a second copy of output and path.
class OutpointIndex {
public:
    OutpointIndex() = default;
    static OutpointIndex of(const state::StateView& view);

    /// The entry whose latest output this is; null when there is none. Good until the index changes.
    [[nodiscard]] const state::Entry* find(const Outpoint& outpoint) const;
    /// A written entry, instead of what had its output before.
    void put(state::EntryPtr entry);
    void apply(const state::Delta& delta);
    [[nodiscard]] std::size_t size() const { return latest_.size(); }
    friend bool operator==(const OutpointIndex&, const OutpointIndex&) = default;

private:
    struct Latest {
        state::EntryPtr entry;
        [[nodiscard]] const Outpoint& outpoint() const { return entry->origin().latest.output; }
        /// The same resource under the same output, whoever allocated it.
        friend bool operator==(const Latest& left, const Latest& right) {
            return left.outpoint() == right.outpoint() && left.entry->key() == right.entry->key();
        }
    };
    /// Not `noexcept`: the standard library then keeps the hash beside the pointer (in bytes that malloc would round up
    /// to anyway), so that entries, which lie all over memory, are looked at only when they are found.
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Outpoint& outpoint) const { return OutpointHash{}(outpoint); }
        std::size_t operator()(const Latest& latest) const { return (*this)(latest.outpoint()); }
    };
    struct Same {
        using is_transparent = void;
        bool operator()(const Latest& left, const Latest& right) const { return left.outpoint() == right.outpoint(); }
        bool operator()(const Outpoint& left, const Latest& right) const { return left == right.outpoint(); }
        bool operator()(const Latest& left, const Outpoint& right) const { return left.outpoint() == right; }
    };
    void erase(const Outpoint& outpoint);

    std::unordered_set<Latest, Hash, Same> latest_;
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
    OutpointIndex added_;  ///< what was put, also where it has been replaced since
};

}  // namespace rhizome::ledger
