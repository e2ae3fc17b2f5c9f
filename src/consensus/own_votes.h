// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "consensus/attestations.h"
#include "ledger/chain_records.h"

namespace rhizome::consensus {

/// What this node has signed, as far as it must never contradict it: on disk before anything signed leaves.
///
/// It signs a ballot only when the target epoch is above that of every ballot it signed and the source epoch not below
/// (within one recovery generation). With the votes that justify its newest source beside it, a node that restarts
/// still knows that source to be justified. It seals at most one block on a parent.
///
/// Without its record (a new disk, a restored backup) it knows nothing of what it signed, and signs nothing until one
/// of these holds:
/// - a checkpoint is justified in an epoch after its start: every ballot it may have signed before has a target, and so
///   a source, in an earlier epoch; from then on it votes above that checkpoint only;
/// - it is the only voter and seals a block: its seal is its vote, so its later ballots may have that block as source;
/// - a recovery names the id of this record (`begin_anew`). It was drawn after the loss, so the generation began later,
///   and nothing was signed in it by any directory but this one, if it is the only one: so its owner says.
class OwnVotes {
public:
    OwnVotes() = default;
    /// From the record on disk. `complete`: the disk knows of no older record that was lost.
    static Result<OwnVotes, DecodeFault> decode(ByteView record, bool complete);
    [[nodiscard]] Bytes encode() const;

    [[nodiscard]] bool is_complete() const { return complete_; }
    /// A checkpoint was justified in `epoch`, after this node started: it may vote again, above it.
    void regain(std::uint64_t generation, Epoch epoch);
    /// What was signed before is not known, and was all of an earlier generation than this one. False when the record
    /// says otherwise.
    bool begin_anew(std::uint64_t generation);
    /// Another directory signs with the same key: this record no longer says all that was signed.
    void lose() { complete_ = false; }

    [[nodiscard]] bool may_sign(const Ballot& ballot) const;
    /// `justification` are the votes that justify the ballot's source.
    void note_signed(const Ballot& ballot, std::vector<VoteGroup> justification);
    [[nodiscard]] const std::vector<VoteGroup>& justification() const { return justification_; }
    [[nodiscard]] Epoch last_target() const { return target_; }
    [[nodiscard]] Epoch last_source() const { return source_; }
    [[nodiscard]] std::uint64_t generation() const { return generation_; }

    [[nodiscard]] bool has_sealed_on(const BlockHash& parent) const;
    void note_sealed(const BlockHash& parent);

    friend bool operator==(const OwnVotes&, const OwnVotes&) = default;

private:
    bool complete_ = true;
    std::uint64_t generation_ = 0;
    Epoch target_{};  ///< highest signed
    Epoch source_{};  ///< highest signed
    std::vector<VoteGroup> justification_;
    std::vector<BlockHash> sealed_on_;  ///< the last ones, oldest first
};

/// Parents are left behind quickly: a node that returns to one so old has kept its own block on it.
inline constexpr std::size_t kSealedParentsKept = 64;

}  // namespace rhizome::consensus
