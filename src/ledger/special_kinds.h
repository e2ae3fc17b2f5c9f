// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "base/json.h"
#include "ledger/chain_records.h"
#include "ledger/check.h"
#include "ledger/validator.h"

/// The few kinds whose documents the ledger itself reads, because validity depends on what they say.
namespace rhizome::ledger {

/// The parsed form of a document that `check_tx` has already found to be strict JSON.
json::Value parse_checked(std::string_view document);

/// A JoinToken: whoever holds the key of its lock may create that many Nodes until it expires.
struct JoinToken {
    std::uint64_t count = 0;
    Time expires{};
};
Result<JoinToken, Reject> read_join_token(const json::Value& document);

/// What a CustomResourceDefinition defines.
struct ReadDefinition {
    GroupKind type{};
    records::Definition definition{};
};
Result<ReadDefinition, Reject> read_definition(const json::Value& document);

/// The custom kind that a document of the state defines; nothing for all other documents.
std::optional<GroupKind> defined_by(const state::Entry& entry);

/// What must hold of a document of a special kind before it is written over `before` (null: created). Others pass.
Result<void, Reject> check_special(const Resource& resource, std::string_view document, const state::Entry* before,
                                   const WorkingState& state, const Place& place);

/// The records under `/chain/` that follow a document which is written or deleted (`after` empty).
void follow_special(const Resource& resource, std::string_view before, std::string_view after, WorkingState& state,
                    const Place& place);

/// The chain key of the member that is the Node of this name, if it is one.
std::optional<MemberKey> member_key_of(std::string_view node, const WorkingState& state);

/// Marks a member as heard of at the lease clock's present.
void renew_lease(const MemberKey& key, WorkingState& state);
[[nodiscard]] milliseconds lease_clock(const WorkingState& state);

}  // namespace rhizome::ledger
