// SPDX-License-Identifier: Apache-2.0
#include "ledger/rules.h"

#include "ledger/chain_records.h"

namespace rhizome::ledger {

std::optional<Scope> Rules::scope_of(const GroupKind& type, const WorkingState& state) const {
    if (const auto builtin = builtin_scope(type.group, type.kind)) return builtin;
    const state::Entry* record = state.find(records::definition(type));
    if (record == nullptr) return std::nullopt;
    return records::decode_definition(record->bytes()).scope;
}

std::optional<Rules::Proof> Rules::proves_itself(const GroupKind& /*type*/) const { return std::nullopt; }

bool Rules::wants(const GroupKind& /*type*/) const { return false; }

Result<void, Reject> Rules::admit_store(const Resource& /*resource*/, const json::Value& /*document*/,
                                        const state::Entry* /*before*/, const WorkingState& /*state*/) const {
    return {};
}

Result<void, Reject> Rules::admit_delete(const state::Entry& /*entry*/, const WorkingState& /*state*/) const {
    return {};
}

}  // namespace rhizome::ledger
