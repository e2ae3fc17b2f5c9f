// SPDX-License-Identifier: Apache-2.0
#include "consensus/voting.h"

#include <algorithm>

namespace rhizome::consensus {

bool votes_in(Epoch k, const VotingTimes& times, const ledger::Parameters& parameters) {
    constexpr std::uint64_t kStalled = 20;
    const auto slot = static_cast<std::uint64_t>(std::max<std::int64_t>(2, parameters.heartbeat / parameters.epoch));
    std::uint64_t period = times.voters <= 64 ? 2 : (times.voters + 31) / 32;
    const bool stalled = k.number() > times.last_justified.number() + kStalled;
    if (times.tip_is_final || stalled) period = slot;
    return k.number() % std::min(period, slot) < 2;
}

}  // namespace rhizome::consensus
