// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ledger/check.h"
#include "ledger/parameters.h"
#include "ledger/rules.h"
#include "ledger/signature_cache.h"
#include "ledger/working_state.h"

/// Decides what a transaction does to a state: docs/spec/chain.md section 2. Names the fault, punishes nobody.
namespace rhizome::ledger {

/// Where a transaction is judged: the block it would be in, and the state of that block's parent.
struct Place {
    ChainId chain{};
    Height height{};
    Time time{};
    const Parameters* parameters = nullptr;  ///< in force in the parent's state; never null
};

/// A valid transaction's effects, decided but not done. Good for the state it was decided on.
struct Effects {
    SharedTx tx{};
    std::vector<Outpoint> consumed{};     ///< latest outputs that cease to be
    std::vector<Outpoint> locks_used{};   ///< lock points whose authority it took
    std::vector<Outpoint> locks_ended{};  ///< lock points that cease to be
    std::vector<std::size_t> stores{};    ///< outputs that are written, parents before children
    std::vector<state::Path> removes{};   ///< resources deleted, with all below them
    std::vector<state::Path> creates{};   ///< paths of `stores` that did not exist
    std::size_t checks = 0;               ///< signature checks executed
    /// A script asked for the block's place or the members: the verdict must be asked again for another parent.
    bool depends_on_block = false;
};

/// What `tx` would do to `state` at `place`, or why it may not.
///
/// `checks_left` bounds its signature checks beside its own share (the block's rest). Good signatures are looked up in
/// and added to `cache`.
Result<Effects, Reject> decide(const SharedTx& tx, const WorkingState& state, const Place& place, const Rules& rules,
                               SignatureCache& cache, std::size_t checks_left);

/// Does what was decided. `place` is that of `decide`.
void perform(const Effects& effects, WorkingState& state, const Place& place);

}  // namespace rhizome::ledger
