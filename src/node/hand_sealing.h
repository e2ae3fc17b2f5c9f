// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "consensus/judge.h"

/// Blocks that a command seals, with no node running: the second of a new cluster, and those made offline.
namespace rhizome::node {

struct HandSealing {
    ledger::NextBlock next{};
    consensus::Sealing sealing{};
    /// For `build_block`.
    [[nodiscard]] std::size_t seal_bytes() const {
        return sealing.seal.proof.size() + sealing.seal.attestations.size();
    }
};

/// What this signer may put on the parent: at `now`, or as soon after it as its turn comes. NotYourTurn when it never
/// does.
Result<HandSealing, ledger::Reject> prepare_by_hand(const ledger::LedgerState& parent,
                                                    const ledger::Header& parent_header, Time now,
                                                    const consensus::Judge& judge, const consensus::Signer& signer);

/// The block that a draft made with `hand` becomes. Where the chain asks for work it is done here, on one core, which
/// takes as long as the chain's difficulty asks for; nonces are tried from `first_nonce` on.
ledger::Block seal_by_hand(ledger::BlockDraft draft, const HandSealing& hand, const consensus::Signer& signer,
                           std::uint64_t first_nonce = 0);

}  // namespace rhizome::node
