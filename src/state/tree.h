// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "state/delta.h"
#include "state/document.h"
#include "state/view.h"

/// How states are made: a batch of changes on top of a view gives a new view. The old one stays as it was.
///
/// The tree is a crit-bit (Patricia) tree over the bits of the keys: docs/decisions/004 has the reasons. An update
/// costs as many hashes as the tree is deep (about 25 of a million documents), shared among the updates of a batch;
/// depth is bounded by the length of keys, whatever names strangers choose.
namespace rhizome::state {

namespace detail {
class NodeMaker;
class Reclaimer;
}  // namespace detail

/// What a finished batch gives.
struct Commit {
    StateView view;
    Delta delta;
};

/// Changes on the way from one view to the next. Confined to one thread at a time; several batches, on the same view or
/// on others, may be under way at once on different threads. Dropped without `finish`, it leaves nothing behind.
///
/// Nodes the batch has made are changed in place, so that a batch copies each path once; hashes are computed once, in
/// `finish`.
class Batch {
public:
    explicit Batch(StateView base);
    Batch(const Batch&) = delete;
    Batch& operator=(const Batch&) = delete;
    ~Batch();

    /// Creates or replaces the entry at the entry's own path.
    void put(EntryPtr entry);
    /// The same for many, in this order. Faster in a large state: a walk waits for memory at every step, and here many
    /// walks wait at once.
    void put(std::span<const EntryPtr> entries);
    /// Removes the entry at `path` alone, not what is below it; false when there was none.
    bool erase(const Path& path);
    /// Removes all that begins with `prefix` and says how much that was. Costs one walk down, whatever the number.
    Totals erase_under(const Prefix& prefix);

    /// What the state is so far. Entries stay good until the batch's next change.
    [[nodiscard]] const Entry* get(const Path& path) const;
    [[nodiscard]] Totals totals(const Prefix& prefix) const;
    [[nodiscard]] Cursor walk(const Prefix& prefix, const std::optional<Path>& after = std::nullopt) const;
    [[nodiscard]] const StateView& base() const { return base_; }

    /// Computes the hashes (spread over `parallel` when given) and seals the result. The batch is spent afterwards.
    /// Frees some old nodes, about as many as it made.
    Commit finish(Parallel* parallel = nullptr) &&;

private:
    friend Result<StateView, DeltaFault> apply(const StateView& view, const Delta& delta);
    friend Result<StateView, DeltaFault> undo(const StateView& view, const Delta& delta);

    /// One put or erase, in the order they came.
    struct Touch {
        EntryPtr before;
        EntryPtr after;
        [[nodiscard]] std::string_view key() const { return before ? before->key() : after->key(); }
    };
    /// A place that holds a node and its hash: the root's, or one of an inner node's two.
    struct Slot;

    [[nodiscard]] Slot root_slot();
    Slot step(const Slot& slot, std::string_view key, std::int64_t count, std::int64_t weight);
    void hold_siblings();
    void fetch(std::span<const EntryPtr> entries) const;
    void insert(detail::NodeRef node, const Hash256* hash, std::string_view key, unsigned bit);
    void cut_out(std::string_view key, unsigned end_bit);
    void graft(const Cut& cut);
    void record_cut(const Prefix& prefix);
    [[nodiscard]] Delta make_delta();
    StateView seal(Parallel* parallel);

    StateView base_;
    std::shared_ptr<detail::Reclaimer> reclaimer_;
    std::unique_ptr<detail::NodeMaker> maker_;  ///< goes before what it makes nodes for
    detail::NodeRef root_;
    Hash256 root_hash_;
    bool root_stale_ = false;
    bool record_ = true;
    bool cut_off_ = false;                     ///< some subtree was
    std::vector<detail::NodeRef> held_later_;  ///< during a walk: nodes that it gives a second parent
    std::vector<Touch> touches_;
    std::map<std::string, Cut, std::less<>> cuts_;  ///< by prefix, disjoint; subtrees of `base_`
};

/// Builds a state from entries that come in order of their keys (a snapshot), in one pass: no walks, each node hashed
/// once.
class OrderedBuilder {
public:
    OrderedBuilder();
    OrderedBuilder(const OrderedBuilder&) = delete;
    OrderedBuilder& operator=(const OrderedBuilder&) = delete;
    ~OrderedBuilder();

    /// False, with nothing taken, when the key does not come after the one before: the stream is not a snapshot of
    /// ours.
    [[nodiscard]] bool add(EntryPtr entry);
    /// The state of all that was added. The builder is spent afterwards.
    StateView finish(Parallel* parallel = nullptr) &&;

private:
    void fold(int bit);
    std::shared_ptr<detail::Reclaimer> reclaimer_;
    std::unique_ptr<detail::NodeMaker> maker_;           ///< goes before what it makes nodes for
    std::vector<std::pair<int, detail::NodeRef>> open_;  ///< subtrees not yet joined, with the bit each was split at
    const Entry* last_ = nullptr;
};

}  // namespace rhizome::state
