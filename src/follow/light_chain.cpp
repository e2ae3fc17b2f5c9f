// SPDX-License-Identifier: Apache-2.0
#include "follow/light_chain.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/judge.h"
#include "ledger/limits.h"
#include "ledger/parameters.h"
#include "state/tree.h"

namespace rhizome::follow {
namespace {

using consensus::Electorate;
using consensus::MemberKey;
using consensus::Vote;
using enum LightFault;

Fail<LightRefusal> refuse(LightFault fault, std::string why) { return {LightRefusal{fault, std::move(why)}}; }

/// Who decides about a block by its own state, with how large a quorum.
struct Deciders {
    Electorate electorate{};
    ledger::Trust trust = ledger::Trust::Crash;
};

/// The bytes of a record, once the proof shows that they stand there.
Result<void, LightRefusal> check_record(const ledger::Header& header, const state::Path& path,
                                        const ProvenRecord& record) {
    const auto found = state::verify(header.state_root, path, record.proof);
    if (!found)
        return refuse(WrongProof, fmt::format("nothing is shown about {} in the state of height {}: {}", path.text(),
                                              header.height, to_error(found.error()).message));
    if (std::holds_alternative<state::Absence>(*found)) {
        if (record.bytes.empty()) return {};
        return refuse(ForgedDocument,
                      fmt::format("the proof shows that there is no {}, yet bytes came with it", path.text()));
    }
    const auto* plain = std::get_if<state::Summary::Plain>(&std::get<state::Presence>(*found).entry.content);
    if (plain == nullptr || plain->bytes_hash != crypto::sha256(record.bytes))
        return refuse(ForgedDocument, fmt::format("what came as {} is not what stands there", path.text()));
    return {};
}

Result<Deciders, LightRefusal> deciders_of(const FinalityProof& proof) {
    const auto paths = finality_records();
    state::Batch batch{state::StateView{}};
    for (std::size_t i = 0; i < paths.size(); ++i) {
        TRY(check_record(proof.header, paths[i], proof.records[i]));
        auto entry = state::Entry::plain(paths[i], proof.records[i].bytes);
        if (!entry) return refuse(WrongProof, fmt::format("{} is too large", paths[i].text()));
        if (!proof.records[i].bytes.empty()) batch.put(*std::move(entry));
    }
    // Nobody vouches for this state yet: its parameters are read as a stranger's.
    ledger::Parameters parameters;
    if (const Bytes& text = proof.records[3].bytes; !text.empty()) {
        auto spec =
            json::parse(as_text(text), {.bytes = ledger::kDocumentBytesMax, .depth = ledger::kDocumentDepthMax});
        if (!spec) return refuse(WrongProof, "the parameters are not JSON");
        auto read = ledger::read_parameters(json::Object{{"spec", *std::move(spec)}});
        if (!read) return refuse(WrongProof, "the parameters make no sense: " + read.error().why);
        parameters = *std::move(read);
    }
    const auto view = std::move(batch).finish().view;
    const auto written = Electorate::of(view, {});
    if (parameters.recovery.generation > written.generation)
        return refuse(Recovered, fmt::format("block {} begins recovery {}: who votes from then on stands in the next",
                                             proof.header.height, parameters.recovery.generation));
    if (written.voters.empty()) return refuse(WrongProof, "the state names no voters");
    return Deciders{written, parameters.trust};
}

/// The seal is the header's and its proposer signed.
Result<MemberKey, LightRefusal> check_header(const FinalityProof& proof, const consensus::Signatures& signatures) {
    const auto& header = proof.header;
    if (header.seal_root != seal_root_of(proof.seal))
        return refuse(WrongSeal, fmt::format("the seal is not that of the header of height {}", header.height));
    const auto proposer = consensus::proposer_in(proof.seal);
    if (!proposer) return refuse(WrongSeal, proposer.error().why);
    if (!signatures.is_good(*proposer, crypto::Digest{hash_of(header).view()}, proof.signature))
        return refuse(WrongSignature,
                      fmt::format("{} did not sign the header of height {}", to_hex(*proposer), header.height));
    return *proposer;
}

/// Whether the votes show the block final under the voters of its own state.
Result<void, LightRefusal> check_votes(const FinalityProof& proof, const Deciders& deciders, const MemberKey& proposer,
                                       const consensus::Signatures& signatures) {
    if (deciders.electorate.is_only_voter(proposer)) return {};
    const consensus::Checkpoint target{proof.epoch, hash_of(proof.header)};
    std::set<MemberKey> votes_for;
    std::set<MemberKey> votes_from;
    for (const Vote& vote : proof.votes) {
        const bool is_for = vote.ballot.target == target;
        const bool is_from = vote.ballot.source == target && vote.ballot.target.epoch == target.epoch + 1;
        // What does not count is not paid for with a signature check.
        if ((!is_for && !is_from) || vote.ballot.source.epoch >= vote.ballot.target.epoch) continue;
        if (vote.ballot.generation != deciders.electorate.generation || !deciders.electorate.is_voter(vote.voter))
            continue;
        if (!signatures.is_good(vote.voter, digest_of(vote.ballot, proof.chain), vote.signature))
            return refuse(WrongSignature, fmt::format("{} did not sign its vote for height {}", to_hex(vote.voter),
                                                      proof.header.height));
        if (is_for) votes_for.insert(vote.voter);
        if (is_from) votes_from.insert(vote.voter);
    }
    const auto enough = [&](const std::set<MemberKey>& keys) {
        std::vector<MemberKey> sorted{keys.begin(), keys.end()};
        return deciders.electorate.has_quorum(sorted, deciders.trust);
    };
    if (enough(votes_for) && enough(votes_from)) return {};
    return refuse(NotFinal,
                  fmt::format("height {} has {} votes for it and {} from it; {} voters decide", proof.header.height,
                              votes_for.size(), votes_from.size(), deciders.electorate.voters.size()));
}

}  // namespace

std::string_view name(LightFault fault) {
    switch (fault) {
        case Malformed: return "Malformed";
        case WrongChain: return "WrongChain";
        case WrongBlock: return "WrongBlock";
        case WrongSeal: return "WrongSeal";
        case WrongSignature: return "WrongSignature";
        case WrongProof: return "WrongProof";
        case ForgedDocument: return "ForgedDocument";
        case Incomplete: return "Incomplete";
        case NotFinal: return "NotFinal";
        case UnknownVoters: return "UnknownVoters";
        case Stale: return "Stale";
        case Conflict: return "Conflict";
        case Recovered: return "Recovered";
    }
    unreachable("all faults are named");
}

std::string to_text(const LightRefusal& refusal) { return fmt::format("{}: {}", name(refusal.fault), refusal.why); }

Result<LightChain, LightRefusal> LightChain::begin(const ledger::ChainId& chain, const FinalityProof& basis,
                                                   const std::optional<ledger::BlockHash>& vouched,
                                                   const consensus::Signatures& signatures) {
    if (basis.chain != chain) return refuse(WrongChain, fmt::format("it is of chain {}", basis.chain));
    const auto hash = hash_of(basis.header);
    if (vouched && hash != *vouched)
        return refuse(WrongBlock, fmt::format("block {} was shown where {} was vouched for", hash, *vouched));
    TRY(const auto proposer, check_header(basis, signatures));
    TRY(auto deciders, deciders_of(basis));
    if (!vouched) TRY(check_votes(basis, deciders, proposer, signatures));
    LightChain light{chain, signatures};
    light.header_ = basis.header;
    light.hash_ = hash;
    light.electorate_ = std::move(deciders.electorate);
    light.trust_ = deciders.trust;
    light.trusts_first_peer_ = !vouched;
    return light;
}

Result<bool, LightRefusal> LightChain::take(const FinalityProof& proof) {
    if (proof.chain != chain_) return refuse(WrongChain, fmt::format("it is of chain {}", proof.chain));
    const auto hash = hash_of(proof.header);
    if (hash == hash_) return false;
    if (proof.header.height < header_.height)
        return refuse(Stale,
                      fmt::format("height {} was shown, {} is known to be final", proof.header.height, header_.height));
    TRY(const auto proposer, check_header(proof, *signatures_));
    TRY(auto deciders, deciders_of(proof));
    const Electorate& now = deciders.electorate;
    if (now.generation != electorate_.generation)
        return refuse(Recovered, fmt::format("height {} is of recovery {}, {} is followed here", proof.header.height,
                                             now.generation, electorate_.generation));
    const bool known =
        now.voters == electorate_.voters || (!electorate_.next.empty() && now.voters == electorate_.next);
    if (!known)
        return refuse(UnknownVoters, fmt::format("height {} is decided by voters since height {} whom height {} does "
                                                 "not know",
                                                 proof.header.height, now.voters_since, header_.height));
    TRY(check_votes(proof, deciders, proposer, *signatures_));
    if (proof.header.height == header_.height)
        return refuse(Conflict,
                      fmt::format("blocks {} and {} of height {} are both final", hash_, hash, header_.height));
    header_ = proof.header;
    hash_ = hash;
    electorate_ = std::move(deciders.electorate);
    trust_ = deciders.trust;
    return true;
}

Result<void, LightRefusal> LightChain::check_block(const ledger::ChainId& chain, const ledger::Header& header) const {
    if (chain != chain_) return refuse(WrongChain, fmt::format("it is of chain {}", chain));
    if (hash_of(header) == hash_) return {};
    if (header.height <= header_.height)
        return refuse(Stale, fmt::format("it shows the state of height {}, the newest final one is {}", header.height,
                                         header_.height));
    return refuse(NotFinal, fmt::format("it shows the state of height {}; up to {} it is known what is final",
                                        header.height, header_.height));
}

Result<void, LightRefusal> LightChain::take(const ledger::StateProof& proof) {
    TRY(check_block(proof.chain, proof.header));
    const auto found = state::verify(header_.state_root, proof.path, proof.proof);
    if (!found)
        return refuse(WrongProof, fmt::format("nothing is shown about {} at height {}: {}", proof.path.text(),
                                              header_.height, to_error(found.error()).message));
    state::Batch batch{state_};
    if (const auto* present = std::get_if<state::Presence>(&*found)) {
        if (!proof.content) return refuse(Incomplete, fmt::format("{} did not come", proof.path.text()));
        const auto* written = std::get_if<state::Summary::Written>(&present->entry.content);
        const auto entry = written == nullptr ? state::Entry::plain(proof.path, as_bytes(proof.content->document))
                                              : state::Entry::written(proof.path, written->origin,
                                                                      proof.content->script, proof.content->document);
        if (!entry || (*entry)->leaf_hash() != present->entry.leaf_hash())
            return refuse(ForgedDocument, fmt::format("what came as {} is not what stands there", proof.path.text()));
        batch.put(*entry);
    } else {
        if (proof.content)
            return refuse(ForgedDocument, fmt::format("{} came, and the state has no such thing", proof.path.text()));
        (void)batch.erase(proof.path);
    }
    state_ = std::move(batch).finish().view;
    return {};
}

Result<state::StateView, LightRefusal> with_subtree(const state::StateView& known, const SubtreeProof& proof) {
    const auto leaves = state::verify_under(proof.header.state_root, proof.prefix, proof.proof);
    if (!leaves)
        return refuse(WrongProof, fmt::format("the sub-tree is not that of height {}: {}", proof.header.height,
                                              to_error(leaves.error()).message));
    std::map<std::string_view, const state::EntryPtr*> came;
    for (const state::EntryPtr& entry : proof.entries) came.emplace(entry->key(), &entry);
    std::vector<state::EntryPtr> entries;
    entries.reserve(leaves->size());
    for (const state::Summary& leaf : *leaves) {
        if (const auto found = came.find(leaf.path.key()); found != came.end()) {
            if ((*found->second)->leaf_hash() != leaf.leaf_hash())
                return refuse(ForgedDocument,
                              fmt::format("what came as {} is not what stands there", leaf.path.text()));
            entries.push_back(*found->second);
            came.erase(found);
            continue;
        }
        const state::Entry* before = known.get(leaf.path);
        if (before == nullptr || before->leaf_hash() != leaf.leaf_hash())
            return refuse(Incomplete, fmt::format("{} changed and did not come", leaf.path.text()));
        entries.emplace_back(before);
    }
    if (!came.empty())
        return refuse(ForgedDocument, fmt::format("{} came, and the state has no such thing",
                                                  state::Path::from_checked_key(came.begin()->first).text()));
    state::Batch batch{known};
    (void)batch.erase_under(proof.prefix);
    batch.put(entries);
    return std::move(batch).finish().view;
}

Result<void, LightRefusal> LightChain::take(const SubtreeProof& proof) {
    TRY(check_block(proof.chain, proof.header));
    TRY(state_, with_subtree(state_, proof));
    shown_[proof.prefix] = header_.height;
    return {};
}

std::optional<ledger::Height> LightChain::shown_at(const state::Prefix& prefix) const {
    const auto found = shown_.find(prefix);
    if (found == shown_.end()) return std::nullopt;
    return found->second;
}

}  // namespace rhizome::follow
