// SPDX-License-Identifier: Apache-2.0
#include "ledger/rules.h"

#include "ledger/chain_records.h"
#include "ledger/key_ring.h"
#include "ledger/sealed_secret.h"

namespace rhizome::ledger {
namespace {

bool is_key_ring(const GroupKind& type) { return type.kind == kKeyRingKind && type.group == kKeyRingGroup; }
bool is_secret(const GroupKind& type) { return type.kind == "Secret" && type.group.empty(); }

}  // namespace

std::optional<Scope> Rules::scope_of(const GroupKind& type, const WorkingState& state) const {
    if (const auto builtin = builtin_scope(type.group, type.kind)) return builtin;
    const state::Entry* record = state.find(records::definition(type));
    if (record == nullptr) return std::nullopt;
    return records::decode_definition(record->bytes()).scope;
}

std::optional<Rules::Proof> Rules::proves_itself(const GroupKind& type) const {
    if (is_key_ring(type)) return Proof{.checks = kKeyRingChecks, .bytes_max = kKeyRingBytesMax};
    return std::nullopt;
}

bool Rules::wants(const GroupKind& type) const { return is_key_ring(type) || is_secret(type); }

Result<void, Reject> Rules::admit_store(const Resource& resource, const json::Value& document,
                                        const state::Entry* /*before*/, const WorkingState& state) const {
    if (is_key_ring(resource.type)) return check_key_ring(document, state);
    if (is_secret(resource.type)) return check_secret(document);
    return {};
}

Result<void, Reject> Rules::admit_delete(const state::Entry& /*entry*/, const WorkingState& /*state*/) const {
    return {};
}

}  // namespace rhizome::ledger
