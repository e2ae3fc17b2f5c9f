// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "consensus/vote.h"
#include "ledger/parameters.h"

/// When members vote. Local, never part of a block's validity: a node that kept another time table would only be late.
namespace rhizome::consensus {

struct VotingTimes {
    std::size_t voters = 0;
    bool tip_is_final = false;
    Epoch last_justified{};
};

/// Whether members vote in epoch `k`: k mod p < 2. p = 2 up to 64 voters (every epoch), else ⌈voters / 32⌉, so that
/// votes cost each node the same whatever the cluster's size; a heartbeat's worth of epochs at most, and whenever the
/// tip is final or nothing was justified for 20 epochs. All who see the same chain vote in the same epochs.
[[nodiscard]] bool votes_in(Epoch k, const VotingTimes& times, const ledger::Parameters& parameters);

/// How long after an epoch's end a member votes: `kSettleMin`, doubled while votes split, up to `kSettleMax`.
inline constexpr milliseconds kSettleMin{100};
inline constexpr milliseconds kSettleMax{2'000};

/// No vote for an epoch that ends more than this many heartbeats after the tip's time: where nobody seals, votes would
/// only fill memories.
inline constexpr int kVoteHeartbeatsMax = 3;

}  // namespace rhizome::consensus
