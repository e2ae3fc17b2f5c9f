// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "consensus/attestations.h"
#include "consensus/engine.h"
#include "ledger/block_factory.h"
#include "ledger/seal_judge.h"

namespace rhizome::consensus {

/// What a member puts around a draft to make a block of it.
struct Sealing {
    ledger::Seal seal{};
    ledger::ConsensusPart part{};  ///< what the judge will say of it: for `build_block`
    std::uint32_t bits = 0;
};

/// Judges seals of every engine: who sealed, whether it was its turn, the attestations carried, and what follows from
/// them for weight, leases, standing, finality and the voters.
///
/// A seal: `proof` is the proposer's chain key (33 bytes) ‖ the engine's data; `attestations` is a set of votes
/// (attestations.h). A carried vote has a member of the parent's state as voter, the chain's generation, the block of
/// *this* chain that its epoch asks for as target, an epoch that ended by the block's time, and a good signature. Each
/// gives weight 1 when its slot is later than the voter's last one that was counted.
///
/// The votes of one block that show a checkpoint final (a quorum for it, a quorum from it to the epoch after) move
/// `/chain/final`, and with it changes of voters (electorate.h). Where the votes for it came from is not asked again:
/// among a quorum is an honest member, who votes only from a justified source (vote_book.h).
///
/// Borrows `signatures`, and is as free of threads as they are.
class Judge final : public ledger::SealJudge {
public:
    explicit Judge(const Signatures& signatures) : signatures_(signatures) {}

    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> judge(const ledger::LedgerState& parent,
                                                                      const ledger::Header& parent_header,
                                                                      const ledger::Block& block) const override;
    /// Whoever signed the genesis block is the first voter.
    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> judge_genesis(
        const ledger::Block& block) const override;

    /// What this signer would seal at `time` with these votes. Votes that the block may not carry are left out.
    /// NotYourTurn when it may not seal then.
    [[nodiscard]] Result<Sealing, ledger::Reject> prepare(const ledger::LedgerState& parent,
                                                          const ledger::Header& parent_header, Time time,
                                                          std::span<const Vote> votes, const Signer& signer) const;
    /// Those of `votes` that a block at `time` on this parent may carry and that are of use to it: the first of each
    /// member and slot not yet counted, and a proof of the newest final checkpoint when one is due.
    [[nodiscard]] std::vector<Vote> choose_votes(const ledger::LedgerState& parent, const ledger::Header& parent_header,
                                                 Time time, std::span<const Vote> votes) const;
    /// What the chain would gain in weight by a block at `time` on this parent that carries `votes`.
    [[nodiscard]] U256 weight_to_carry(const ledger::LedgerState& parent, const ledger::Header& parent_header,
                                       Time time, std::span<const Vote> votes) const;

private:
    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> follow(const Turn& turn,
                                                                       const ledger::Seal& seal) const;
    const Signatures& signatures_;
};

/// From this `rulesVersion` on a recovery forgets who was heard of before it, so that only those who are there vote.
inline constexpr std::uint32_t kRulesForgetting = 2;

/// How many votes a block may carry: every member's for some slots it missed.
inline constexpr std::size_t kCarriedVotesMax = 20'000;

/// The block that a draft becomes in this proposer's hands. The draft was built with `sealing.part`; work is done by
/// whoever calls, on the header of the result, before `sign`.
ledger::Block assemble(ledger::BlockDraft draft, const Sealing& sealing);
void sign(ledger::Block& block, const Signer& signer);

/// What a chain begins with: whoever seals genesis is the first voter. `cluster` is the document.
Result<ledger::ConsensusPart, ledger::Reject> genesis_part(const MemberKey& first, std::string_view cluster, Time time);
/// A genesis block: `cluster` is the document, `lock` its owner's script.
Result<ledger::GenesisBlock, ledger::Reject> seal_genesis(std::string cluster, Bytes lock, Time time,
                                                          const Signer& proposer);

/// The chain key that a seal names; BadSeal when it names none.
Result<MemberKey, ledger::Reject> proposer_in(const ledger::Seal& seal);
/// Whether the proposer that the seal names signed the block, and the seal is the header's. BadSeal otherwise: all that
/// can be said of a block whose parent is not known.
Result<MemberKey, ledger::Reject> check_proposer(const ledger::Block& block, const Signatures& signatures);

}  // namespace rhizome::consensus
