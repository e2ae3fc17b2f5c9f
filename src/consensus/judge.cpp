// SPDX-License-Identifier: Apache-2.0
#include "consensus/judge.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/authority.h"
#include "consensus/evidence.h"
#include "consensus/work.h"
#include "ledger/limits.h"

namespace rhizome::consensus {
namespace {

using ledger::ConsensusPart;
using ledger::Header;
using ledger::LedgerState;
using ledger::Reject;
using ledger::RejectCode;
using records::Ends;

crypto::Digest digest_of(const Header& header) { return crypto::Digest{hash_of(header).view()}; }

/// The ends of epochs as the block at `time` sees them: its parent ended an epoch if the block begins another.
Ends ends_at(const LedgerState& parent, const Header& parent_header, Time time) {
    Ends ends = records::ends_of(parent.view());
    const milliseconds length = parent.parameters().epoch;
    const Epoch parents = epoch_of(parent_header.time, length);
    if (epoch_of(time, length) > parents)
        ends.append({.checkpoint = {parents, hash_of(parent_header)}, .height = parent_header.height});
    return ends;
}

ledger::ChainId chain_of(const LedgerState& parent, const Header& parent_header) {
    return parent.chain().is_zero() ? ledger::ChainId{hash_of(parent_header).view()} : parent.chain();
}

/// What is asked of every carried vote but its signature.
Result<void, Reject> check_place(const Vote& vote, const LedgerState& parent, const Electorate& electorate,
                                 const Ends& ends, Time time) {
    const auto bad = [](std::string why) { return ledger::reject(RejectCode::BadVote, std::move(why)); };
    if (vote.ballot.generation != electorate.generation)
        return bad(fmt::format("a carried vote is of generation {}, the chain of {}", vote.ballot.generation,
                               electorate.generation));
    if (end_of(vote.ballot.target.epoch, parent.parameters().epoch) > time)
        return bad("a carried vote is for an epoch that has not ended");
    const Ends::End* target = ends.target_of(vote.ballot.target.epoch);
    if (target == nullptr) return bad("a carried vote is for an epoch too long ago");
    if (target->checkpoint.block != vote.ballot.target.block)
        return bad(
            fmt::format("a carried vote is for {}, which is not this chain's last block before the end of its epoch",
                        vote.ballot.target.block));
    if (parent.view().get(ledger::records::member(vote.voter)) == nullptr && !electorate.is_voter(vote.voter))
        return bad(fmt::format("{} carried as a voter is no member", to_hex(vote.voter)));
    if (is_accused(vote.voter, parent.view()))
        return bad(fmt::format("{} carried as a voter is under evidence", to_hex(vote.voter)));
    return {};
}

struct Counted {
    std::uint64_t weight = 0;
    std::map<MemberKey, Slot> slots{};  ///< newest counted, of those who gave weight
    std::set<MemberKey> heard{};
};

Slot last_slot_of(const MemberKey& key, const state::StateView& view) {
    const state::Entry* record = view.get(records::slot(key));
    return Slot{record == nullptr || record->bytes().size() != 8 ? 0 : ledger::records::decode_number(record->bytes())};
}

/// `votes` come sorted by ballot, but a voter's by source first: they are put in the order of their epochs, so that
/// each slot of a member is counted once and none is lost.
Counted count(std::span<const Vote> votes, const LedgerState& parent) {
    std::vector<std::pair<Slot, MemberKey>> pairs;
    pairs.reserve(votes.size());
    const ledger::Parameters& parameters = parent.parameters();
    for (const Vote& vote : votes)
        pairs.emplace_back(slot_of(vote.ballot.target.epoch, parameters.epoch, parameters.heartbeat), vote.voter);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    Counted counted;
    for (const auto& [slot, voter] : pairs) {
        counted.heard.insert(voter);
        if (slot <= last_slot_of(voter, parent.view())) continue;
        ++counted.weight;
        counted.slots[voter] = slot;
    }
    return counted;
}

/// The electorate that decides about a checkpoint of this chain, as far as the present state tells; nothing for one
/// from before the present voters.
std::optional<Electorate> electorate_at(const Electorate& now, ledger::Height height) {
    if (height < now.voters_since) return std::nullopt;
    Electorate then = now;
    if (!then.next.empty() && height < then.next_since) then.next.clear();
    return then;
}

std::vector<MemberKey> sorted_keys(const std::set<MemberKey>& keys) { return {keys.begin(), keys.end()}; }

/// The newest checkpoint that these votes show final and that is newer than what the chain has shown.
std::optional<Ends::End> newest_shown(std::span<const Vote> votes, const Electorate& now, const Ends& ends,
                                      const records::ShownFinal& shown, ledger::Trust trust) {
    std::map<Checkpoint, std::set<MemberKey>> votes_for;
    std::map<Checkpoint, std::set<MemberKey>> votes_from;  ///< to the epoch after
    for (const Vote& vote : votes) {
        votes_for[vote.ballot.target].insert(vote.voter);
        if (vote.ballot.target.epoch == vote.ballot.source.epoch + 1) votes_from[vote.ballot.source].insert(vote.voter);
    }
    for (auto at = votes_from.rbegin(); at != votes_from.rend(); ++at) {
        const auto& [checkpoint, from] = *at;
        if (checkpoint.epoch <= shown.checkpoint.epoch) break;
        const auto to = votes_for.find(checkpoint);
        const Ends::End* end = ends.target_of(checkpoint.epoch);
        if (to == votes_for.end() || end == nullptr || end->checkpoint.block != checkpoint.block) continue;
        const auto then = electorate_at(now, end->height);
        if (!then || !then->has_quorum(sorted_keys(from), trust) || !then->has_quorum(sorted_keys(to->second), trust))
            continue;
        return Ends::End{.checkpoint = checkpoint, .height = end->height};
    }
    return std::nullopt;
}

/// What a newly shown final checkpoint does to the voters.
void change_voters(Electorate& electorate, const Ends::End& final_end, const state::StateView& parent,
                   ledger::Height height) {
    if (!electorate.next.empty()) {
        if (final_end.height < electorate.next_since) return;
        electorate.voters = std::move(electorate.next);
        electorate.voters_since = height;
        electorate.next.clear();
        electorate.next_since = {};
        return;
    }
    auto wanted = wanted_voters(electorate, parent);
    if (wanted == electorate.voters) return;
    electorate.next = std::move(wanted);
    electorate.next_since = height;
}

/// Whether the chain should be shown something newer: a heartbeat has passed, or a change of voters waits.
bool proof_due(const LedgerState& parent, const Electorate& electorate, Time time) {
    const auto shown = records::shown_final_of(parent.view());
    const ledger::Parameters& parameters = parent.parameters();
    return !electorate.next.empty() ||
           time >= end_of(shown.checkpoint.epoch, parameters.epoch) + parameters.heartbeat ||
           wanted_voters(electorate, parent.view()) != electorate.voters;
}

}  // namespace

const Engine* engine_of(ledger::ConsensusId id) {
    static const Authority authority;
    static const Work work;
    switch (id) {
        case ledger::ConsensusId::Authority: return &authority;
        case ledger::ConsensusId::Work: return &work;
        case ledger::ConsensusId::Space:
        case ledger::ConsensusId::Stake: return nullptr;
    }
    unreachable("a ConsensusId that was decoded is one of these");
}

Result<MemberKey, Reject> proposer_in(const ledger::Seal& seal) {
    MemberKey key{};
    if (seal.proof.size() < key.size()) return ledger::reject(RejectCode::BadSeal, "the seal names no proposer");
    std::copy_n(seal.proof.begin(), key.size(), key.begin());
    return key;
}

Result<MemberKey, Reject> check_proposer(const ledger::Block& block, const Signatures& signatures) {
    if (block.header.seal_root != seal_root_of(block.seal))
        return ledger::reject(RejectCode::BadSeal, "the seal is not the header's: it was changed on the way");
    TRY(const auto proposer, proposer_in(block.seal));
    if (!signatures.is_good(proposer, digest_of(block.header), block.signature))
        return ledger::reject(RejectCode::BadSeal, fmt::format("{} did not sign the block", to_hex(proposer)));
    return proposer;
}

Result<ConsensusPart, Reject> Judge::judge(const LedgerState& parent, const Header& parent_header,
                                           const ledger::Block& block) const {
    const Engine* engine = engine_of(parent.parameters().consensus);
    if (engine == nullptr) return ledger::reject(RejectCode::BadSeal, "this program does not know the chain's engine");
    // Who it would be is asked before the dear signature check.
    TRY(const auto claimed, proposer_in(block.seal));
    const Electorate electorate = Electorate::of(parent.view(), parent.parameters());
    if (parent.view().get(ledger::records::member(claimed)) == nullptr && !electorate.is_voter(claimed))
        return ledger::reject(RejectCode::BadSeal, fmt::format("{} is neither a member nor a voter", to_hex(claimed)));
    const Turn turn{parent, parent_header, electorate, claimed, block.header.time};
    TRY(engine->judge_header(turn, block.header));
    TRY(check_proposer(block, signatures_));
    return follow(turn, block.seal);
}

Result<ConsensusPart, Reject> Judge::follow(const Turn& turn, const ledger::Seal& seal) const {
    const LedgerState& parent = turn.parent;
    const Engine* engine = engine_of(parent.parameters().consensus);
    ensure(engine != nullptr, "the caller has asked for the engine");
    if (is_accused(turn.proposer, parent.view()))
        return ledger::reject(RejectCode::BadSeal, "the proposer is under evidence");
    auto decoded = decode_votes(seal.attestations, kCarriedVotesMax);
    if (!decoded)
        return ledger::reject(RejectCode::BadVote,
                              "the carried votes are malformed: " + to_error(decoded.error()).message);
    const std::vector<Vote>& votes = *decoded;
    const Ends ends = ends_at(parent, turn.parent_header, turn.time);
    const auto chain = chain_of(parent, turn.parent_header);
    for (const Vote& vote : votes) {
        TRY(check_place(vote, parent, turn.electorate, ends, turn.time));
        if (!signatures_.is_good(vote.voter, consensus::digest_of(vote.ballot, chain), vote.signature))
            return ledger::reject(RejectCode::BadVote,
                                  fmt::format("{} did not sign a carried vote", to_hex(vote.voter)));
    }
    TRY(auto effect, engine->judge(turn, ByteView{seal.proof}.subspan(turn.proposer.size()), votes, signatures_));

    ConsensusPart part;
    part.records = std::move(effect.records);
    const Counted counted = count(votes, parent);
    part.heard.push_back(turn.proposer);
    for (const MemberKey& key : counted.heard)
        if (key != turn.proposer) part.heard.push_back(key);
    for (const auto& [key, slot] : counted.slots)
        part.records.emplace_back(records::slot(key), ledger::records::encode_number(slot.number()));

    const U256 gained = engine->attestations_weigh() ? U256{counted.weight} : effect.weight;
    if (!gained.is_zero()) {
        const auto sum = add(records::weight_of(parent.view()), gained);
        part.records.emplace_back(records::weight(), records::encode_weight(sum.overflow ? U256::max() : sum.value));
    }
    if (ends.ends != records::ends_of(parent.view()).ends) part.records.emplace_back(records::ends(), encode(ends));

    Electorate electorate = turn.electorate;
    // This block writes down a recovery that the parent's Cluster asked for. Who was heard of before it is no reason to
    // wait for anybody: they may be what was lost. Whoever attests in the new generation is taken in.
    const bool recovered = electorate.generation != Electorate::of(parent.view(), {}).generation;
    const bool forgets = recovered && parent.parameters().rules_version >= kRulesForgetting;
    if (forgets) {
        state::Cursor heard = parent.view().walk(records::all_slots());
        while (const state::Entry* entry = heard.next())
            if (!counted.slots.contains(records::key_in(*entry)))
                part.records.emplace_back(records::slot(records::key_in(*entry)), Bytes{});
    }
    const ledger::Height height = turn.parent_header.height + 1;
    const auto shown = records::shown_final_of(parent.view());
    if (const auto end = newest_shown(votes, electorate, ends, shown, parent.parameters().trust)) {
        part.records.emplace_back(records::final_checkpoint(),
                                  encode(records::ShownFinal{end->checkpoint, end->height, shown.height}));
        if (!forgets) change_voters(electorate, *end, parent.view(), height);
    }
    if (electorate != turn.electorate || turn.parent.view().get(records::electorate()) == nullptr || recovered)
        for (auto& record : electorate.to_records()) part.records.push_back(std::move(record));
    return part;
}

Result<ConsensusPart, Reject> Judge::judge_genesis(const ledger::Block& block) const {
    TRY(const auto first, check_proposer(block, signatures_));
    if (block.header.bits != 0 || block.header.nonce != 0)
        return ledger::reject(RejectCode::BadSeal, "a genesis block shows no work: its bits and nonce are zero");
    if (block.txs.size() != 1 || block.txs[0].outputs.size() != 1)
        return ledger::reject(RejectCode::BadEncoding, "a genesis block has one transaction that writes the Cluster");
    return genesis_part(first, block.txs[0].outputs[0].value, block.header.time);
}

std::vector<Vote> Judge::choose_votes(const LedgerState& parent, const Header& parent_header, Time time,
                                      std::span<const Vote> votes) const {
    const Electorate electorate = Electorate::of(parent.view(), parent.parameters());
    const Ends ends = ends_at(parent, parent_header, time);
    const ledger::Parameters& parameters = parent.parameters();
    std::vector<const Vote*> fit;
    for (const Vote& vote : votes)
        if (check_place(vote, parent, electorate, ends, time)) fit.push_back(&vote);
    std::sort(fit.begin(), fit.end(), [](const Vote* left, const Vote* right) {
        return std::tie(left->ballot.target.epoch, *left) < std::tie(right->ballot.target.epoch, *right);
    });

    std::vector<Vote> chosen;
    std::map<MemberKey, Slot> last;
    for (const Vote* vote : fit) {
        const Slot slot = slot_of(vote->ballot.target.epoch, parameters.epoch, parameters.heartbeat);
        const auto known = last.try_emplace(vote->voter, last_slot_of(vote->voter, parent.view())).first;
        if (slot <= known->second) continue;
        known->second = slot;
        chosen.push_back(*vote);
    }
    if (proof_due(parent, electorate, time)) {
        std::vector<Vote> all;
        for (const Vote* vote : fit) all.push_back(*vote);
        const auto shown = records::shown_final_of(parent.view());
        if (const auto end = newest_shown(all, electorate, ends, shown, parameters.trust))
            for (const Vote& vote : all)
                if (vote.ballot.target == end->checkpoint ||
                    (vote.ballot.source == end->checkpoint && vote.ballot.target.epoch == end->checkpoint.epoch + 1))
                    chosen.push_back(vote);
    }
    if (chosen.size() > kCarriedVotesMax) chosen.resize(kCarriedVotesMax);
    return chosen;
}

U256 Judge::weight_to_carry(const LedgerState& parent, const Header& parent_header, Time time,
                            std::span<const Vote> votes) const {
    const Engine* engine = engine_of(parent.parameters().consensus);
    if (engine == nullptr || !engine->attestations_weigh()) return {};
    const Electorate electorate = Electorate::of(parent.view(), parent.parameters());
    const Ends ends = ends_at(parent, parent_header, time);
    std::vector<Vote> fit;
    for (const Vote& vote : votes)
        if (check_place(vote, parent, electorate, ends, time)) fit.push_back(vote);
    return U256{count(fit, parent).weight};
}

Result<Sealing, Reject> Judge::prepare(const LedgerState& parent, const Header& parent_header, Time time,
                                       std::span<const Vote> votes, const Signer& signer) const {
    const Engine* engine = engine_of(parent.parameters().consensus);
    if (engine == nullptr) return ledger::reject(RejectCode::BadSeal, "this program does not know the chain's engine");
    const Electorate electorate = Electorate::of(parent.view(), parent.parameters());
    const Turn turn{parent, parent_header, electorate, signer.key(), time};
    Sealing sealing;
    sealing.seal.proof = to_bytes(signer.key());
    const Bytes data = engine->seal_data(turn, signer);
    sealing.seal.proof.insert(sealing.seal.proof.end(), data.begin(), data.end());
    sealing.seal.attestations = encode_votes(choose_votes(parent, parent_header, time, votes));
    sealing.bits = engine->bits(turn);
    TRY(sealing.part, follow(turn, sealing.seal));
    return sealing;
}

Result<ConsensusPart, Reject> genesis_part(const MemberKey& first, std::string_view cluster, Time time) {
    const auto document =
        json::parse(cluster, {.bytes = ledger::kDocumentBytesMax, .depth = ledger::kDocumentDepthMax});
    if (!document) return ledger::reject(RejectCode::BadEncoding, "the Cluster is not JSON");
    TRY(const auto parameters, ledger::read_parameters(*document));
    const Engine* engine = engine_of(parameters.consensus);
    if (engine == nullptr) return ledger::reject(RejectCode::BadSeal, "this program does not know the chain's engine");
    ConsensusPart part;
    part.records = Electorate{.voters = {first}}.to_records();
    for (auto& record : engine->genesis_records(first, parameters, time)) part.records.push_back(std::move(record));
    return part;
}

Result<ledger::GenesisBlock, Reject> seal_genesis(std::string cluster, Bytes lock, Time time, const Signer& proposer) {
    TRY(const auto part, genesis_part(proposer.key(), cluster, time));
    const ledger::Seal seal{.proof = to_bytes(proposer.key())};
    TRY(auto genesis, ledger::make_genesis(std::move(cluster), std::move(lock), time, part, seal));
    sign(genesis.block, proposer);
    return genesis;
}

ledger::Block assemble(ledger::BlockDraft draft, const Sealing& sealing) {
    draft.header.seal_root = seal_root_of(sealing.seal);
    draft.header.bits = sealing.bits;
    return draft.to_block(sealing.seal);
}

void sign(ledger::Block& block, const Signer& signer) { block.signature = signer.sign(digest_of(block.header)); }

}  // namespace rhizome::consensus
