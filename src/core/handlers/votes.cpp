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
using consensus::VoteGroup;
using ledger::HeaderTree;
using ledger::RejectCode;

/// Votes for epochs that lie ahead of the clock by more than this are not kept: an honest clock is a second off at
/// most.
constexpr milliseconds kAheadMax{2'000};

/// Two pairs, and what they take to come.
constexpr std::uint64_t kFreshEpochs = 8;

VoteName name_of(const Ballot& ballot, const consensus::MemberKey& voter) {
    return {ballot.target.epoch, consensus::short_key(voter)};
}

}  // namespace

std::vector<std::uint32_t> Node::Inside::worth_checking(const VoteGroup& group) const {
    auto indices = book.missing(group);
    if (indices.empty()) return indices;
    // Both are sorted: most are voters, and found on the way.
    const auto& voters = voting().voters;
    auto at_voter = voters.begin();
    const consensus::MemberLess less;
    std::erase_if(indices, [&](std::uint32_t i) {
        const consensus::MemberKey& voter = group.votes[i].voter;
        while (at_voter != voters.end() && less(*at_voter, voter)) ++at_voter;
        return (at_voter == voters.end() || *at_voter != voter) && !is_member(voter);
    });
    return indices;
}

void Node::Inside::heard(PeerId from, const Votes& message, const std::vector<bool>& good) {
    if (consensus::count_votes(message.groups) > config.message_votes_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more votes than a message may have"});
    const Epoch last = consensus::epoch_of(now + kAheadMax, parameters().epoch);
    VoteBook::Outcome all;
    std::size_t first = 0;  // of the group, counted through the message
    bool forged = false;
    for (const VoteGroup& group : message.groups) {
        const std::size_t begin = first;
        first += group.votes.size();
        relay.note_heard(group, from);
        if (group.ballot.target.epoch > last) continue;  // its clock or ours: nobody is blamed
        // Others may be members on a branch that is not known here.
        const auto indices = worth_checking(group);
        if (indices.empty()) continue;
        const crypto::Digest digest = digest_of(group.ballot, chain);
        VoteGroup fresh{.ballot = group.ballot};
        fresh.votes.reserve(indices.size());
        for (const std::uint32_t i : indices) {
            const auto& vote = group.votes[i];
            const bool checked = begin + i < good.size() && good[begin + i];
            if (!checked && !signatures.is_good(vote.voter, digest, vote.signature)) {
                forged = true;
                break;
            }
            fresh.votes.push_back(vote);
        }
        look_for_copy(fresh);
        const auto row = book.add_row(fresh, *this);
        all.justified_more |= row.outcome.justified_more;
        all.final_more |= row.outcome.final_more;
        if (!row.fresh.empty()) {
            if (!promised.empty())
                for (const auto& vote : row.fresh) promised.erase(name_of(group.ballot, vote.voter));
            relay.add(group.ballot, row.fresh, from, now);
            // Older ones say nothing of who is there now.
            if (group.ballot.target.epoch + kFreshEpochs >= consensus::epoch_of(now, parameters().epoch))
                for (const auto& vote : row.fresh) votes_came[vote.voter] = now;
            praise(from);
        }
        for (const auto& [vote, other] : row.liars) note_contradiction(vote, other);
        if (!forged) continue;
        // Nobody passes on what it has not checked: the rest is not worth the cost of looking.
        blame(from, {.code = RejectCode::BadVote, .why = "the voter did not sign the vote"});
        break;
    }
    plan_flush();
    look_for_conflicts();
    after_votes(all);
}

void Node::Inside::heard(PeerId from, const HaveVotes& message) {
    if (message.names.size() > config.message_votes_max)
        return blame(from, {.code = RejectCode::TooLarge, .why = "more names of votes than a message may have"});
    const Epoch last = consensus::epoch_of(now + kAheadMax, parameters().epoch);
    AskVotes ask;
    for (const VoteName& name : message.names) {
        if (book.vote_of(name.voter, name.epoch)) {
            relay.note_heard(name.epoch, name.voter, from);
            continue;
        }
        if (name.epoch > last || book.is_past(name.epoch)) continue;
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
    std::vector<Vote> answer;
    for (const VoteName& name : message.names)
        if (const auto vote = book.vote_of(name.voter, name.epoch)) answer.push_back(*vote);
    if (!answer.empty()) send(from, Votes{consensus::grouped(answer)});
}

bool Node::Inside::is_crowded(Epoch epoch) const {
    return std::max(voting().voters.size(), book.votes_in(epoch)) > config.push_votes_max;
}

void Node::Inside::heard(PeerId from, const WantVotes& message) {
    // Nine bytes ask for megabytes: an honest peer asks once in `answer_timeout`.
    const auto peer = peers.find(from);
    if (peer == peers.end()) return;
    auto& answered = peer->second.answered_votes;
    if (answered && now >= *answered && now < *answered + config.answer_timeout / 2) return;
    answered = now;
    // Those of the newest epochs, and what shows the highest final and justified checkpoints: bounded by the book.
    auto groups = book.votes_since(message.since);
    const auto also = [&](std::vector<VoteGroup> more) {
        for (VoteGroup& group : more)
            if (group.ballot.target.epoch < message.since) groups.push_back(std::move(group));
    };
    also(book.votes_final(book.final_checkpoint()));
    also(book.votes_for(*book.justified().rbegin()));
    if (const auto& other = book.conflicting_final()) {
        // Equivocators' votes are among those that show it, and in no row.
        auto votes = consensus::ungrouped(groups);
        for (const Vote& vote : consensus::ungrouped(book.votes_of_claim(*other))) votes.push_back(vote);
        groups = consensus::grouped(votes);
    }
    for (SharedMessage& votes : whole_messages_of(std::move(groups)))
        effects.emplace_back(Send{from, std::move(votes)});
}

void Node::Inside::after_votes(const VoteBook::Outcome& outcome) {
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

const HeaderNode* Node::Inside::target_of(Epoch epoch) const {
    const Time end = consensus::end_of(epoch, parameters().epoch);
    const HeaderNode* target = settled;
    while (target->parent != nullptr && target->header.time >= end) target = target->parent;
    return target->header.time >= end ? nullptr : target;
}

std::optional<Ballot> Node::Inside::ballot_for(Epoch epoch) const {
    const Time end = consensus::end_of(epoch, parameters().epoch);
    const HeaderNode* target = target_of(epoch);
    if (target == nullptr) return std::nullopt;
    if (end > target->header.time + parameters().heartbeat * consensus::kVoteHeartbeatsMax) return std::nullopt;
    const auto& known = facts.find(target->hash);
    if (known == facts.end() || !known->second.judged) return std::nullopt;
    Ballot ballot{.generation = known->second.electorate->generation,
                  .source = justified_on(target, epoch),
                  .target = {epoch, target->hash}};
    if (ballot.generation == own.generation() && ballot.source.epoch < own.last_source())
        if (const auto source = sealed_source(target, epoch)) ballot.source = *source;
    return ballot;
}

std::optional<Checkpoint> Node::Inside::sealed_source(const HeaderNode* target, Epoch epoch) const {
    const consensus::MemberKey& self = ports.signer->key();
    for (const HeaderNode* node = target; node != nullptr; node = node->parent) {
        const Epoch sealed_in = consensus::epoch_of(node->header.time, parameters().epoch);
        const auto known = facts.find(node->hash);
        if (sealed_in < own.last_source() || known == facts.end() || !known->second.judged ||
            !known->second.electorate->is_only_voter(self))
            return std::nullopt;
        if (sealed_in < epoch && known->second.proposer == self) return Checkpoint{sealed_in, node->hash};
    }
    return std::nullopt;
}

consensus::VotingPace::Sight Node::Inside::voting_sight() const {
    return {.voters = voting().voters.size(), .tip_is_final = settled == final_node};
}

std::optional<Time> Node::Inside::next_vote() const {
    if (ports.signer == nullptr || is_moving()) return std::nullopt;
    // The next epoch that ends, and the first of the next pair. What waits for votes or for a move goes on with them.
    const Epoch ended = consensus::epoch_of(now - pace.settle(), parameters().epoch);
    const auto sight = voting_sight();
    const std::uint64_t place = pace.place(ended, sight, parameters());
    const bool at_once = own.is_complete() && may_act() && must_attest();
    const Epoch next = place < 2 || at_once ? ended : ended + (pace.period(sight, parameters()) - place);
    return consensus::end_of(next, parameters().epoch) + pace.settle();
}

void Node::Inside::vote_if_due() {
    if (ports.signer == nullptr || !own.is_complete() || is_moving() || !may_act()) return;
    const Epoch running = consensus::epoch_of(now - pace.settle(), parameters().epoch);
    if (running.number() == 0) return;
    const Epoch newest = running - 1;
    if (newest <= own.last_target() || !is_member(ports.signer->key()) || vote_by_pace(newest)) return;
    // Whom the chain takes for gone, or is about to, says at once that it is there: its pace may be a heartbeat, and
    // what it has signed in this slot may have been for a branch that it has left.
    if (newest > votes_after && must_attest()) vote_in(newest);
}

bool Node::Inside::must_attest() const {
    if (attest_found.first != settled) attest_found = {settled, is_taken_for_gone()};
    return attest_found.second;
}

bool Node::Inside::is_taken_for_gone() const {
    const consensus::MemberKey& self = ports.signer->key();
    const auto number_at = [&](const state::Path& path) -> std::optional<std::uint64_t> {
        const state::Entry* record = state.view().get(path);
        if (record == nullptr || record->bytes().size() != sizeof(std::uint64_t)) return std::nullopt;
        return ledger::records::decode_number(record->bytes());
    };
    const auto lease_clock = number_at(ledger::records::clock());
    const auto heard = number_at(ledger::records::lease(self));
    if (!lease_clock || !heard) return false;
    // The next block comes a heartbeat after the tip, and some turns later.
    const milliseconds silent{static_cast<std::int64_t>(*lease_clock - *heard)};
    if (silent + parameters().heartbeat * 3 / 2 <= parameters().lease()) return false;
    if (!last_ballot) return true;
    // A vote of its own that the next block can carry says so already.
    const Epoch epoch = last_ballot->target.epoch;
    const HeaderNode* target = target_of(epoch);
    const auto slot = slot_of(epoch, parameters().epoch, parameters().heartbeat);
    return target == nullptr || target->hash != last_ballot->target.block ||
           slot.number() <= number_at(consensus::records::slot(self)).value_or(0);
}

bool Node::Inside::vote_by_pace(Epoch newest) {
    const Epoch last = own.last_target();
    // What was begun is brought to its end, also when the period has changed or the next pair is due already; unless
    // votes show that its block is final. (A single voter's seal is final without votes, but only they show it to
    // others.)
    const Checkpoint& justified = *book.justified().rbegin();
    if (last == pace.first() && justified.epoch >= last && !is_shown_final(justified.block) && vote_in(last + 1))
        return true;

    const auto sight = voting_sight();
    const Epoch next =
        pace.period(sight, parameters()) == 2 ? newest : newest - pace.place(newest, sight, parameters());
    if (next <= std::max(last, votes_after)) return false;
    // Where all is final a vote only gives weight, once in a slot. Where the next one will be for a younger block and
    // in the same slot it gives that as well: hundreds need not say twice what is final.
    const auto slot = [&](Epoch epoch) { return slot_of(epoch, parameters().epoch, parameters().heartbeat); };
    if (is_shown_final(settled->hash) && slot(next) == slot(last)) return false;
    if (sight.voters > consensus::VotingPace::kQuickVotersMax) {
        const HeaderNode* target = target_of(next);
        const Epoch after = next + pace.period(sight, parameters());
        if (target != nullptr && target != settled && is_shown_final(target->hash) &&
            (slot(next) == slot(last) || slot(next) == slot(after)))
            return false;
    }
    if (!vote_in(next)) return false;
    if (pace.place(next, sight, parameters()) != 0) return true;
    const bool split = pace.open() && book.votes_in(*pace.open()) >= consensus::quorum_of(sight.voters, trust());
    pace.note_first(next, sight, book.final_checkpoint().epoch, split);
    return true;
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
    note_said(*ballot);
    own.note_signed(*ballot, book.votes_for(ballot->source));
    last_ballot = *ballot;
    attest_found = {};
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
    // One accusation is enough: whoever signs a thousand contradictions is proven a liar by the first.
    if (const auto before = accusing.find(evidence.accused);
        before != accusing.end() && pool.find(before->second) != nullptr)
        return;
    auto tx = ledger::check_tx(evidence_tx(evidence, state, now));
    if (!tx || pool.find((*tx)->id) != nullptr) return;
    if (!pool.admit(*tx, {}, ledger::TxClass::System)) return;
    accusing[evidence.accused] = (*tx)->id;
    note_pending();
    announce({&*tx, 1}, {}, Telling::Whole);
}

bool Node::Inside::is_large() const { return voting().voters.size() >= config.tree_from; }

void Node::Inside::plan_flush() {
    if (relay.empty()) return;
    const milliseconds delay = is_large()                   ? config.tree_delay
                               : is_crowded(relay.newest()) ? config.relay_delay * 4
                                                            : config.relay_delay;
    next_flush = next_flush ? std::min(*next_flush, now + delay) : now + delay;
}

std::vector<SharedMessage> Node::Inside::whole_messages_of(std::vector<VoteGroup> groups) const {
    std::vector<SharedMessage> messages;
    const auto close = [&](Message message) {
        messages.push_back(std::make_shared<const Message>(std::move(message)));
    };
    std::sort(groups.begin(), groups.end(),
              [](const VoteGroup& left, const VoteGroup& right) { return left.ballot < right.ballot; });
    // What shows two things is in it twice.
    groups.erase(std::unique(groups.begin(), groups.end(),
                             [](const VoteGroup& left, const VoteGroup& right) { return left.ballot == right.ballot; }),
                 groups.end());
    // In pieces, when there are more of them than a message may have.
    Votes whole;
    std::size_t room = config.message_votes_max;
    for (VoteGroup& group : groups) {
        for (std::size_t begin = 0; begin < group.votes.size();) {
            const std::size_t count = std::min(room, group.votes.size() - begin);
            const auto from = group.votes.begin() + static_cast<std::ptrdiff_t>(begin);
            if (count == group.votes.size()) {
                whole.groups.push_back(std::move(group));
                room -= count;
                break;
            }
            whole.groups.push_back({group.ballot, {from, from + static_cast<std::ptrdiff_t>(count)}});
            begin += count;
            room -= count;
            if (room > 0) continue;
            close(std::exchange(whole, {}));
            room = config.message_votes_max;
        }
        if (room > 0) continue;
        close(std::exchange(whole, {}));
        room = config.message_votes_max;
    }
    if (!whole.groups.empty()) close(std::move(whole));
    return messages;
}

void Node::Inside::flush_votes() {
    next_flush.reset();
    std::vector<PeerId> all;
    for (const auto& [id, peer] : peers) all.push_back(id);
    if (is_large()) return flush_along_tree(all);
    // Most peers lack the same ones: they get the same messages.
    std::map<std::vector<std::uint64_t>, std::vector<SharedMessage>> made;
    for (const PeerId id : all) {
        const auto [messages, first] = made.try_emplace(relay.pattern(id));
        if (first) messages->second = messages_of(relay.for_peer(id, SIZE_MAX, [](const auto&) { return true; }));
        for (const SharedMessage& message : messages->second) effects.emplace_back(Send{id, message});
    }
    relay.clear();
}

Time Node::Inside::late_from(Epoch epoch, Time since) const {
    const bool enough = book.votes_in(epoch) >= consensus::quorum_of(voting().voters.size(), trust());
    return since + (enough ? config.tree_rest : config.tree_patience);
}

void Node::Inside::flush_along_tree(std::span<const PeerId> all) {
    using Place = detail::VoteRelay::Place;
    // Asked of every row for every neighbour, and mostly of the same one again.
    std::pair<ledger::BlockHash, PeerId> source{};
    const auto sent_by = [&](const ledger::BlockHash& block) {
        if (source.first != block) {
            const auto known = facts.find(block);
            source = {block, known == facts.end() ? PeerId{} : known->second.from};
        }
        return source.second;
    };
    bool any_late = false;
    relay.each_row([&](const Ballot& ballot, Time since) { any_late |= now >= late_from(ballot.target.epoch, since); });
    const auto is_late = [&](const Place& row) {
        return any_late && now >= late_from(row.ballot.target.epoch, row.since);
    };
    // Upwards all at once; downwards not every few of them alone.
    const std::size_t worth_it = voting().voters.size() / 8;
    std::size_t turns = config.late_peers;
    bool more = false;
    for (const PeerId id : all) {
        const bool is_stranger = !peers.at(id).is_member;  // who has no vote does not send any
        const auto is_near = [&](const Place& row) {
            return row.heard || is_stranger || sent_by(row.ballot.target.block) == id;
        };
        const bool has_turn = any_late && turns > 0 && relay.lacking(id, is_late) > 0;
        if (has_turn) --turns;
        auto groups = relay.for_peer(id, config.message_votes_max, [&](const Place& row) {
            if (is_late(row)) return has_turn || is_near(row);
            if (!is_near(row)) return false;
            const bool is_worth_it = row.lacks >= worth_it || now >= row.last + config.tree_delay;
            more |= !is_worth_it;
            return is_worth_it || sent_by(row.ballot.target.block) == id;
        });
        if (!groups.empty()) {
            relay.note_sent(groups, id);
            for (SharedMessage& message : messages_of(std::move(groups)))
                effects.emplace_back(Send{id, std::move(message)});
        }
        more |= any_late && relay.lacking(id, is_late) > 0;
    }
    relay.tidy(all, now - config.tree_rest);
    if (more) plan_flush();
    relay.each_row([&](const Ballot& ballot, Time since) {
        const Time late = late_from(ballot.target.epoch, since);
        const Time next = std::max(late > now ? late : since + config.tree_rest, now + config.tree_delay);
        next_flush = next_flush ? std::min(*next_flush, next) : next;
    });
}

std::vector<SharedMessage> Node::Inside::messages_of(std::vector<VoteGroup> groups) const {
    // Where there are so many that only names go round, our own vote still goes whole: nobody else has it.
    HaveVotes named;
    for (VoteGroup& group : groups) {
        if (!is_crowded(group.ballot.target.epoch)) continue;
        std::erase_if(group.votes, [&](const VoteGroup::Signed& vote) {
            if (ports.signer != nullptr && vote.voter == ports.signer->key()) return false;
            if (named.names.size() < config.message_votes_max) named.names.push_back(name_of(group.ballot, vote.voter));
            return true;
        });
    }
    std::erase_if(groups, [](const VoteGroup& group) { return group.votes.empty(); });
    auto messages = whole_messages_of(std::move(groups));
    if (!named.names.empty()) messages.push_back(std::make_shared<const Message>(std::move(named)));
    return messages;
}

}  // namespace rhizome::core
