// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "base/codec.h"
#include "consensus/vote.h"
#include "ledger/block.h"
#include "state/proof.h"
#include "state/view.h"

/// What a full node shows to one that has only headers: docs/spec/chain.md section 4, *Proofs for light nodes*.
namespace rhizome::follow {

/// A record of the chain's own with the way to it from the state root. Where nothing stands `bytes` is empty.
struct ProvenRecord {
    state::Proof proof{};
    Bytes bytes{};
    friend bool operator==(const ProvenRecord&, const ProvenRecord&) = default;
};

/// That a block is final: the block without its transactions, who decides in its own state, and their votes.
///
/// Whoever has checked it knows that a quorum of the voters stood behind the block, and with the block behind its state
/// root; what the state holds is then shown by state proofs. Without votes it shows only who decides (a block that a
/// person vouches for, or one that its only voter sealed).
struct FinalityProof {
    ledger::ChainId chain{};
    ledger::Header header{};
    std::array<std::uint8_t, 64> signature{};  ///< the proposer's
    ledger::Seal seal{};
    consensus::Epoch epoch{};              ///< in which the block is a checkpoint
    std::vector<consensus::Vote> votes{};  ///< for the checkpoint, and from it to the epoch after
    /// In this order: /chain/voters, /chain/next, /chain/electorate, /chain/parameters.
    std::array<ProvenRecord, 4> records{};
    friend bool operator==(const FinalityProof&, const FinalityProof&) = default;
};
/// The paths of `FinalityProof::records`.
std::array<state::Path, 4> finality_records();

/// `view` is the state after the header's block.
FinalityProof prove_finality(const ledger::ChainId& chain, const ledger::Header& header,
                             const std::array<std::uint8_t, 64>& signature, ledger::Seal seal,
                             const state::StateView& view, consensus::Epoch epoch, std::vector<consensus::Vote> votes);

/// All that stands below a prefix in the state of a block.
struct SubtreeProof {
    ledger::ChainId chain{};
    ledger::Header header{};
    state::Prefix prefix = state::Prefix::everything();
    state::PrefixProof proof{};
    /// The entries themselves, in order: all of them, or those that were written after a height that the asker named.
    std::vector<state::EntryPtr> entries{};
};
/// Nothing when more stands there than a proof may have: a narrower prefix is to be asked for. Records of the chain's
/// own, which do not say when they were written, always come along.
std::optional<SubtreeProof> prove_subtree(const ledger::ChainId& chain, const ledger::Header& header,
                                          const state::StateView& view, const state::Prefix& prefix,
                                          std::optional<ledger::Height> written_after);

/// What a light node holds at most for one prefix: 65,536 entries take about 30 MB with their documents.
inline constexpr std::size_t kSubtreeEntriesMax = 65'536;
inline constexpr std::size_t kSubtreeBytesMax = 32u << 20;  ///< of a whole proof
/// 20,000 votes of 97 bytes and some, four proofs, a seal.
inline constexpr std::size_t kFinalityBytesMax = 8u << 20;

Bytes encode(const FinalityProof& proof);
Result<FinalityProof, DecodeFault> decode_finality_proof(ByteView bytes);
Bytes encode(const SubtreeProof& proof);
Result<SubtreeProof, DecodeFault> decode_subtree_proof(ByteView bytes);

}  // namespace rhizome::follow
