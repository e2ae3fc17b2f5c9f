// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "base/time.h"

namespace rhizome::core::detail {

/// What time it is on the chain, for one node: by this it stamps its blocks, judges whether another's is ahead, and
/// chooses the epochs it votes in.
///
/// That is its own clock, as long as the chain's newest block is not ahead of that. Where it is (clocks were ahead and
/// have been set right; this one is behind) chain time goes on from there: at half the pace of a clock that never
/// jumps, until the own clock has caught up. Never faster, whoever seals and however often: leases run on the stamps,
/// and what a stamp says in advance does not move this clock. Where most members are further it goes on from where they
/// are, so that all judge by one time, whenever each of them was set right or came back.
class ChainClock {
public:
    /// A tip may be ahead by as much as another's clock may be; and chain time goes on for no clock that is off by more
    /// than a day: one that was set to local time is up to 14 hours off.
    static constexpr std::chrono::hours kAheadMost{24};
    /// How far behind the others this clock may be while it goes by what they say: they say it once a second, and it
    /// goes half as fast meanwhile; and their words take time.
    static constexpr milliseconds kFollowLag{1'000};
    static constexpr int kPace = 2;  ///< it goes on at one half

    struct Sight {
        Time tip{};                ///< of the newest block
        milliseconds tolerance{};  ///< a block may be so far ahead of chain time
        milliseconds idle_most{};  ///< chain time may have gone on for so long since the newest block
    };

    /// At a start: from the tip on, should that be ahead.
    Time begin(Time wall, const Sight& sight);
    /// `steady`: since any beginning, by a clock that never jumps and goes on while the machine sleeps.
    Time read(Time wall, microseconds steady, const Sight& sight);
    /// Most members are there. True when that moves the clock.
    bool follow(Time most);
    /// Most members are not beyond that: true when the clock goes back to it, which it does while it is ahead, but not
    /// behind the tip.
    bool fall_back(Time most, Time tip);
    /// What was ahead is no longer the chain.
    Time leave(const Sight& sight);

    [[nodiscard]] Time chain_time() const { return time_; }
    [[nodiscard]] Time wall() const { return wall_; }
    [[nodiscard]] bool is_ahead() const { return is_ahead_; }
    /// Of the own clock.
    [[nodiscard]] microseconds ahead() const { return time_ - wall_; }
    /// When, by the own clock, it is this time on the chain, as far as is known.
    [[nodiscard]] Time wall_at(Time time) const { return is_ahead_ ? wall_ + (time - time_) * kPace : time; }

private:
    [[nodiscard]] static bool is_ahead_of(Time wall, const Sight& sight);
    void go_on_from(Time time);

    Time wall_{};
    microseconds steady_{};
    bool has_steady_ = false;
    Time time_{};
    bool is_ahead_ = false;
    Time from_{};  ///< while ahead: where it went on from,
    microseconds from_steady_{};
};

/// What a member said of its chain time, and how long ago.
struct ClockHeard {
    Time clock{};
    microseconds ago{};
};

/// Where most members are, at least, by what they said: each goes on at half pace or faster. A clock whose own chain
/// time is by its own clock counts itself, so one liar of two moves nobody; one that is ahead of its clock has nothing
/// to say. Nothing where nobody said anything.
std::optional<Time> most_members_at(std::span<const ClockHeard> members, const ChainClock& own);
/// Where most others are, at most; nothing where fewer than two said anything.
std::optional<Time> most_members_below(std::span<const ClockHeard> members);

/// Whether this machine's clock is ahead of most others': its own counts as well, so one wrong clock of three stops
/// nobody else. `is_pair`: of two voters nobody can say who is right; the one that is ahead waits, since the other's
/// blocks are good to both.
bool is_clock_ahead(std::span<const ClockHeard> members, Time wall, bool is_pair);

}  // namespace rhizome::core::detail
