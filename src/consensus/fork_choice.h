// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

#include "base/u256.h"
#include "consensus/vote.h"

namespace rhizome::consensus {

/// What makes one chain better than another, dearest first. A total order: nodes that know the same blocks and votes
/// follow the same chain.
struct ChainRank {
    std::uint64_t generation = 0;  ///< of recovery
    Epoch final_epoch{};           ///< of its newest final checkpoint
    Epoch justified_epoch{};       ///< of its newest justified checkpoint
    U256 weight{};                 ///< work, or attestations of distinct members and slots
    BlockHash tip{};               ///< the lower one wins

    friend bool operator==(const ChainRank&, const ChainRank&) = default;
    friend std::strong_ordering operator<=>(const ChainRank& left, const ChainRank& right);
};

}  // namespace rhizome::consensus
