// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/detail/inside.h"

namespace rhizome::core {
namespace {

using consensus::Ballot;
using consensus::Checkpoint;
using consensus::Epoch;
using consensus::Vote;
using consensus::VoteBook;
using ledger::HeaderTree;
using ledger::RejectCode;

/// Votes for epochs that lie ahead of the clock by more than this are not kept: an honest clock is a second off at
/// most.
constexpr milliseconds kAheadMax{2'000};

}  // namespace

void Node::Inside::heard(PeerId from, const Votes& message) {
    if (message.votes.size() > config.message_votes_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more votes than a message may have"});
    const auto peer = peers.find(from);
    const Epoch last = consensus::epoch_of(now + kAheadMax, parameters().epoch);
    VoteBook::Outcome all;
    for (const Vote& vote : message.votes) {
        if (peer != peers.end()) peer->second.known_votes.put({vote.ballot.target.epoch, vote.voter}, 0);
        const Vote* known = book.vote_of(vote.voter, vote.ballot.target.epoch);
        if (known != nullptr && known->ballot == vote.ballot) continue;
        if (vote.ballot.target.epoch > last) continue;  // its clock or ours: nobody is blamed
        if (!is_member(vote.voter)) continue;           // it may be one on a branch that is not known here
        if (!signatures.is_good(vote.voter, digest_of(vote.ballot, chain), vote.signature)) {
            blame(from, {.code = RejectCode::BadVote, .why = "the voter did not sign the vote"});
            continue;
        }
        const auto outcome = book.add(vote, *this);
        all.justified_more |= outcome.justified_more;
        all.final_more |= outcome.final_more;
        if (outcome.taken == VoteBook::Taken::New) {
            votes_to_relay.push_back(vote);
        } else if (outcome.taken == VoteBook::Taken::Contradicts) {
            note_contradiction(vote, *outcome.other);
        }
    }
    if (!votes_to_relay.empty() && !next_flush) next_flush = now + config.relay_delay;
    after_votes(all);
}

void Node::Inside::heard(PeerId from, const WantVotes& message) {
    // Those of the newest epochs, and what shows the highest final and justified checkpoints: bounded by the book.
    auto votes = book.votes_since(message.since);
    for (const Vote& vote : book.votes_final(book.final_checkpoint())) votes.push_back(vote);
    for (const Vote& vote : book.votes_for(*book.justified().rbegin())) votes.push_back(vote);
    for (std::size_t begin = 0; begin < votes.size(); begin += config.message_votes_max) {
        const std::size_t end = std::min(votes.size(), begin + config.message_votes_max);
        send(from, Votes{{votes.begin() + static_cast<std::ptrdiff_t>(begin),
                          votes.begin() + static_cast<std::ptrdiff_t>(end)}});
    }
}

void Node::Inside::after_votes(const VoteBook::Outcome& outcome) {
    if (outcome.justified_more && !own.is_complete()) {
        const Checkpoint highest = *book.justified().rbegin();
        if (highest.epoch > consensus::epoch_of(started, parameters().epoch)) {
            own.regain(book.generation(), highest.epoch);
            record_own_votes();
            set_condition(Condition::VotesLost, false);
        }
    }
    if (outcome.justified_more) settle_time = consensus::kSettleMin;
    if (!outcome.justified_more && !outcome.final_more) return;
    follow_best();
}

Checkpoint Node::Inside::justified_on(const HeaderNode* node, Epoch before) const {
    const auto& justified = book.justified();
    for (auto at_checkpoint = justified.rbegin(); at_checkpoint != justified.rend(); ++at_checkpoint) {
        if (at_checkpoint->epoch >= before) continue;
        const HeaderNode* block = tree.find(at_checkpoint->block);
        if (block != nullptr && HeaderTree::is_ancestor(block, node)) return *at_checkpoint;
    }
    return {.block = ledger::BlockHash{chain.view()}};  // genesis is an ancestor of all
}

std::optional<Ballot> Node::Inside::ballot_for(Epoch epoch) const {
    const Time end = consensus::end_of(epoch, parameters().epoch);
    const HeaderNode* target = settled;
    while (target->parent != nullptr && target->header.time >= end) target = target->parent;
    if (target->header.time >= end) return std::nullopt;  // the whole chain is younger
    if (end > target->header.time + parameters().heartbeat * consensus::kVoteHeartbeatsMax) return std::nullopt;
    const auto& known = facts.find(target->hash);
    if (known == facts.end() || !known->second.judged) return std::nullopt;
    return Ballot{.generation = known->second.electorate->generation,
                  .source = justified_on(target, epoch),
                  .target = {epoch, target->hash}};
}

std::optional<Time> Node::Inside::next_vote() const {
    if (ports.signer == nullptr) return std::nullopt;
    return consensus::end_of(voted_until + 1, parameters().epoch) + settle_time;
}

void Node::Inside::vote_if_due() {
    if (ports.signer == nullptr) return;
    // The newest epoch that has ended and settled; those missed while asleep are not made up for.
    const Epoch running = consensus::epoch_of(now - settle_time, parameters().epoch);
    if (running.number() == 0 || running - 1 <= voted_until) return;
    const Epoch epoch = running - 1;
    voted_until = epoch;
    if (!may_act() || is_moving() || !is_member(ports.signer->key())) return;
    const auto& electorate = *facts.at(settled->hash).electorate;
    const consensus::VotingTimes times{.voters = electorate.voters.size(),
                                       .tip_is_final = settled == final_node,
                                       .last_justified = book.justified().rbegin()->epoch};
    if (!consensus::votes_in(epoch, times, parameters())) return;
    if (epoch.number() > times.last_justified.number() + 2)
        settle_time = std::min(settle_time * 2, consensus::kSettleMax);  // votes split, or links are slow
    const auto ballot = ballot_for(epoch);
    if (!ballot || !own.may_sign(*ballot)) return;
    Vote vote{.voter = ports.signer->key(), .ballot = *ballot};
    vote.signature = ports.signer->sign(digest_of(*ballot, chain));
    own.note_signed(*ballot, book.votes_for(ballot->source));
    signatures.remember(vote.voter, digest_of(*ballot, chain), vote.signature);
    record_own_votes();
    held.push_back({.needs = last_ticket, .votes = {vote}});
    request_sync();
}

void Node::Inside::note_contradiction(const Vote& one, const Vote& other) {
    bring_evidence({.accused = one.voter, .proof = std::array{one, other}});
}

void Node::Inside::bring_evidence(const consensus::Evidence& evidence) {
    // The state is on its way, or somebody was faster. Whoever else saw it will try too.
    if (is_moving() || consensus::is_accused(evidence.accused, state.view())) return;
    auto tx = ledger::check_tx(evidence_tx(evidence, state, now));
    if (!tx || pool.find((*tx)->id) != nullptr) return;
    if (!pool.admit(*tx, {}, ledger::TxClass::System)) return;
    note_pending();
    announce({&*tx, 1}, {});
}

void Node::Inside::flush_votes() {
    next_flush.reset();
    for (auto& [id, peer] : peers) {
        Votes message;
        for (const Vote& vote : votes_to_relay) {
            const std::pair key{vote.ballot.target.epoch, vote.voter};
            if (peer.known_votes.get(key) != nullptr) continue;
            peer.known_votes.put(key, 0);
            message.votes.push_back(vote);
        }
        if (!message.votes.empty()) send(id, std::move(message));
    }
    votes_to_relay.clear();
}

}  // namespace rhizome::core
