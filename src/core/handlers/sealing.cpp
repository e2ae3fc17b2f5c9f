// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "consensus/work.h"
#include "core/detail/inside.h"
#include "crypto/compact_target.h"

namespace rhizome::core {
namespace {

/// What somebody whose turn it is writes and reads before its block leaves, on a slow disk.
constexpr milliseconds kSealTakes{50};
/// In `rank_delay`s: whoever answers late may not hold up turns for longer.
constexpr int kPatienceMost = 4;

/// Without its vote record a node does not know on which blocks it has sealed: it leaves those from before its start
/// alone, unless nobody sealed on one for a lease: then nobody else is there. Until which time it waits.
Time waits_for_others(Time tip, Time started, Time tip_since, milliseconds lease) {
    return tip > started ? Time{} : tip_since + lease + milliseconds{1};
}

}  // namespace

milliseconds Node::Inside::rank_patience() const {
    microseconds longest{0};
    for (const auto& [id, peer] : peers)
        if (peer.is_member) longest = std::max(longest, peer.round_trip);
    const milliseconds rank_delay = parameters().rank_delay;
    // There, a question for transactions that the tip has and it lacks, and back.
    const auto twice = std::chrono::ceil<milliseconds>(2 * longest) + kSealTakes;
    return std::clamp(twice, rank_delay, kPatienceMost * rank_delay);
}

std::optional<Time> Node::Inside::next_seal() const {
    if (ports.signer == nullptr || !may_seal() || is_moving() || own.has_sealed_on(settled->hash)) return std::nullopt;
    // Others have sealed on this tip long ago: their blocks are on their way.
    if (catch_up.headers() > 0) return std::nullopt;
    const consensus::Engine* engine = consensus::engine_of(parameters().consensus);
    const consensus::Turn turn{state, settled->header, voting(), ports.signer->key(), now, ports.orders};
    if (!turn_wait) {
        const auto wait = engine->earliest(turn);
        if (!wait) return std::nullopt;
        turn_wait = *wait;
    }
    const Time tip = settled->header.time;
    const Time heartbeat = tip + parameters().heartbeat;
    // What there is to seal, or that nothing came for a heartbeat: from then on every rank waits its delay.
    Time reason = engine->seals_always() ? tip : pending_since ? std::min(*pending_since, heartbeat) : heartbeat;
    // Who is asked first hears of something to seal when its news has come there, and its block must come back: ranks
    // that waited less than that sealed beside it, twice a second with links of 200 ms.
    milliseconds delay = std::max(milliseconds{0}, *turn_wait - parameters().min_interval);
    if (!engine->seals_always()) delay = delay * rank_patience().count() / parameters().rank_delay.count();
    // The block it waits for is here but for some transactions: once more as long, for whoever never sends them.
    const Time most = reason + delay;
    for (const auto& [hash, open] : open_compacts)
        if (open.block.header.previous == settled->hash) reason = std::max(reason, std::min(open.asked, most));
    Time when = std::max({tip + *turn_wait, reason + delay, seal_not_before});
    if (!own.is_complete())
        when = std::max({when, listens_until(), waits_for_others(tip, started, settled_since, parameters().lease())});
    if (mining && mining->candidate.block.header.previous == settled->hash)
        when = std::max(when,
                        mining->begun + (mining->pending != pool.size() ? config.refill_every : config.restamp_every));
    return when;
}

bool Node::Inside::recovery_waits() const {
    if (!conditions.contains(Condition::ConflictingFinals) || conditions.contains(Condition::ClockOff) ||
        conditions.contains(Condition::DiskFull) || conditions.contains(Condition::CopyRuns))
        return false;
    const auto waiting = pool.best();
    return std::any_of(waiting.begin(), waiting.end(),
                       [&](const ledger::SharedTx& tx) { return claimed_generation(tx->tx) > generation(); });
}

void Node::Inside::seal_if_due() {
    const auto when = next_seal();
    if (mining && (!when || mining->candidate.block.header.previous != settled->hash)) stop_mining();
    if (!when || now < *when || conditions.contains(Condition::DiskFull)) return;
    // Blocks have whole milliseconds.
    const Time earliest = settled->header.time + *turn_wait;
    const std::int64_t millis = std::max(now, earliest).unix_millis();
    Time time = Time::from_unix_millis(millis);
    if (time < earliest) time = Time::from_unix_millis(millis + 1);
    seal(time);
}

void Node::Inside::seal(Time time) {
    auto candidate = make_candidate(time);
    if (!candidate) return;
    if (candidate->block.header.bits == 0) return put_on_tip(*std::move(candidate));
    effects.emplace_back(Mine{++last_mining, candidate->block.header});
    mining = Mining{.id = last_mining, .candidate = *std::move(candidate), .begun = now, .pending = pool.size()};
}

void Node::Inside::stop_mining() {
    mining.reset();
    effects.emplace_back(Mine{++last_mining, std::nullopt});
}

void Node::Inside::mined(const Mined& event) {
    if (!mining || mining->id != event.id || is_moving() || !may_seal() || catch_up.headers() > 0) return;
    Candidate candidate = std::move(mining->candidate);
    mining.reset();
    // What somebody found for an older tip, or a host that miscounted, is no loss: the next header is on its way.
    if (candidate.block.header.previous != settled->hash || own.has_sealed_on(settled->hash)) return;
    candidate.block.header.nonce = event.nonce;
    const auto target = crypto::work_target(candidate.block.header.bits, U256::max());
    if (!target || !consensus::meets(hash_of(candidate.block.header), *target)) return;
    put_on_tip(std::move(candidate));
}

std::vector<consensus::Vote> Node::Inside::votes_to_carry(Time time) const {
    // Of some heartbeats back: the ones a block may still carry and nobody has.
    const auto epochs = static_cast<std::uint64_t>(consensus::records::Ends::kKept);
    const auto newest = consensus::epoch_of(time, parameters().epoch);
    return consensus::ungrouped(
        book.votes_since(consensus::Epoch{newest.number() > 2 * epochs ? newest.number() - 2 * epochs : 0}));
}

std::optional<Node::Inside::Candidate> Node::Inside::make_candidate(Time time) {
    auto votes = votes_to_carry(time);
    for (const consensus::Vote& vote : consensus::ungrouped(book.votes_final(book.final_checkpoint())))
        votes.push_back(vote);
    auto sealing = judge.prepare(state, settled->header, time, votes, *ports.signer);
    if (!sealing) {
        // Not for us just now, whatever the reason: asked again in a while, or on the next tip.
        seal_not_before = now + parameters().rank_delay;
        return std::nullopt;
    }
    ledger::NextBlock next = next_block();
    next.time = time;
    const std::size_t seal_bytes = sealing->seal.proof.size() + sealing->seal.attestations.size();
    auto draft = ledger::build_block(state, next, pool.decided(), sealing->part, seal_bytes, ports.rules, ports.cache,
                                     ports.parallel);
    const bool may_be_empty = consensus::engine_of(parameters().consensus)->seals_always() ||
                              now >= settled->header.time + parameters().heartbeat;
    if (draft.txs.empty() && !may_be_empty) {
        // What is pending does not fit just now (a lock time, a circle): an empty block would help nobody.
        pending_since.reset();
        return std::nullopt;
    }
    if (!may_act()) {
        const auto& after = draft.applied.commit.view;
        if (consensus::Electorate::of(after, ledger::parameters_of(after)).generation <= generation()) {
            seal_not_before = now + parameters().rank_delay;
            return std::nullopt;
        }
    }
    Candidate candidate{.commit = draft.applied.commit};
    for (const ledger::SharedTx& tx : draft.txs) candidate.ids.push_back(tx->id);
    candidate.block = consensus::assemble(std::move(draft), *sealing);
    return candidate;
}

void Node::Inside::put_on_tip(Candidate candidate) {
    const auto& electorate = *facts.at(settled->hash).electorate;
    if (!own.is_complete() && electorate.is_only_voter(ports.signer->key())) {
        // Its seal is its vote, and it may seal (waits_for_others): nobody else will ever justify anything.
        own.regain(electorate.generation, consensus::epoch_of(now, parameters().epoch));
        know_record();
    }
    consensus::sign(candidate.block, *ports.signer);
    const auto block = std::make_shared<const ledger::Block>(std::move(candidate.block));
    const auto hash = hash_of(block->header);

    own.note_sealed(settled->hash);
    if (clock.is_ahead()) ++traffic.sealed_ahead;
    const auto node = tree.insert(block->header);
    if (!node) return;
    note_claims(*node, *block, ports.signer->key(), {});
    blocks.put(hash, block);
    blocks.put_change(hash, candidate.commit.delta);
    tips.erase(settled->hash);
    tips.emplace(hash, *node);
    state.advance(candidate.commit);
    at = *node;
    appended = hash;
    facts[hash].ids = candidate.ids;
    persist(AppendBlock{block, std::move(candidate.ids), std::move(candidate.commit)});
    record_own_votes();
    held.push_back({.needs = last_ticket, .block = block, .hash = hash});
    note_judged(*node, *block);
    settle();
    request_sync();
    follow_best();
}

}  // namespace rhizome::core
