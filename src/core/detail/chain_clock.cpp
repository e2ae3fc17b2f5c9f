// SPDX-License-Identifier: Apache-2.0
#include "core/detail/chain_clock.h"

#include <algorithm>
#include <vector>

#include "base/safety_rule.h"

namespace rhizome::core::detail {
namespace {

/// A clock further ahead of the others' than this neither seals nor votes; and one that goes by itself does not follow
/// the others for less.
constexpr milliseconds kClockOffMax{1'000};
/// A clock that is set back by less waits instead.
constexpr milliseconds kNoticed{500};

}  // namespace

bool ChainClock::is_ahead_of(Time wall, const Sight& sight) {
    // More than whoever is honest takes from a liar, else stamps could move the clock after all.
    return sight.tip > wall + sight.tolerance + kFollowLag + kNoticed;
}

void ChainClock::go_on_from(Time time) {
    is_ahead_ = true;
    time_ = time;
    from_ = time;
    from_steady_ = steady_;
}

Time ChainClock::begin(Time wall, const Sight& sight) {
    wall_ = wall;
    time_ = wall;
    if (is_ahead_of(wall, sight) && sight.tip <= wall + kAheadMost) go_on_from(sight.tip);
    return time_;
}

Time ChainClock::read(Time wall, microseconds steady, const Sight& sight) {
    if (!has_steady_) from_steady_ = steady_ = steady;
    has_steady_ = true;
    const microseconds passed = std::max(microseconds{0}, steady - steady_);
    steady_ += passed;
    wall_ = wall;
    if (is_ahead_) {
        time_ = from_ + (steady_ - from_steady_) / kPace;
        if (!holds(SafetyRule::ChainTimeSlower)) go_on_from(sight.tip + sight.idle_most);
        is_ahead_ = wall < time_;
        return time_ = std::max(wall, time_);
    }
    // It was set back. All who went by such a clock go on from the same time, though some may lack the newest block.
    if (is_ahead_of(wall, sight) && sight.tip <= wall + kAheadMost) {
        go_on_from(std::clamp(time_ + passed / kPace, sight.tip, sight.tip + sight.idle_most));
        return time_;
    }
    return time_ = wall;
}

bool ChainClock::follow(Time most) {
    if (most <= time_ + (is_ahead_ ? milliseconds{0} : kClockOffMax)) return false;
    go_on_from(most);
    return true;
}

bool ChainClock::fall_back(Time most, Time tip) {
    if (!is_ahead_ || time_ <= most + kClockOffMax || time_ <= tip) return false;
    go_on_from(std::max({most, tip, wall_}));
    return true;
}

Time ChainClock::leave(const Sight& sight) {
    if (is_ahead_ && !is_ahead_of(wall_, sight)) {
        is_ahead_ = false;
        time_ = wall_;
    }
    return time_;
}

std::optional<Time> most_members_at(std::span<const ClockHeard> members, const ChainClock& own) {
    if (members.empty()) return std::nullopt;
    std::vector<Time> times;
    for (const ClockHeard& one : members) times.push_back(one.clock + one.ago / ChainClock::kPace);
    if (!own.is_ahead()) times.push_back(own.chain_time());
    std::sort(times.begin(), times.end());
    return times[(times.size() - 1) / 2];
}

std::optional<Time> most_members_below(std::span<const ClockHeard> members) {
    if (members.size() < 2) return std::nullopt;
    std::vector<Time> times;
    for (const ClockHeard& one : members) times.push_back(one.clock + one.ago);
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
}

bool is_clock_ahead(std::span<const ClockHeard> members, Time wall, bool is_pair) {
    if (members.empty() || (members.size() == 1 && !is_pair)) return false;
    std::vector<Time> times;
    for (const ClockHeard& one : members) times.push_back(one.clock + one.ago);
    // The other one of two may go by what it last heard.
    if (members.size() == 1) return wall > times.front() + kClockOffMax + ChainClock::kFollowLag;
    if (holds(SafetyRule::OwnClockCounts)) times.push_back(wall);
    std::sort(times.begin(), times.end());
    if (!holds(SafetyRule::OwnClockCounts)) {
        const Time lower = times[(times.size() - 1) / 2];
        return std::chrono::abs(wall - (lower + (times[times.size() / 2] - lower) / 2)) > kClockOffMax;
    }
    return wall > times[times.size() / 2] + kClockOffMax;
}

}  // namespace rhizome::core::detail
