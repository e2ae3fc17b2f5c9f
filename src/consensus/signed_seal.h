// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "crypto/keys.h"
#include "ledger/block_factory.h"
#include "ledger/seal_judge.h"

/// What seals of all engines have in common: they name their proposer, who signed the block and may propose at all.
/// Whose turn it was, work, space and stake are the engines' own (docs/spec/chain.md section 5).
namespace rhizome::consensus {

/// What a seal of this kind adds to a block: the proof is the proposer's chain key and nothing else.
inline constexpr std::size_t kSignedSealBytes = crypto::PublicKey::kSize;

/// Takes a block when
/// - the seal is the one that its header names, so that nobody on the way stripped or changed it,
/// - `seal.proof` begins with the 33 bytes of a chain key, the proposer's,
/// - the proposer is a member in the parent's state, or a voter (the first one seals before its Node is written),
/// - the block's signature is the proposer's over the block hash, low S,
/// - bits and nonce are zero where no work is done.
///
/// Everything else is `BadSeal`. The proposer counts as heard of. No state of its own; may be used from any thread.
class SignedSeal final : public ledger::SealJudge {
public:
    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> judge(const ledger::LedgerState& parent,
                                                                      const ledger::Header& parent_header,
                                                                      const ledger::Block& block) const override;
    /// Whoever signed the genesis block is the first voter: `/chain/voters`.
    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> judge_genesis(
        const ledger::Block& block) const override;
};

/// The chain key that a seal names; BadSeal when it names none.
Result<crypto::PublicKey, ledger::Reject> proposer_of(const ledger::Seal& seal);

/// Whether this key is the only voter of a state: then its seal is its vote, and a block is final once it is durable.
[[nodiscard]] bool is_only_voter(const crypto::PublicKey& key, const state::StateView& view);

/// What `SignedSeal` will say of a block that this key seals: whoever builds one hands it to `build_block`, with
/// `kSignedSealBytes` for the seal.
ledger::ConsensusPart part_of_proposer(const crypto::PublicKey& proposer);

/// The block that a draft becomes in this proposer's hands.
ledger::Block seal_block(ledger::BlockDraft draft, const crypto::SecretKey& proposer);

/// A genesis block: `cluster` is the document, `lock` its owner's script, `proposer` the first voter.
Result<ledger::GenesisBlock, ledger::Reject> seal_genesis(std::string cluster, Bytes lock, Time time,
                                                          const crypto::SecretKey& proposer);

}  // namespace rhizome::consensus
