// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/safety_rule.h"
#include "core/detail/inside.h"

namespace rhizome::core {

bool Node::Inside::may_act() const {
    return !conditions.contains(Condition::ClockOff) && !conditions.contains(Condition::ConflictingFinals) &&
           !conditions.contains(Condition::DiskFull);
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

void Node::Inside::set_clock(Time time) {
    constexpr milliseconds kNoticed{1'000};
    const bool stepped_back = time + kNoticed < now;
    now = time;
    if (!stepped_back) return;
    // What was to be done at a time that is now far ahead is done by the clock as it is. What was signed stands in
    // `own`, so nothing is signed twice.
    next_status = now;
    if (next_flush) next_flush = now;
    relay.reset_times(now);
    votes_after = std::min(votes_after, consensus::epoch_of(now, parameters().epoch));
    seal_not_before = std::min(seal_not_before, now);
    started = std::min(started, now);
    settled_since = std::min(settled_since, now);
    if (pending_since) pending_since = now;
    for (auto& [id, peer] : peers) {
        peer.asked_blocks.reset();
        peer.asked_votes.reset();
        peer.clock_heard = {};
        peer.guide_after = std::min(peer.guide_after, now);
    }
    catch_up.reset_times(now);
    asked_txs.clear();
    for (auto& [id, one] : awaited) {
        one.announced = std::min(one.announced, now);
        one.lost_since.reset();
    }
}

void Node::Inside::tick() {
    if (now > settled->header.time + config.clock_leap_max) check_clock();
    take_future();
    if (now >= next_status) {
        send_statuses();
        announce_again();
    }
    if (next_flush && now >= *next_flush) flush_votes();
    if (const auto look = catch_up.next_look(); look && now >= *look) go_on_catching_up();
    if (lacking && lacking->again && now >= *lacking->again) {
        lacking->again.reset();
        effects.emplace_back(FindState{lacking->block});
    }
    if (seals_unknown && own.is_complete() && settled->header.time > started) {
        seals_unknown = false;
        record_own_votes();
    }
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
    consider(next_vote());
    consider(next_seal());
    if (!future.empty())
        consider(future.begin()->first - consensus::engine_of(parameters().consensus)->future_tolerance());
    wake = std::max(wake, now);
    if (wake != asked_wake || now >= asked_wake) {
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
