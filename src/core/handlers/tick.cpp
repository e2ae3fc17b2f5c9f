// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/safety_rule.h"
#include "core/detail/inside.h"

namespace rhizome::core {
namespace {

/// Clocks that are set by less are taken as they are.
constexpr milliseconds kNoticed{1'000};

}  // namespace

bool Node::Inside::may_act() const {
    return !conditions.contains(Condition::ClockOff) && !conditions.contains(Condition::ConflictingFinals) &&
           !conditions.contains(Condition::DiskFull) && !conditions.contains(Condition::CopyRuns);
}

void Node::Inside::set_condition(Condition condition, bool holds) {
    const bool held_before = conditions.contains(condition);
    if (holds == held_before) return;
    if (holds) {
        conditions.insert(condition);
    } else {
        conditions.erase(condition);
    }
    effects.emplace_back(Publish{ConditionChanged{condition, holds}});
}

detail::ChainClock::Sight Node::Inside::clock_sight() const {
    return {.tip = settled->header.time,
            .tolerance = consensus::engine_of(parameters().consensus)->future_tolerance(),
            .idle_most = parameters().lease_step_max()};
}

Time Node::Inside::newest_to_take() const {
    const auto tolerance = consensus::engine_of(parameters().consensus)->future_tolerance();
    return now + tolerance + (clock.is_ahead() ? detail::ChainClock::kFollowLag : milliseconds{0});
}

void Node::Inside::set_clock(Time wall, microseconds on) {
    if (!steady_started) steady_started = steady = on;
    const microseconds passed = std::max(microseconds{0}, on - steady);
    steady += passed;
    const bool was_set = std::chrono::abs(wall - clock.wall() - passed) > kNoticed / 2;
    const Time before = now;
    now = clock.read(wall, steady, clock_sight());
    note_clock(before, passed);
    // Before anything is signed by it.
    if (was_set || clock.is_ahead() != conditions.contains(Condition::ChainAhead)) check_clock();
}

void Node::Inside::note_clock(Time before, microseconds passed) {
    const microseconds leap = now - before - passed;
    if (leap > kNoticed) {
        // It was set forward: what waits has waited no longer for that, and what was before the start still was.
        settled_since += leap;
        if (steady_started) started = std::max(started, now - (steady - *steady_started));
        votes_after = std::max(votes_after, consensus::epoch_of(started, parameters().epoch));
    }
    if (now + kNoticed >= before) return;
    // What was to be done at a time that is now far ahead is done by the clock as it is. What was signed stands in
    // `own`, so nothing is signed twice.
    next_status = now;
    if (next_flush) next_flush = now;
    relay.reset_times(now);
    votes_after = std::min(votes_after, consensus::epoch_of(now, parameters().epoch));
    seal_not_before = std::min(seal_not_before, now);
    started = std::min(started, now);
    alone_until = std::min(alone_until, now + parameters().heartbeat);
    settled_since = std::min(settled_since, now);
    if (pending_since) pending_since = now;
    for (auto& [id, peer] : peers) {
        peer.asked_blocks.reset();
        peer.asked_votes.reset();
        peer.guide_after = std::min(peer.guide_after, now);
    }
    catch_up.reset_times(now);
    asked_txs.clear();
    for (auto& [id, one] : awaited) {
        one.announced = std::min(one.announced, now);
        one.lost_since.reset();
    }
}

bool Node::Inside::may_begin() const {
    if (ports.signer != nullptr && voting().is_only_voter(ports.signer->key())) return true;
    // Whoever leads nowhere, or says nothing, holds nobody up for longer than a lease.
    if (now >= alone_until + parameters().lease()) return true;
    if (std::none_of(peers.begin(), peers.end(), [](const auto& one) { return one.second.clock_heard.has_value(); }))
        return peers.empty() && now >= alone_until;
    if (is_moving() || catch_up.guide() != PeerId{}) return false;
    return std::any_of(peers.begin(), peers.end(),
                       [&](const auto& one) { return one.second.clock_heard && tree.find(one.second.tip) != nullptr; });
}

void Node::Inside::begin_if_due() {
    if (!conditions.contains(Condition::Starting) || !may_begin()) return;
    set_condition(Condition::Starting, false);
    for (const Submit& one : std::exchange(early, {})) submit(one);
}

void Node::Inside::tick() {
    begin_if_due();
    if (clock.wall() > settled->header.time + config.clock_leap_max) check_clock();
    take_future();
    if (now >= next_status) {
        send_statuses();
        announce_again();
        // Also while no block comes that would become final.
        if (!is_moving()) retry_refused();
    }
    if (next_flush && now >= *next_flush) flush_votes();
    if (const auto look = catch_up.next_look(); look && now >= *look) go_on_catching_up();
    regain_votes();
    vote_if_due();
    seal_if_due();
}

void Node::Inside::set_wake() {
    Time wake = next_status;
    const auto consider = [&](std::optional<Time> when) {
        if (when) wake = std::min(wake, *when);
    };
    consider(next_flush);
    consider(catch_up.next_look());
    if (conditions.contains(Condition::Starting) && now < alone_until) consider(alone_until);
    consider(next_vote());
    consider(next_seal());
    if (!future.empty() && has_room()) consider(now + (future.begin()->first - newest_to_take()));
    // By the host's clock.
    wake = clock.wall_at(std::max(wake, now));
    if (wake != asked_wake || clock.wall() >= asked_wake) {
        asked_wake = wake;
        effects.emplace_back(Wake{wake});
    }
}

void Node::Inside::finish_step() {
    if (sync_wanted) {
        sync_wanted = false;
        effects.emplace_back(Sync{last_ticket});
        if (!holds(SafetyRule::DurableVotes)) stored_up_to(last_ticket);
    }
    if (resume_wanted && !resume_pending) {
        resume_pending = true;
        effects.emplace_back(Continue{});
    }
    resume_wanted = false;
    blocks.end_step();
    set_wake();
}

}  // namespace rhizome::core
