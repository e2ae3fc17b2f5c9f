// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sim/sim.h"

namespace rhizome::sim {

enum class Lie : std::uint8_t {
    Equivocate,  ///< seals two blocks on one parent, votes twice in one epoch, one to each half
    Withhold,    ///< keeps its own blocks for itself for a while
    WrongSeal,   ///< strips or changes attestations
    WrongOrder,  ///< seals before its turn
    BadRoot,     ///< names another state
    FutureTime,  ///< stamps its blocks a minute ahead
    BadScripts,  ///< spreads transactions that unlock nothing
    Tamper,      ///< passes others' blocks on with transactions or attestations missing
    FalseTip,    ///< says it is far ahead, shows headers that nobody has bodies for, and other blocks' bodies
    Flood,       ///< as many votes, blocks without parents and transactions as the link carries
    FalseFinal,  ///< says that something else is final, votes for it, and puts others' names under such votes
    WrongClock,  ///< says that its clock is hours off, to each side and by turns
};
inline constexpr std::size_t kLies = 12;

std::unique_ptr<Byzantine> make_liar(Lie lie, std::uint64_t seed);

}  // namespace rhizome::sim
