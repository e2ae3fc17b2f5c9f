// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "consensus/engine.h"

/// Randomness carried from block to block, and the order of proposers drawn from it.
namespace rhizome::consensus {

/// The seed after a block that carried this VRF output: H(seed ‖ output).
crypto::Hash256 next_seed(const crypto::Hash256& seed, const crypto::VrfOutput& output);

/// The members in the order in which they may seal the block after a parent.
struct Order {
    std::vector<MemberKey> ranked{};
    std::size_t newcomers = 0;  ///< so many at the end may seal only when nobody else does for a while

    [[nodiscard]] std::optional<std::size_t> rank_of(const MemberKey& key) const;
    [[nodiscard]] bool is_newcomer(std::size_t rank) const { return rank >= ranked.size() - newcomers; }
};

/// Fisher–Yates over all members sorted by key, drawn from H(seed ‖ height); then, keeping that order, those in good
/// standing before the absent before the newcomers. Nobody is left out but those under evidence: the last one standing
/// always has a turn.
///
/// Absent is who missed its turn and was not heard since, or whose lease has ended. A newcomer is a member that is no
/// voter and was registered after the last but one final checkpoint that the chain shows: so nobody can take over the
/// order by registering many nodes at once.
Order draw_order(const state::StateView& parent, const ledger::Parameters& parameters, const Electorate& electorate,
                 ledger::Height height);

/// r × rank_delay up to rank 8, then 2 s + (r − 8) × min(20 ms, 2 s / members): with 300 members the last one waits
/// four seconds, not 75.
milliseconds delay_of(std::size_t rank, std::size_t members, milliseconds rank_delay);

/// What a newcomer waits at least.
inline constexpr milliseconds kNewcomerDelay{4'000};

}  // namespace rhizome::consensus
