// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "consensus/engine.h"

namespace rhizome::consensus {

/// The easiest target there is: every second hash meets it.
inline constexpr std::uint32_t kEasiestBits = 0x207fffff;

/// Proof of work among members: whoever finds a nonce seals (docs/spec/chain.md section 5).
///
/// What the next block must meet is known from the parent's state alone (`/chain/work`). Every `period` blocks the
/// target follows the time they took: N blocks over exactly N intervals, each period beginning with the time of the
/// last block of the one before, so that no interval is left out for somebody to bend the clock in.
///
/// A seal has the proposer's key and nothing else. The key is under the seal root, so work done for one proposer is of
/// no use to another. A proposer signs only what it has found, and only one block on a parent: a second is evidence.
class Work final : public Engine {
public:
    [[nodiscard]] ledger::ConsensusId id() const override { return ledger::ConsensusId::Work; }
    /// Blocks weigh by their work; attestations renew leases and finalise.
    [[nodiscard]] bool attestations_weigh() const override { return false; }
    [[nodiscard]] bool seals_always() const override { return true; }
    /// A block's time is stamped before it is mined and cannot be forged into weight, so clocks may differ more.
    [[nodiscard]] milliseconds future_tolerance() const override { return seconds{10}; }

    /// `min_interval` for every member and voter who is not under evidence.
    [[nodiscard]] std::optional<milliseconds> earliest(const Turn& turn) const override;
    [[nodiscard]] Bytes seal_data(const Turn&, const Signer&) const override { return {}; }
    /// Zero when the parent's state says nothing of work: no block on it is good.
    [[nodiscard]] std::uint32_t bits(const Turn& turn) const override;
    [[nodiscard]] Result<EngineEffect, ledger::Reject> judge(const Turn& turn, ByteView data,
                                                             std::span<const Vote> attested,
                                                             const Signatures& signatures) const override;
    /// The bits are those asked for, and the hash meets them.
    [[nodiscard]] Result<void, ledger::Reject> judge_header(const Turn& turn,
                                                            const ledger::Header& header) const override;
    [[nodiscard]] std::vector<std::pair<state::Path, Bytes>> genesis_records(const MemberKey& proposer,
                                                                             const ledger::Parameters& parameters,
                                                                             Time time) const override;
};

/// Whether a block hash, read as a big-endian number (the way it is printed and compared), is not above `target`.
[[nodiscard]] bool meets(const ledger::BlockHash& hash, const U256& target);

/// The bits that a chain begins with: 2^256 / (hash rate × block time), floor of both, at most the easiest.
[[nodiscard]] std::uint32_t first_bits(const ledger::WorkRules& rules);

/// The period as the state after a block at `height` and `time` has it; `period` is that of its parent's state. Changes
/// once `rules.period` blocks have passed. When the rules make periods shorter than the one under way, it ends with
/// the next block, over all the intervals it had.
[[nodiscard]] records::WorkPeriod period_after(const records::WorkPeriod& period, ledger::Height height, Time time,
                                               const ledger::WorkRules& rules);

}  // namespace rhizome::consensus
