// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>

#include "base/u256.h"
#include "consensus/vote.h"
#include "ledger/tree.h"

namespace rhizome::consensus {

/// What makes one chain better than another, dearest first. Where two are equal in all of it, the one whose first block
/// after the fork has the lower hash is better: not the tip's, or every block more would turn a tie around. Together a
/// total order: nodes that know the same blocks and votes follow the same chain.
struct ChainRank {
    std::uint64_t generation = 0;   ///< of recovery
    ledger::Height final_height{};  ///< of its newest final block; all final blocks are on one line
    Epoch justified_epoch{};        ///< of its newest justified checkpoint
    U256 weight{};                  ///< work, or attestations of distinct members and slots

    friend bool operator==(const ChainRank&, const ChainRank&) = default;
    friend std::strong_ordering operator<=>(const ChainRank& left, const ChainRank& right) = default;
};

/// Which of two blocks' chains is preferred at equal rank: a block's descendants before the block, else by the first
/// blocks after the fork.
[[nodiscard]] bool wins_tie(const ledger::HeaderTree::Node* left, const ledger::HeaderTree::Node* right);

}  // namespace rhizome::consensus
