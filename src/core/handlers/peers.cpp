// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/detail/inside.h"

namespace rhizome::core {
namespace {

using consensus::Checkpoint;

/// From the end of an epoch: the votes of the next one, which show it final, and longer than these are on their way in
/// a network that works. Nothing is added to what a peer says: it may say any number.
constexpr milliseconds kVotesTravel{1'500};

/// Up to so many neighbours are all told where this node stands whenever it is time.
constexpr std::size_t kStatusesEachTime = 4;
constexpr std::size_t kStatusTurns = 3;

}  // namespace

void Node::Inside::send(PeerId to, Message message) {
    effects.emplace_back(Send{to, std::make_shared<const Message>(std::move(message))});
}

void Node::Inside::blame(PeerId peer, ledger::Reject why) {
    if (peer != PeerId{}) effects.emplace_back(Blame{peer, std::move(why)});
}

void Node::Inside::praise(PeerId peer) {
    const auto found = peers.find(peer);
    if (found == peers.end()) return;
    auto& last = found->second.praised;
    if (last && now >= *last && now < *last + config.praise_every) return;
    last = now;
    effects.emplace_back(Praise{peer});
}

void Node::Inside::peer_up(PeerId peer, const consensus::MemberKey& identity) {
    peers.try_emplace(peer, config.known_max).first->second.identity = identity;
    send_status(peer);
}

microseconds Node::Inside::votes_of_late() const { return parameters().heartbeat + parameters().heartbeat / 2; }

Node::Reach Node::Inside::reach() const {
    const consensus::Electorate& electorate = voting();
    std::set<consensus::MemberKey> there;
    if (ports.signer != nullptr) there.insert(ports.signer->key());
    for (const auto& [id, peer] : peers)
        if (peer.is_member && peer.clock_heard && steady < *peer.clock_heard + parameters().heartbeat)
            there.insert(peer.member);
    for (const auto& [member, when] : votes_came)
        if (now < when + votes_of_late()) there.insert(member);
    const auto count = [&](const std::vector<consensus::MemberKey>& voters) {
        return static_cast<std::size_t>(
            std::count_if(voters.begin(), voters.end(), [&](const auto& one) { return there.contains(one); }));
    };
    const auto is_quorum = [&](const std::vector<consensus::MemberKey>& voters) {
        return count(voters) >= consensus::quorum_of(voters.size(), parameters().trust);
    };
    return {.voters = electorate.voters.size(),
            .reachable = count(electorate.voters),
            .is_quorum = is_quorum(electorate.voters) && (electorate.next.empty() || is_quorum(electorate.next))};
}

void Node::Inside::note_round_trip(const RoundTrip& measured) {
    const auto found = peers.find(measured.peer);
    if (found == peers.end()) return;
    microseconds& known = found->second.round_trip;
    constexpr int kForgetsIn = 8;
    known = std::max(measured.took, known - (known - measured.took) / kForgetsIn);
}

void Node::Inside::peer_down(PeerId peer) {
    // Unless it is heard by way of others from now on, it is gone.
    if (const auto gone = peers.find(peer); gone != peers.end()) {
        votes_came.erase(gone->second.member);
        drop_claim(gone->second);
        if (ports.signer == nullptr || gone->second.member != ports.signer->key())
            records_begun.erase(gone->second.member);
    }
    peers.erase(peer);
    relay.forget(peer);
    catch_up.peer_gone(peer);
    // Others will say that they are ahead; what was taken so far stays.
    if (catch_up.guide() == peer) catch_up.end();
    go_on_catching_up();
    check_clock();
}

void Node::Inside::send_status(PeerId to) {
    Status status{.clock = now,
                  .member = ports.signer != nullptr && is_member(ports.signer->key()) ? ports.signer->key()
                                                                                      : consensus::MemberKey{},
                  .tip = settled->hash,
                  .height = settled->header.height,
                  .justified = *book.justified().rbegin(),
                  .final_checkpoint = book.final_checkpoint(),
                  .generation = generation(),
                  .votes = book.sums(),
                  .record = own.is_complete() ? ledger::VoteRecordId{} : record_id};
    send(to, status);
    // Who knows of two says both, one after the other.
    if (!book.conflicting_final()) return;
    status.final_checkpoint = *book.conflicting_final();
    send(to, status);
}

void Node::Inside::send_statuses() {
    next_status = now + config.status_every;
    std::erase_if(votes_came, [&](const auto& one) { return now >= one.second + votes_of_late(); });
    // Whoever has many neighbours in a large cluster hears enough when each of them speaks every third time.
    const std::size_t every = is_large() && peers.size() > kStatusesEachTime ? kStatusTurns : 1;
    std::size_t place = status_turn++;
    for (const auto& [id, peer] : peers)
        if (place++ % every == 0) send_status(id);
    check_clock();
}

void Node::Inside::heard(PeerId from, const Status& message) {
    const auto found = peers.find(from);
    if (found == peers.end()) return;
    PeerState& peer = found->second;
    peer.clock = message.clock;
    peer.clock_heard = steady;
    peer.member = message.member;
    // Whoever says that it is somebody else is not heard as that: else a stranger could set clocks.
    peer.is_member = message.member == peer.identity && is_member(message.member);
    if (peer.is_member && (ports.signer == nullptr || message.member != ports.signer->key())) {
        if (message.record == ledger::VoteRecordId{}) {
            records_begun.erase(message.member);
        } else {
            records_begun[message.member] = message.record;
        }
    }
    peer.justified = message.justified;
    if (peer.tip != message.tip) peer.known_blocks.put(message.tip, 0);
    peer.tip = message.tip;
    peer.height = message.height;
    peer.generation = message.generation;
    catch_up.note_height(from, message.height);
    // With more of them once a second will do.
    if (peers.size() <= 2 || clock.is_ahead()) check_clock();
    ask_for_tip(from);
    go_on_catching_up();
    if (!unreadable.empty() && has_room()) want_unreadable(from);
    if (!relay.empty())
        for (const auto& one : message.votes)
            if (one.sum != 0 && one.sum == book.sum_of(one.epoch)) relay.note_same(one.epoch, from);
    // What a recovery took back is final for who has not heard of it.
    if (message.generation == generation()) note_final_claim(from, peer, message.final_checkpoint);
    // It may have missed our tip, or the votes that show what we know.
    const auto knows = [&](const Checkpoint& checkpoint) {
        return book.is_justified(checkpoint) || checkpoint.epoch < book.final_checkpoint().epoch;
    };
    // What is final there and only justified here: votes for different blocks of the next epoch have shown it, and
    // nobody gives them again. What was decided just now comes by itself.
    const bool lacks_final =
        message.final_checkpoint.epoch > book.final_checkpoint().epoch &&
        message.final_checkpoint.epoch < consensus::epoch_of(now - kVotesTravel, parameters().epoch);
    if (!knows(message.justified) || !knows(message.final_checkpoint) || lacks_final) {
        if (!peer.asked_votes || now >= *peer.asked_votes + config.answer_timeout) {
            peer.asked_votes = now;
            const auto since = std::min(message.justified.epoch, message.final_checkpoint.epoch);
            send(from, WantVotes{since});
        }
    }
}

void Node::Inside::ask_for_tip(PeerId from) {
    const PeerState& peer = peers.at(from);
    // What ends in a lower generation is never followed again: fetching all of it would keep this node from sealing.
    if (peer.generation < generation() || tree.find(peer.tip) != nullptr || invalid.contains(peer.tip)) return;
    if (is_far(peer.height)) {
        begin_catch_up(from);
    } else {
        want_blocks(from, peer.tip);
    }
}

void Node::Inside::tell_block(const SharedBlock& block, const ledger::BlockHash& hash) {
    // A node's own block waits for the disk first.
    if (!held.empty() && held.back().block == block) return;
    if (is_catching_up) return;  // it is old: those from whom it came have it
    SharedMessage whole;
    std::optional<CompactNames> names;
    for (auto& [id, peer] : peers) {
        if (peer.known_blocks.get(hash) != nullptr) continue;
        peer.known_blocks.put(hash, 0);
        if (!names) names = compact_names(*block, hash);
        SharedMessage message = compact_for(peer, block, *names);
        if (!message) {
            if (!whole) whole = std::make_shared<const Message>(NewBlock{block});
            message = whole;
        }
        effects.emplace_back(Send{id, std::move(message)});
    }
}

std::vector<detail::ClockHeard> Node::Inside::clocks_heard() const {
    std::map<consensus::MemberKey, detail::ClockHeard> heard;  // one who has two links speaks once
    for (const auto& [id, peer] : peers)
        if (peer.is_member && peer.clock_heard)
            heard[peer.member] = {.clock = peer.clock, .ago = std::max(microseconds{0}, steady - *peer.clock_heard)};
    if (ports.signer != nullptr) heard.erase(ports.signer->key());
    std::vector<detail::ClockHeard> all;
    for (const auto& [key, one] : heard) all.push_back(one);
    return all;
}

void Node::Inside::check_clock() {
    const auto heard = clocks_heard();
    const bool is_pair = voting().voters.size() == 2 && trust() == ledger::Trust::Crash;
    bool is_off = detail::is_clock_ahead(heard, clock.wall(), is_pair);
    const Time before = now;
    if (const auto most = detail::most_members_at(heard, clock); most && clock.follow(*most)) {
        now = clock.chain_time();
        note_clock(before, {});
    } else if (const auto below = detail::most_members_below(heard);
               below && clock.fall_back(*below, settled->header.time)) {
        now = clock.chain_time();
        note_clock(before, {});
    }
    // Whoever starts with such a clock and hears nobody would seal a block that is the last one for as long.
    const auto agrees = [&](const detail::ClockHeard& one) {
        return std::chrono::abs(one.clock + one.ago - clock.wall()) <= seconds{1};
    };
    const bool is_leap = !config.trust_clock && clock.wall() > settled->header.time + config.clock_leap_max;
    is_off |= is_leap && std::none_of(heard.begin(), heard.end(), agrees);
    is_off |= std::max(now, settled->header.time) > clock.wall() + detail::ChainClock::kAheadMost;
    set_condition(Condition::ClockOff, is_off);
    set_condition(Condition::ChainAhead, clock.is_ahead());
}

void Node::Inside::hear(const Heard& event) {
    if (!peers.contains(event.from)) return;  // it has just gone
    std::vector<SignatureJob> jobs;
    const auto ask = [&](const consensus::MemberKey& key, const crypto::Digest& digest,
                         const consensus::CompactSignature& signature) {
        if (!signatures.knows(key, digest, signature)) jobs.push_back({key, digest, signature});
    };
    std::vector<std::size_t> places;  // in a message of votes, of each job
    const auto ask_votes = [&](std::span<const consensus::VoteGroup> groups) {
        std::size_t first = 0;
        for (const consensus::VoteGroup& group : groups) {
            const auto indices = worth_checking(group);
            const auto digest = indices.empty() ? crypto::Digest{} : digest_of(group.ballot, chain);
            // One that is in no book was hardly checked before.
            for (const std::uint32_t i : indices) {
                jobs.push_back({group.votes[i].voter, digest, group.votes[i].signature});
                places.push_back(first + i);
            }
            first += group.votes.size();
        }
    };
    const auto ask_sealed = [&](const ledger::Header& header, const std::array<std::uint8_t, 64>& signature,
                                const ledger::Seal& seal) {
        const auto proposer = consensus::proposer_in(seal);
        const auto hash = hash_of(header);
        if (!proposer || tree.find(hash) != nullptr) return;
        ask(*proposer, crypto::Digest{hash.view()}, signature);
        if (const auto groups = consensus::decode_groups(seal.attestations, consensus::kCarriedVotesMax))
            ask_votes(*groups);
    };
    const auto ask_block = [&](const SharedBlock& block) { ask_sealed(block->header, block->signature, block->seal); };
    if (const auto* votes = std::get_if<Votes>(event.message.get())) {
        if (consensus::count_votes(votes->groups) <= config.message_votes_max) ask_votes(votes->groups);
    } else if (const auto* block = std::get_if<NewBlock>(event.message.get())) {
        ask_block(block->block);
    } else if (const auto* many = std::get_if<Blocks>(event.message.get())) {
        if (many->blocks.size() <= config.answer_blocks_max)
            for (const SharedBlock& one : many->blocks) ask_block(one);
    } else if (const auto* headers = std::get_if<Headers>(event.message.get())) {
        // Nobody else is listened to.
        if (may_show_headers(event.from) && headers->headers.size() <= config.answer_headers_max) {
            if (event.from == catch_up.guide()) {
                if (!catch_up.is_late(now)) peers.at(event.from).silent_ways = 0;
                catch_up.note_answer_came(now);
            }
            for (const SealedHeader& one : headers->headers) ask_sealed(one.header, one.signature, one.seal);
        }
    } else if (const auto* compact = std::get_if<CompactBlock>(event.message.get())) {
        ask_sealed(compact->sealed.header, compact->sealed.signature, compact->sealed.seal);
    }
    const bool alone = jobs.size() <= config.verify_alone_max;
    if (parked.empty() && alone) return dispatch(event);
    if (parked.size() >= config.parked_max) return;  // statuses will bring it again
    ++last_batch;
    parked.push_back({.batch = last_batch, .heard = event, .ready = alone});
    if (alone) return;
    effects.emplace_back(Verify{last_batch, jobs});
    if (!std::holds_alternative<Votes>(*event.message)) places.clear();
    jobs_of.emplace(last_batch, std::pair{std::move(jobs), std::move(places)});
}

void Node::Inside::verified(const Verified& event) {
    const auto found = std::find_if(parked.begin(), parked.end(),
                                    [&](const Parked& one) { return one.batch == event.batch && !one.ready; });
    if (found == parked.end()) return;
    found->ready = true;
    // What is good is remembered; what is not is looked at once more by whoever handles the message, and refused there
    // by name.
    const auto jobs = jobs_of.extract(event.batch);
    if (!jobs.empty())
        for (std::size_t i = 0; i < jobs.mapped().first.size() && i < event.good.size(); ++i) {
            if (!event.good[i]) continue;
            const SignatureJob& job = jobs.mapped().first[i];
            if (jobs.mapped().second.empty()) {
                signatures.remember(job.key, job.digest, job.signature);
                continue;
            }
            const std::size_t place = jobs.mapped().second[i];  // of a vote: the book remembers those
            if (found->good.size() <= place) found->good.resize(place + 1);
            found->good[place] = true;
        }
    drain_parked();
}

void Node::Inside::drain_parked() {
    while (!parked.empty() && parked.front().ready) {
        const Parked first = std::move(parked.front());
        parked.pop_front();
        dispatch(first.heard, first.good);
    }
}

void Node::Inside::dispatch(const Heard& event, const std::vector<bool>& good) {
    if (const auto* votes = std::get_if<Votes>(event.message.get())) return heard(event.from, *votes, good);
    std::visit([&](const auto& message) { heard(event.from, message); }, *event.message);
}

}  // namespace rhizome::core
