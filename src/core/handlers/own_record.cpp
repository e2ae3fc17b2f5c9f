// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/safety_rule.h"
#include "consensus/judge.h"
#include "core/detail/inside.h"
#include "ledger/recovery_records.h"

/// What this node has signed: whether it knows all of it, and whether somebody else signs with its key.
namespace rhizome::core {
namespace {

using consensus::Epoch;

/// What this node said before its start has epochs and times that are no later than this after it: a clock that was
/// ahead and is set right, and blocks stamped after their parent's time.
constexpr milliseconds kClockSlack{2'000};

/// Enough for the ten minutes in which a vote is of any use.
constexpr std::size_t kBallotsKept = 1'024;

}  // namespace

bool Node::Inside::has_spoken() const {
    const consensus::MemberKey& self = ports.signer->key();
    return voting().is_voter(self) || settled_view.get(consensus::records::slot(self)) != nullptr;
}

Time Node::Inside::listens_until() const {
    // Every member votes once in a heartbeat, also where nothing happens: another directory with this key is heard.
    return has_spoken() ? started + parameters().heartbeat + kClockSlack : started;
}

void Node::Inside::begin_record(const ledger::VoteRecordId& id) {
    record_id = id;
    own_words_from = consensus::epoch_of(started + kClockSlack, parameters().epoch);
    if (own.is_complete()) own_words_from = std::max(own_words_from, own.last_target());
    if (own.is_complete() || ports.signer == nullptr) return;
    records_begun[ports.signer->key()] = record_id;
    set_condition(Condition::VotesLost, true);
}

void Node::Inside::know_record() {
    records_begun.erase(ports.signer->key());
    record_id = {};
    set_condition(Condition::VotesLost, false);
    record_own_votes();
}

bool Node::Inside::is_named(const ledger::VoteRecordId& id) const {
    if (!holds(SafetyRule::NamedRecord)) return true;
    const auto records = ledger::recovery_records_of(settled_view);
    return id != ledger::VoteRecordId{} &&
           std::any_of(records.begin(), records.end(), [&](const auto& one) { return one.second == id; });
}

void Node::Inside::regain_votes() {
    if (own.is_complete() || ports.signer == nullptr || is_moving() || conditions.contains(Condition::CopyRuns)) return;
    // Drawn after the loss, told to its owner, written into the chain: this block and all that stand on it are younger
    // than anything that is not known here.
    if (looked_for_record != settled) {
        looked_for_record = settled;
        const std::uint64_t generation = parameters().recovery.generation;
        if (generation > own.generation() && voting().generation == generation && is_named(record_id) &&
            own.begin_anew(generation))
            return know_record();
    }
    // Both: what was justified after its start may be the very block on which it sealed before, and what it hears of
    // itself then is not its own word.
    const Epoch highest = book.justified().rbegin()->epoch;
    const Time since = has_spoken() ? started + kClockSlack : started;
    if (now < listens_until() || settled->header.time <= since ||
        highest <= consensus::epoch_of(since, parameters().epoch))
        return;
    own.regain(book.generation(), highest);
    know_record();
}

void Node::Inside::note_said(const consensus::Ballot& ballot) {
    said[{ballot.generation, ballot.target.epoch}] = ballot;
    if (said.size() <= kBallotsKept) return;
    own_words_from = std::max(own_words_from, said.begin()->first.second);
    said.erase(said.begin());
}

void Node::Inside::look_for_copy(const consensus::VoteGroup& group) {
    if (ports.signer == nullptr || group.ballot.target.epoch <= own_words_from) return;
    const consensus::MemberKey& self = ports.signer->key();
    const auto is_ours = [&](const auto& one) { return one.voter == self; };
    if (std::none_of(group.votes.begin(), group.votes.end(), is_ours)) return;
    const auto known = said.find({group.ballot.generation, group.ballot.target.epoch});
    if (known == said.end() || known->second != group.ballot) note_copy();
}

void Node::Inside::look_for_copy(const ledger::Block& block, const consensus::MemberKey& proposer) {
    // What it made itself since its start is known, and not taken again.
    if (ports.signer == nullptr || proposer != ports.signer->key() || own.has_sealed_on(block.header.previous)) return;
    if (consensus::epoch_of(block.header.time, parameters().epoch) > own_words_from) note_copy();
}

void Node::Inside::note_copy() {
    if (conditions.contains(Condition::CopyRuns) || !holds(SafetyRule::OwnKeyHeard)) return;
    set_condition(Condition::CopyRuns, true);
    own.lose();
    persist(LoseVotes{});
    request_sync();
}

}  // namespace rhizome::core
