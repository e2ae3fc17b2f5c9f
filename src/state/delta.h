// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/codec.h"
#include "state/document.h"
#include "state/view.h"

namespace rhizome::state {

namespace detail {
class Reclaimer;
}
class Outputs;

/// What happened at one path. At least one side is there, and they differ.
struct Change {
    EntryPtr before;  ///< null: it was created
    EntryPtr after;   ///< null: it was deleted
    [[nodiscard]] std::string_view key() const { return before ? before->key() : after->key(); }
};

/// A whole subtree of the state before, cut off at once and held by reference: a deleted namespace costs the same here
/// whatever was in it. Shared ownership, from any thread.
class Cut {
public:
    Cut(const Cut& other);
    Cut(Cut&& other) noexcept;
    Cut& operator=(Cut other) noexcept;
    ~Cut();

    [[nodiscard]] const Prefix& prefix() const { return prefix_; }
    [[nodiscard]] Totals totals() const;

private:
    friend class Batch;
    friend class Delta;
    Cut(Prefix prefix, detail::NodeRef node, const Hash256& hash, std::shared_ptr<detail::Reclaimer> reclaimer);
    Prefix prefix_;
    detail::NodeRef node_;
    Hash256 hash_;  ///< of the subtree, so that putting it back hashes nothing below
    std::shared_ptr<detail::Reclaimer> reclaimer_;
};

/// What leads from one state to the next: subtrees cut off first, then single changes, both in order of their keys. A
/// plain value that keeps the entries it names, and no more of the two states.
class Delta {
public:
    Delta() = default;

    [[nodiscard]] const Hash256& root_before() const { return root_before_; }
    [[nodiscard]] const Hash256& root_after() const { return root_after_; }
    [[nodiscard]] bool empty() const { return cuts_.empty() && changes_.empty(); }

    /// Every change in order of the keys, those inside cut-off subtrees one by one: what watchers and the disk see.
    void visit(const std::function<void(const Change&)>& each) const;
    /// The same as a vector.
    [[nodiscard]] std::vector<Change> all() const;

    /// The compact form. `changes` has what was cut off and written again with no `before`.
    [[nodiscard]] const std::vector<Cut>& cuts() const { return cuts_; }
    [[nodiscard]] const std::vector<Change>& changes() const { return changes_; }

    /// This delta, then `next`, as one. `next` begins where this one ends.
    [[nodiscard]] Delta followed_by(const Delta& next) const;

private:
    friend class Batch;
    friend Delta diff(const StateView& before, const StateView& after);
    friend Result<Delta, DecodeFault> decode_delta(ByteView bytes, std::size_t bytes_max, const Outputs* kept);

    Hash256 root_before_;
    Hash256 root_after_;
    std::vector<Cut> cuts_;        ///< disjoint
    std::vector<Change> changes_;  ///< one for a key
};

/// What leads from `before` to `after`, any two states. Walks only where they differ.
Delta diff(const StateView& before, const StateView& after);

enum class DeltaFault : unsigned char {
    WrongState,   ///< the delta does not start (to undo: end) at this state
    Inconsistent  ///< its entries do not lead to the root it names: it was damaged or forged
};
std::string_view name(DeltaFault fault);
Error to_error(DeltaFault fault);

/// The state after `delta`, with exactly the root it names, or why not.
Result<StateView, DeltaFault> apply(const StateView& view, const Delta& delta);
/// The state before `delta`. A cut-off subtree is put back as it was, in one step.
Result<StateView, DeltaFault> undo(const StateView& view, const Delta& delta);

/// Scripts and documents by the output that wrote them. Whoever keeps a block has those of its transactions, so that a
/// record of what it changed need not have them once more.
class Outputs {
public:
    virtual ~Outputs() = default;
    struct Output {
        ByteView script{};
        std::string_view document{};
    };
    /// Nothing when it is not among these. The views live as long as this.
    [[nodiscard]] virtual std::optional<Output> find(const Outpoint& output) const = 0;
};

/// An undo record: root before ‖ root after ‖ count (varint) ‖ per change in order of keys: 1 deleted, 2 created, 3
/// both; 4 more when the entry after is bare ‖ entry before, if any ‖ entry after, if any. Lists what was cut off entry
/// by entry; one form for the same changes.
///
/// A written entry whose script and document `kept` has under the output that wrote it is bare: key ‖ 1 born by that
/// output, 2 locked by it, 3 both ‖ mark of that output ‖ mark of its birth, of its lock, unless the same.
Bytes encode(const Delta& delta, const Outputs* kept = nullptr);
/// `kept` as it was when encoding; without it, and where it lacks something, a bare entry is a `BadValue`. `bytes_max`
/// bounds what is read at all: the caller knows how large its records may be.
Result<Delta, DecodeFault> decode_delta(ByteView bytes, std::size_t bytes_max = std::size_t{1} << 30,
                                        const Outputs* kept = nullptr);

}  // namespace rhizome::state
