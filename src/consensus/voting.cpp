// SPDX-License-Identifier: Apache-2.0
#include "consensus/voting.h"

#include <algorithm>
#include <bit>

namespace rhizome::consensus {
namespace {

std::uint64_t epochs_in_a_heartbeat(const ledger::Parameters& parameters) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(2, parameters.heartbeat / parameters.epoch));
}

int least_level(std::size_t voters) {
    const int level =
        voters <= VotingPace::kQuickVotersMax ? 0 : static_cast<int>(std::bit_width((voters + 31) / 32)) - 2;
    return std::min(level, VotingPace::kLevelMax);
}

/// The longest period is a heartbeat, and its pairs begin with the slots.
std::uint64_t period_of(int level, const ledger::Parameters& parameters) {
    const std::uint64_t heartbeat = epochs_in_a_heartbeat(parameters);
    return level == VotingPace::kLevelMax ? heartbeat : std::min(std::uint64_t{2} << level, std::bit_floor(heartbeat));
}

/// How long the votes of a pair's first epoch may take. With the shortest period nobody waits for them.
milliseconds room_of(int level, const ledger::Parameters& parameters) {
    return level == 0 ? parameters.epoch : parameters.epoch * static_cast<std::int64_t>(period_of(level, parameters));
}

}  // namespace

std::uint64_t VotingPace::period(const Sight& sight, const ledger::Parameters& parameters) const {
    if (sight.tip_is_final) return epochs_in_a_heartbeat(parameters);
    return period_of(std::max(level_, least_level(sight.voters)), parameters);
}

std::uint64_t VotingPace::place(Epoch epoch, const Sight& sight, const ledger::Parameters& parameters) const {
    return (epoch.number() + (sight.tip_is_final ? 2 : 0)) % period(sight, parameters);
}

void VotingPace::note_first(Epoch epoch, const Sight& sight, Epoch final, bool split) {
    constexpr int kStuckMax = 3;
    stuck_ = sight.tip_is_final || final > final_ ? 0 : stuck_ + 1;
    if (stuck_ > kStuckMax) {
        level_ = std::min(std::max(level_, least_level(sight.voters)) + 1, kLevelMax);
        stuck_ = 0;
    }
    if (split) settle_ = std::min(settle_ * 2, kSettleMax);
    final_ = final;
    first_ = epoch;
    open_ = epoch;
}

void VotingPace::note_justified(Epoch epoch, Time now, const ledger::Parameters& parameters) {
    if (!open_ || epoch < *open_) return;
    // Not from this member's own vote on: it may be the last, because it waits longest for blocks.
    const auto took = std::chrono::ceil<milliseconds>(now - end_of(*open_, parameters.epoch)) - kSettleMin;
    open_.reset();
    settle_ = std::max(kSettleMin, settle_ - settle_ / 4);
    // Room for twice as long: the next ones may be slower.
    while (level_ > 0 && 2 * took < room_of(level_ - 1, parameters)) --level_;
}

}  // namespace rhizome::consensus
