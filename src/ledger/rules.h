// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.h"
#include "ledger/parameters.h"
#include "ledger/reject.h"
#include "ledger/resource.h"
#include "ledger/working_state.h"

namespace rhizome::ledger {

/// Through which kinds, policies and the market join the ledger: what they say here is part of a block's validity, so
/// it is a pure function of the state and the change, bounded in cost, and the same on every node with the same
/// `rulesVersion`. Controllers do not belong here: what they derive comes after a block and is never part of its
/// validity.
///
/// The class itself is the default: it knows the built-in kinds and those defined by CustomResourceDefinitions, and
/// asks nothing more of documents.
class Rules {
public:
    virtual ~Rules() = default;

    /// Where documents of this type live in `state`; nothing when there is no such kind.
    [[nodiscard]] virtual std::optional<Scope> scope_of(const GroupKind& type, const WorkingState& state) const;

    /// Whether `admit_*` wants to see documents of this type. Others are never parsed for it.
    [[nodiscard]] virtual bool wants(const GroupKind& type) const;

    /// A document about to be written over `before` (null: created).
    [[nodiscard]] virtual Result<void, Reject> admit_store(const Resource& resource, const json::Value& document,
                                                           const state::Entry* before, const WorkingState& state) const;
    /// A resource about to be deleted, with all below it.
    [[nodiscard]] virtual Result<void, Reject> admit_delete(const state::Entry& entry, const WorkingState& state) const;
};

}  // namespace rhizome::ledger
