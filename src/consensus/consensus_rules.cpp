// SPDX-License-Identifier: Apache-2.0
#include "consensus/consensus_rules.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/records.h"
#include "ledger/special_kinds.h"

namespace rhizome::consensus {
namespace {

using ledger::Reject;
using ledger::RejectCode;
using ledger::WorkingState;

bool is_evidence(const ledger::GroupKind& type) { return type.kind == kEvidenceKind && type.group == kEvidenceGroup; }

std::vector<MemberKey> keys_at(const state::Path& path, const WorkingState& state) {
    const state::Entry* record = state.find(path);
    if (record == nullptr) return {};
    auto keys = ledger::records::decode_voters(record->bytes());
    return keys ? *std::move(keys) : std::vector<MemberKey>{};
}

/// Those whom a recovery names are members, so they need no search of their own.
bool is_known(const MemberKey& key, const WorkingState& state) {
    for (const auto& path : {ledger::records::member(key), records::slot(key), records::absent(key)})
        if (state.find(path) != nullptr) return true;
    for (const auto& path : {ledger::records::voters(), records::next()}) {
        const auto voters = keys_at(path, state);
        if (std::binary_search(voters.begin(), voters.end(), key)) return true;
    }
    return false;
}

/// Whether anybody but `key` may seal. Ends with the first one found.
bool others_may_seal(const MemberKey& key, const WorkingState& state) {
    const auto may = [&](const MemberKey& other) { return other != key && !state.find(evidence_path(other)); };
    state::Cursor members = state.walk(ledger::records::all_members());
    while (const state::Entry* member = members.next())
        if (may(records::key_in(*member))) return true;
    // Voters seal without a Node as well.
    const auto voters = keys_at(ledger::records::voters(), state);
    return std::any_of(voters.begin(), voters.end(), may);
}

milliseconds epoch_length(const WorkingState& state) {
    const state::Entry* record = state.find(ledger::records::parameters());
    ensure(record != nullptr, "a chain has parameters");
    const auto read = ledger::read_parameters(json::Object{{"spec", ledger::parse_checked(as_text(record->bytes()))}});
    ensure(read.has_value(), "parameters in the state were checked");
    return read->epoch;
}

Result<void, Reject> check_pardon(const Evidence& evidence, const ledger::Resource& resource,
                                  const WorkingState& state) {
    const state::Entry* pardon = state.find(ledger::records::pardon(resource.name));
    if (pardon == nullptr) return {};
    const auto until =
        Time::from_unix_millis(static_cast<std::int64_t>(ledger::records::decode_number(pardon->bytes())));
    if (time_of(evidence, epoch_length(state)) > until) return {};
    return ledger::reject(RejectCode::BadVote,
                          fmt::format("what the accused signed until {} is forgiven", to_rfc3339(until)));
}

}  // namespace

std::optional<ledger::Rules::Proof> ConsensusRules::proves_itself(const ledger::GroupKind& type) const {
    if (is_evidence(type)) return Proof{.checks = kEvidenceChecks, .bytes_max = kEvidenceBytesMax};
    return others_.proves_itself(type);
}

std::optional<ledger::Scope> ConsensusRules::scope_of(const ledger::GroupKind& type, const WorkingState& state) const {
    return others_.scope_of(type, state);
}

bool ConsensusRules::wants(const ledger::GroupKind& type) const { return is_evidence(type) || others_.wants(type); }

Result<void, Reject> ConsensusRules::admit_store(const ledger::Resource& resource, const json::Value& document,
                                                 const state::Entry* before, const WorkingState& state) const {
    if (!is_evidence(resource.type)) return others_.admit_store(resource, document, before, state);
    TRY(const Evidence evidence, from_document(document));
    ensure(resource.path == evidence_path(evidence.accused), "an evidence's name is the accused key");
    const state::Entry* chain = state.find(ledger::records::chain_id());
    if (chain == nullptr || chain->bytes().size() != ledger::ChainId::kSize)
        return ledger::reject(RejectCode::BadVote, "the state does not know its chain id yet: wait for the next block");
    // A later version by the Cluster's lock says the same of somebody who may have left since.
    if (before == nullptr) {
        if (!is_known(evidence.accused, state))
            return ledger::reject(RejectCode::NotFound, fmt::format("{} is no member and no voter", resource.name));
        if (!others_may_seal(evidence.accused, state))
            return ledger::reject(RejectCode::BadVote, "nobody else is left to seal blocks");
        TRY(check_pardon(evidence, resource, state));
    }
    TRY(check_evidence(evidence, ledger::ChainId{chain->bytes().first<ledger::ChainId::kSize>()}, signatures_));
    return {};
}

Result<void, Reject> ConsensusRules::admit_delete(const state::Entry& entry, const WorkingState& state) const {
    return others_.admit_delete(entry, state);
}

}  // namespace rhizome::consensus
