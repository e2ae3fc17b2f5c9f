// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "consensus/evidence.h"
#include "ledger/rules.h"

namespace rhizome::consensus {

/// What consensus asks of documents, beside what others ask: that evidence proves something. Part of a block's
/// validity, so every node of a chain hands this to the ledger.
///
/// Evidence may be created by anybody (ledger/rules.h). Taken is what
/// - has the form of evidence.h and proves a contradiction of the key that is its name, on the chain of the state: from
///   the second block on, since the state after genesis does not know its own chain id (`BadEncoding`, `BadVote`);
/// - accuses somebody the state knows: a member, a voter, or a former member that attested or missed a turn
///   (`NotFound`); else strangers could fill the state with keys of their own;
/// - is newer than the last evidence against the same key that was deleted (`BadVote`): what the holder of the
///   Cluster's lock has forgiven cannot be brought again by whoever kept a copy;
/// - leaves somebody who may seal (`BadVote`): no proof is worth a chain that stands still for ever, and then nobody
///   could forgive either. A machine alone that was restored from a backup has sealed twice on one parent.
///
/// Cost: two signature checks, counted by the ledger against the transaction's and the block's; a name that exists is
/// refused before them. The state grows by at most one document of 2 KiB for each key that it knows.
///
/// Borrows `signatures` and `others`, and is as free of threads as they are.
class ConsensusRules final : public ledger::Rules {
public:
    /// `others` decides about all other kinds.
    ConsensusRules(const Signatures& signatures, const ledger::Rules& others)
        : signatures_(signatures), others_(others) {}

    [[nodiscard]] std::optional<Proof> proves_itself(const ledger::GroupKind& type) const override;
    [[nodiscard]] std::optional<ledger::Scope> scope_of(const ledger::GroupKind& type,
                                                        const ledger::WorkingState& state) const override;
    [[nodiscard]] bool wants(const ledger::GroupKind& type) const override;
    [[nodiscard]] Result<void, ledger::Reject> admit_store(const ledger::Resource& resource,
                                                           const json::Value& document, const state::Entry* before,
                                                           const ledger::WorkingState& state) const override;
    [[nodiscard]] Result<void, ledger::Reject> admit_delete(const state::Entry& entry,
                                                            const ledger::WorkingState& state) const override;

private:
    const Signatures& signatures_;
    const ledger::Rules& others_;
};

}  // namespace rhizome::consensus
