// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "consensus/engine.h"

namespace rhizome::consensus {

/// The default engine: members take turns in an order that nobody chooses (docs/spec/chain.md section 5).
///
/// A seal has the proposer's key and, in the first block of an epoch, a VRF proof over the seed (80 bytes). Rank r may
/// seal `min_interval` + delay(r) after the parent; whoever was passed over is absent until it is heard again, so that
/// one dead machine costs one rank's delay once and not with every block.
class Authority final : public Engine {
public:
    [[nodiscard]] ledger::ConsensusId id() const override { return ledger::ConsensusId::Authority; }
    [[nodiscard]] std::optional<milliseconds> earliest(const Turn& turn) const override;
    [[nodiscard]] Bytes seal_data(const Turn& turn, const Signer& signer) const override;
    [[nodiscard]] std::uint32_t bits(const Turn&) const override { return 0; }
    [[nodiscard]] Result<EngineEffect, ledger::Reject> judge(const Turn& turn, ByteView data,
                                                             std::span<const Vote> attested,
                                                             const Signatures& signatures) const override;
    [[nodiscard]] Result<void, ledger::Reject> judge_header(const Turn& turn,
                                                            const ledger::Header& header) const override;
    [[nodiscard]] std::vector<std::pair<state::Path, Bytes>> genesis_records(const MemberKey& proposer,
                                                                             const ledger::Parameters& parameters,
                                                                             Time time) const override;
};

}  // namespace rhizome::consensus
