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

VoteName name_of(const Vote& vote) { return {vote.ballot.target.epoch, consensus::short_key(vote.voter)}; }

}  // namespace

void Node::Inside::heard(PeerId from, const Votes& message, const std::vector<bool>& good) {
    if (message.votes.size() > config.message_votes_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more votes than a message may have"});
    const Epoch last = consensus::epoch_of(now + kAheadMax, parameters().epoch);
    VoteBook::Outcome all;
    // Most votes of a message say the same.
    const Ballot* ballot = nullptr;
    crypto::Digest digest{};
    for (std::size_t i = 0; i < message.votes.size(); ++i) {
        const Vote& vote = message.votes[i];
        const Vote* known = book.vote_of(vote.voter, vote.ballot.target.epoch);
        if (known != nullptr && known->ballot == vote.ballot) {
            note_known_to(from, name_of(vote));
            continue;
        }
        if (vote.ballot.target.epoch > last) continue;  // its clock or ours: nobody is blamed
        if (!is_member(vote.voter)) continue;           // it may be one on a branch that is not known here
        if (ballot == nullptr || *ballot != vote.ballot) {
            ballot = &vote.ballot;
            digest = digest_of(vote.ballot, chain);
        }
        if (!(i < good.size() && good[i]) && !signatures.is_good(vote.voter, digest, vote.signature)) {
            // Nobody passes on what it has not checked: the rest is not worth the cost of looking.
            blame(from, {.code = RejectCode::BadVote, .why = "the voter did not sign the vote"});
            break;
        }
        const auto outcome = book.add(vote, *this);
        all.justified_more |= outcome.justified_more;
        all.final_more |= outcome.final_more;
        if (outcome.taken == VoteBook::Taken::New) {
            if (!promised.empty()) promised.erase(name_of(vote));
            relay(vote, {from});
        } else if (outcome.taken == VoteBook::Taken::Contradicts) {
            note_contradiction(vote, *outcome.other);
        }
    }
    if (!votes_to_relay.empty() && !next_flush)
        next_flush = now + config.relay_delay * (is_crowded(votes_to_relay.back().vote.ballot.target.epoch) ? 4 : 1);
    after_votes(all);
}

void Node::Inside::heard(PeerId from, const HaveVotes& message) {
    if (message.names.size() > config.message_votes_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more names of votes than a message may have"});
    const Epoch last = consensus::epoch_of(now + kAheadMax, parameters().epoch);
    AskVotes ask;
    for (const VoteName& name : message.names) {
        if (book.vote_of(name.voter, name.epoch) != nullptr) {
            note_known_to(from, name);
            continue;
        }
        if (name.epoch > last || name.epoch < book.final_checkpoint().epoch) continue;
        const auto [asked, first] = promised.try_emplace(name, now);
        if (!first && now < *asked + config.vote_timeout) continue;
        *asked = now;
        ask.names.push_back(name);
    }
    if (!ask.names.empty()) send(from, std::move(ask));
    // What nobody sent is no longer waited for. A liar's names go first: they are of no epoch that gets votes.
    if (promised.size() > config.message_votes_max)
        promised.erase_if([&](const auto& one) { return now >= one.second + config.vote_timeout; });
    if (promised.size() > 4 * config.message_votes_max) promised.clear();
}

void Node::Inside::heard(PeerId from, const AskVotes& message) {
    if (message.names.size() > config.message_votes_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more names of votes than a message may have"});
    Votes answer;
    for (const VoteName& name : message.names)
        if (const Vote* vote = book.vote_of(name.voter, name.epoch)) answer.votes.push_back(*vote);
    if (!answer.votes.empty()) send(from, std::move(answer));
}

bool Node::Inside::is_crowded(Epoch epoch) const {
    return std::max(facts.at(settled->hash).electorate->voters.size(), book.votes_in(epoch)) > config.push_votes_max;
}

void Node::Inside::relay(const Vote& vote, std::vector<PeerId> known_to) {
    const bool own_vote = known_to.empty();
    (void)relay_places.try_emplace(name_of(vote), votes_to_relay.size());
    votes_to_relay.push_back({vote, std::move(known_to), own_vote});
}

void Node::Inside::note_known_to(PeerId peer, const VoteName& name) {
    const std::size_t* place = relay_places.find(name);
    if (place == nullptr) return;
    auto& known_to = votes_to_relay[*place].known_to;
    if (std::find(known_to.begin(), known_to.end(), peer) == known_to.end()) known_to.push_back(peer);
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
    if (outcome.justified_more) pace.note_justified(book.justified().rbegin()->epoch, now, parameters());
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

consensus::VotingPace::Sight Node::Inside::voting_sight() const {
    return {.voters = facts.at(settled->hash).electorate->voters.size(), .tip_is_final = settled == final_node};
}

std::optional<Time> Node::Inside::next_vote() const {
    if (ports.signer == nullptr || is_moving()) return std::nullopt;
    // The next epoch that ends, and the first of the next pair. What waits for votes or for a move goes on with them.
    const Epoch ended = consensus::epoch_of(now - pace.settle(), parameters().epoch);
    const auto sight = voting_sight();
    const std::uint64_t place = pace.place(ended, sight, parameters());
    const Epoch next = place < 2 ? ended : ended + (pace.period(sight, parameters()) - place);
    return consensus::end_of(next, parameters().epoch) + pace.settle();
}

void Node::Inside::vote_if_due() {
    if (ports.signer == nullptr || !own.is_complete() || is_moving() || !may_act()) return;
    const Epoch running = consensus::epoch_of(now - pace.settle(), parameters().epoch);
    if (running.number() == 0) return;
    const Epoch newest = running - 1;
    const Epoch last = own.last_target();
    if (newest <= last || !is_member(ports.signer->key())) return;
    // What was begun is brought to its end, also when the period has changed or the next pair is due already; unless
    // votes show that its block is final. (A single voter's seal is final without votes, but only they show it to
    // others.)
    const Checkpoint& justified = *book.justified().rbegin();
    if (last == pace.first() && justified.epoch >= last && !is_shown_final(justified.block) && vote_in(last + 1))
        return;

    const auto sight = voting_sight();
    const Epoch next =
        pace.period(sight, parameters()) == 2 ? newest : newest - pace.place(newest, sight, parameters());
    if (next <= std::max(last, votes_after)) return;
    // Where all is final a vote only gives weight, once in a slot.
    const auto slot = [&](Epoch epoch) { return slot_of(epoch, parameters().epoch, parameters().heartbeat); };
    if (is_shown_final(settled->hash) && slot(next) == slot(last)) return;
    if (!vote_in(next) || pace.place(next, sight, parameters()) != 0) return;
    const bool split = pace.open() && book.votes_in(*pace.open()) >= consensus::quorum_of(sight.voters, trust());
    pace.note_first(next, sight, book.final_checkpoint().epoch, split);
}

bool Node::Inside::is_shown_final(const ledger::BlockHash& block) const {
    const HeaderNode* node = tree.find(block);
    const HeaderNode* shown = tree.find(book.final_checkpoint().block);
    return node != nullptr && shown != nullptr && HeaderTree::is_ancestor(node, shown);
}

bool Node::Inside::vote_in(Epoch epoch) {
    const auto ballot = ballot_for(epoch);
    if (!ballot || !own.may_sign(*ballot)) return false;
    Vote vote{.voter = ports.signer->key(), .ballot = *ballot};
    vote.signature = ports.signer->sign(digest_of(*ballot, chain));
    own.note_signed(*ballot, book.votes_for(ballot->source));
    signatures.remember(vote.voter, digest_of(*ballot, chain), vote.signature);
    record_own_votes();
    held.push_back({.needs = last_ticket, .votes = {vote}});
    request_sync();
    return true;
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
    announce({&*tx, 1}, {}, Telling::Whole);
}

void Node::Inside::flush_votes() {
    next_flush.reset();
    // Most peers lack the same ones: they get the same message.
    std::map<std::vector<bool>, std::pair<SharedMessage, SharedMessage>> made;
    for (const auto& [id, peer] : peers) {
        std::vector<bool> lacks(votes_to_relay.size());
        for (std::size_t i = 0; i < votes_to_relay.size(); ++i) {
            const auto& known_to = votes_to_relay[i].known_to;
            lacks[i] = std::find(known_to.begin(), known_to.end(), id) == known_to.end();
        }
        auto& [votes, names] = made[lacks];
        if (!votes && !names) {
            Votes whole;
            HaveVotes named;
            for (std::size_t i = 0; i < votes_to_relay.size(); ++i) {
                const auto& [vote, known_to, is_own] = votes_to_relay[i];
                if (!lacks[i]) continue;
                if (is_own || !is_crowded(vote.ballot.target.epoch)) {
                    whole.votes.push_back(vote);
                } else if (named.names.size() < config.message_votes_max) {
                    named.names.push_back(name_of(vote));
                }
            }
            if (!whole.votes.empty()) votes = std::make_shared<const Message>(std::move(whole));
            if (!named.names.empty()) names = std::make_shared<const Message>(std::move(named));
        }
        if (votes) effects.emplace_back(Send{id, votes});
        if (names) effects.emplace_back(Send{id, names});
    }
    votes_to_relay.clear();
    relay_places.clear();
}

}  // namespace rhizome::core
