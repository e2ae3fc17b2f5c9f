// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/effects.h"
#include "ledger/snapshot.h"
#include "runtime/clock.h"
#include "state/view.h"
#include "store/store.h"

namespace rhizome::node {

struct NodeView;

/// States after final blocks, cut into parts, for machines that join (`core::LookUpState`).
///
/// A join token names the block that it was written in, so the state after that block is kept while the token can be
/// used: the newest two such states. Any other block is gone back to when somebody asks, as far as changes are kept
/// (`node::state_at`); two of those at a time, each for as long as it is asked for and a minute longer. Nothing is
/// copied: a state that is kept costs what was written over since, at most its own size. So there are four states
/// at most besides the node's own and those that somebody is fetching; none of these vanishes.
///
/// Confined to one thread, which is not the node's: making a manifest looks at every entry.
class StateShelf {
public:
    /// `look` gives the node as it is now; it and the store outlive this.
    StateShelf(const store::Store& store, std::function<std::shared_ptr<const NodeView>()> look);

    /// What the host answers. Of a block that is not final here, or whose state cannot be had: that there is nothing.
    core::Message answer(const std::variant<core::WantManifest, core::WantPart>& wanted);
    /// A join token was written in this block of the chain.
    void keep(const ledger::BlockHash& block);
    /// All blocks that tokens which can still be used were written in: after a start.
    void keep_for_open_tokens();
    /// Lets go of what nobody needs any more; called now and then.
    void tidy();
    /// States that are kept at the moment.
    [[nodiscard]] std::size_t size() const { return states_.size(); }

private:
    struct Shelved {
        ledger::BlockHash block{};
        ledger::Height height{};
        state::StateView view{};
        bool for_token = false;
        runtime::Instant used{};
        std::optional<ledger::SnapshotManifest> manifest{};
    };
    /// Null when it cannot be had.
    Shelved* find(const ledger::BlockHash& block, bool for_token);
    [[nodiscard]] const ledger::SnapshotManifest* manifest_of(Shelved& state) const;

    const store::Store& store_;
    std::function<std::shared_ptr<const NodeView>()> look_;
    std::vector<Shelved> states_;
};

}  // namespace rhizome::node
