// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "consensus/vote.h"

namespace rhizome::consensus {

/// An epoch, and what tells whether others have the same votes of it (`VoteRow::sum`).
struct VoteSum {
    Epoch epoch{};
    std::uint64_t sum = 0;
    friend bool operator==(const VoteSum&, const VoteSum&) = default;
};

/// Of the newest epochs with votes: what nodes tell each other.
using VoteSums = std::array<VoteSum, 4>;

}  // namespace rhizome::consensus
