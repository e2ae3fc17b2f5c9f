// SPDX-License-Identifier: Apache-2.0
#include "consensus/evidence.h"

#include <algorithm>
#include <initializer_list>

#include <fmt/core.h>

#include "base/ensure.h"
#include "base/safety_rule.h"
#include "ledger/codec.h"
#include "ledger/limits.h"

namespace rhizome::consensus {
namespace {

using ledger::Reject;
using ledger::RejectCode;

constexpr std::string_view kApiVersion = "rhizome.dev/v1";

Fail<Reject> no_proof(std::string why) { return ledger::reject(RejectCode::BadVote, std::move(why)); }

Result<void, Reject> check_votes(const std::array<Vote, 2>& votes, const MemberKey& accused,
                                 const ledger::ChainId& chain, const Signatures& signatures) {
    const auto& [first, second] = votes;
    if (first.voter != second.voter) return no_proof("the votes are of two members");
    if (first.voter != accused) return no_proof(fmt::format("the votes are of {}", to_hex(first.voter)));
    if (first.ballot == second.ballot) return no_proof("the votes say the same, which may be signed more than once");
    if (first.ballot.generation != second.ballot.generation)
        return no_proof("the votes are of two generations: a recovery lies between them");
    if (!contradiction(first, second)) return no_proof("the votes do not contradict each other");
    for (const Vote& vote : votes)
        if (!signatures.is_good(accused, digest_of(vote.ballot, chain), vote.signature))
            return no_proof(fmt::format("the accused did not sign the vote for epoch {} on this chain",
                                        vote.ballot.target.epoch.number()));
    return {};
}

Result<void, Reject> check_headers(const std::array<SignedHeader, 2>& headers, const MemberKey& accused,
                                   const Signatures& signatures) {
    const auto& [first, second] = headers;
    if (first.header.previous != second.header.previous && holds(SafetyRule::SameParentEvidence))
        return no_proof("the headers are on different parents");
    if (first.header.previous.is_zero())
        return no_proof("the headers have no parent: whoever founds two clusters signs two genesis blocks");
    if (first.header == second.header) return no_proof("it is the same header twice");
    for (const SignedHeader& one : headers) {
        const auto hash = hash_of(one.header);
        if (!signatures.is_good(accused, crypto::Digest{hash.view()}, one.signature))
            return no_proof(fmt::format("the accused did not sign the header {}", hash));
    }
    return {};
}

// ---- the document ---------------------------------------------------------------------------------------------------

Fail<Reject> malformed(std::string_view place, std::string_view what) {
    return ledger::reject(RejectCode::BadEncoding, fmt::format("{} {}", place, what));
}

/// The object `value` when it has exactly these members.
Result<const json::Object*, Reject> members_of(const json::Value* value, std::string_view place,
                                               std::initializer_list<std::string_view> members) {
    const json::Object* object = value == nullptr ? nullptr : value->if_object();
    if (object == nullptr) return malformed(place, "is no object");
    for (const auto& member : *object)
        if (std::find(members.begin(), members.end(), member.key) == members.end())
            return malformed(place, fmt::format("has a member that is not known: {}", json::quote(member.key)));
    for (const std::string_view key : members)
        if (!object->contains(key)) return malformed(place, fmt::format("has no \"{}\"", key));
    return object;
}

Result<void, Reject> expect_text(const json::Value& document, std::string_view key, std::string_view wanted) {
    const json::Value* value = document.find(key);
    const std::string* text = value == nullptr ? nullptr : value->if_string();
    if (text == nullptr || *text != wanted) return malformed(key, fmt::format("is not \"{}\"", wanted));
    return {};
}

/// Exactly so many bytes, in one spelling: the name of an evidence is the path where it is looked for.
Result<void, Reject> read_hex(const json::Value* value, std::string_view place, std::span<std::uint8_t> out) {
    const std::string* digits = value == nullptr ? nullptr : value->if_string();
    if (digits == nullptr || !from_hex_into(*digits, out) || to_hex(out) != *digits)
        return malformed(place, fmt::format("is not {} bytes in lower-case hexadecimal", out.size()));
    return {};
}

Result<const json::Array*, Reject> pair_of(const json::Value& value, std::string_view place) {
    const json::Array* array = value.if_array();
    if (array == nullptr || array->size() != 2) return malformed(place, "is not an array of two");
    return array;
}

Result<Vote, Reject> read_vote(const json::Value& value) {
    std::array<std::uint8_t, kVoteBytes> bytes{};
    TRY(read_hex(&value, "spec.votes", bytes));
    Reader in{bytes};
    const auto vote = decode_vote(in);
    if (!vote || !in.empty()) return malformed("spec.votes", "has what is no vote");
    return *vote;
}

Result<SignedHeader, Reject> read_header(const json::Value& value) {
    TRY(const json::Object* members, members_of(&value, "spec.headers", {"header", "signature"}));
    std::array<std::uint8_t, ledger::kHeaderBytes> bytes{};
    SignedHeader read;
    TRY(read_hex(members->find("header"), "spec.headers.header", bytes));
    TRY(read_hex(members->find("signature"), "spec.headers.signature", read.signature));
    const auto header = ledger::decode_header(bytes);
    if (!header) return malformed("spec.headers.header", "is no header");
    read.header = *header;
    return read;
}

}  // namespace

Result<MemberKey, Reject> check_evidence(const Evidence& evidence, const ledger::ChainId& chain,
                                         const Signatures& signatures) {
    if (const auto* votes = std::get_if<std::array<Vote, 2>>(&evidence.proof)) {
        TRY(check_votes(*votes, evidence.accused, chain, signatures));
    } else {
        TRY(check_headers(std::get<std::array<SignedHeader, 2>>(evidence.proof), evidence.accused, signatures));
    }
    return evidence.accused;
}

Time time_of(const Evidence& evidence, milliseconds epoch) {
    if (const auto* votes = std::get_if<std::array<Vote, 2>>(&evidence.proof))
        return std::max(end_of((*votes)[0].ballot.target.epoch, epoch), end_of((*votes)[1].ballot.target.epoch, epoch));
    const auto& [first, second] = std::get<std::array<SignedHeader, 2>>(evidence.proof);
    return std::max(first.header.time, second.header.time);
}

json::Object to_document(const Evidence& evidence) {
    json::Array pair;
    json::Object spec;
    if (const auto* votes = std::get_if<std::array<Vote, 2>>(&evidence.proof)) {
        for (const Vote& vote : *votes) {
            Writer out{kVoteBytes};
            encode(vote, out);
            pair.emplace_back(to_hex(out.view()));
        }
        spec.set("votes", std::move(pair));
    } else {
        for (const SignedHeader& one : std::get<std::array<SignedHeader, 2>>(evidence.proof))
            pair.emplace_back(
                json::Object{{"header", to_hex(ledger::encode(one.header))}, {"signature", to_hex(one.signature)}});
        spec.set("headers", std::move(pair));
    }
    return {{"apiVersion", kApiVersion},
            {"kind", kEvidenceKind},
            {"metadata", json::Object{{"name", to_hex(evidence.accused)}}},
            {"spec", std::move(spec)}};
}

Result<Evidence, Reject> from_document(const json::Value& document) {
    TRY(members_of(&document, "the evidence", {"apiVersion", "kind", "metadata", "spec"}));
    TRY(expect_text(document, "apiVersion", kApiVersion));
    TRY(expect_text(document, "kind", kEvidenceKind));
    TRY(const json::Object* metadata, members_of(document.find("metadata"), "metadata", {"name"}));
    Evidence evidence;
    TRY(read_hex(metadata->find("name"), "metadata.name", evidence.accused));

    const json::Value* spec = document.find("spec");
    if (const json::Value* votes = spec->find("votes")) {
        TRY(members_of(spec, "spec", {"votes"}));
        TRY(const json::Array* pair, pair_of(*votes, "spec.votes"));
        TRY(const Vote first, read_vote(pair->front()));
        TRY(const Vote second, read_vote(pair->back()));
        evidence.proof = std::array{first, second};
        return evidence;
    }
    TRY(const json::Object* members, members_of(spec, "spec", {"headers"}));
    TRY(const json::Array* pair, pair_of(*members->find("headers"), "spec.headers"));
    TRY(const SignedHeader first, read_header(pair->front()));
    TRY(const SignedHeader second, read_header(pair->back()));
    evidence.proof = std::array{first, second};
    return evidence;
}

ledger::Tx evidence_tx(const Evidence& evidence, const ledger::LedgerState& state, Time now) {
    const state::Entry* cluster = state.view().get(state::Path::cluster());
    ensure(cluster != nullptr, "a chain has a Cluster");
    return {.inputs = {{.previous = cluster->origin().lock.output}},
            .outputs = {{.value = json::print(to_document(evidence))}},
            .expiry = static_cast<std::uint32_t>(now.unix_seconds() + ledger::kExpirySecondsDefault)};
}

state::Path evidence_path(const MemberKey& accused) {
    auto path = state::Path::cluster_scoped(kEvidenceGroup, kEvidenceKind, to_hex(accused));
    ensure(path.has_value(), "a key in hexadecimal is a name");
    return *std::move(path);
}

state::Prefix all_evidence() {
    auto prefix = state::Prefix::cluster_scoped_kind(kEvidenceGroup, kEvidenceKind);
    ensure(prefix.has_value(), "a kind's name is a name");
    return *std::move(prefix);
}

bool is_accused(const MemberKey& key, const state::StateView& view) { return view.get(evidence_path(key)) != nullptr; }

}  // namespace rhizome::consensus
