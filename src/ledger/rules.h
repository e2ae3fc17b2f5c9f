// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

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
/// asks of documents only that a KeyRing is a member's and that no Secret is in clear (docs/spec/secrets.md).
class Rules {
public:
    virtual ~Rules() = default;

    /// What a document that proves itself may cost: nobody pays for it with a signature, so anybody can send many.
    struct Proof {
        std::size_t checks = 0;  ///< signature checks that `admit_store` makes at most; counted like those of scripts
        std::size_t bytes_max = 0;  ///< of the document
    };
    /// For kinds whose documents prove what they say: these may be created by anybody, without opening a lock (see
    /// docs/spec/chain.md section 2). `wants` must be true for them, and `admit_store` check the proof.
    [[nodiscard]] virtual std::optional<Proof> proves_itself(const GroupKind& type) const;

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
