// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "consensus/electorate.h"
#include "consensus/vote.h"

namespace rhizome::consensus {

/// What the book asks about blocks: answered by whoever keeps them.
class BlockLore {
public:
    virtual ~BlockLore() = default;
    /// The electorate of the state after a block; null while that is not known here.
    [[nodiscard]] virtual const Electorate* electorate_of(const BlockHash& block) const = 0;
    [[nodiscard]] virtual ledger::Trust trust() const = 0;
};

/// All votes this node has heard, and what they show.
///
/// (t, k) is **justified** when a quorum of t's electorate voted for it. A justified (c, k) is **final**, with its
/// ancestors, when a quorum of c's electorate voted with (c, k) as source and a target in epoch k + 1.
///
/// **Why no two finals conflict.** Every honest member signs once per target epoch, never from a source below one it
/// signed, and only from a source that it knows to be justified and an ancestor of its target. Two quorums share an
/// honest member (quorums of different electorates too: electorate.h). Say (c, k) is final.
/// - No other block is justified in epoch k: the shared member would have signed twice in it.
/// - Every (t, m) justified with m > k descends from c, by induction over m. Let v be the member shared by those who
///   made c final and those who justified t. If m = k + 1, v's one vote in that epoch has source (c, k), so t descends
///   from c. If m > k + 1, v signed for t after it signed from (c, k), so its source (s, e) has e ≥ k, and it is
///   justified: e = k means s = c, as shown; e > k means that s descends from c, by induction. Either way t does.
///
/// Only v's own source is used, and v is honest: so votes are counted without asking again whether their sources are
/// justified. That matters, because a node that starts from a final block cannot know what older votes came from.
///
/// Bounded: one vote per member and epoch, of the newest `kEpochsKept` epochs with votes; those that show the highest
/// justified and final checkpoints are kept besides. Confined to the core strand.
class VoteBook {
public:
    /// What is justified and final to begin with: genesis, or what a trusted state shows.
    explicit VoteBook(std::uint64_t generation, const Checkpoint& root);

    enum class Taken : std::uint8_t {
        New,          ///< kept; others will want it
        Known,        ///< nothing new
        TooOld,       ///< for an epoch that is decided or no longer kept
        Contradicts,  ///< cannot be honest beside another of the same member: see `Outcome::other`
    };
    struct Outcome {
        Taken taken = Taken::Known;
        std::optional<Vote> other{};  ///< the vote it contradicts
        bool justified_more = false;  ///< something became justified
        bool final_more = false;      ///< something became final
    };
    /// Takes a vote whose signature is good and whose voter is a member. A contradicting vote is not counted.
    Outcome add(const Vote& vote, const BlockLore& lore);
    /// The electorate of `block` is known now: counts the votes for it that came before it.
    Outcome block_known(const BlockHash& block, const BlockLore& lore);

    [[nodiscard]] bool is_justified(const Checkpoint& checkpoint) const { return justified_.contains(checkpoint); }
    /// Justified ones in the order of their epochs. The root is one of them.
    [[nodiscard]] const std::set<Checkpoint>& justified() const { return justified_; }
    /// The newest final one.
    [[nodiscard]] const Checkpoint& final_checkpoint() const { return final_; }
    [[nodiscard]] std::uint64_t generation() const { return generation_; }
    /// Another final checkpoint than the chain that was final before allows: more lied than the quorum allows for.
    [[nodiscard]] const std::optional<Checkpoint>& conflicting_final() const { return conflict_; }
    /// Two finals were found to be on different branches.
    void note_conflict(const Checkpoint& other) { conflict_ = other; }

    /// The votes that show a checkpoint justified; empty when they are not kept (the root's).
    [[nodiscard]] std::vector<Vote> votes_for(const Checkpoint& checkpoint) const;
    /// The votes that show it final: those for it, and those from it to the epoch after.
    [[nodiscard]] std::vector<Vote> votes_final(const Checkpoint& checkpoint) const;
    /// All votes kept with a target epoch from `first` on, by epoch, then voter.
    [[nodiscard]] std::vector<Vote> votes_since(Epoch first) const;
    /// Targets of votes whose blocks were not judged here yet.
    [[nodiscard]] const std::map<BlockHash, std::set<Checkpoint>>& unsettled() const { return waiting_; }
    /// Whether the votes for it would be enough for this electorate: for choosing what to look at, never for deciding.
    [[nodiscard]] bool looks_justified(const Checkpoint& checkpoint, const Electorate& electorate,
                                       ledger::Trust trust) const;
    [[nodiscard]] const Vote* vote_of(const MemberKey& voter, Epoch epoch) const;
    /// The vote of whoever's key begins so.
    [[nodiscard]] const Vote* vote_of(std::uint64_t short_voter, Epoch epoch) const;
    /// How many members voted in an epoch, as far as is known.
    [[nodiscard]] std::size_t votes_in(Epoch epoch) const;

    /// A recovery began a new generation from `root`: older votes mean nothing any more.
    void begin_generation(std::uint64_t generation, const Checkpoint& root);
    /// Takes what a chain shows to be final (start from a snapshot, a block that carries the proof).
    void trust_final(const Checkpoint& checkpoint);

    /// Forgets epochs before those kept and before the newest final one's.
    void tidy();
    [[nodiscard]] std::size_t size() const { return size_; }

    /// 128 s at four epochs a second: longer than any vote takes to arrive, short enough to hold 300 members' in 10 MB.
    static constexpr std::size_t kEpochsKept = 512;

private:
    /// The votes of one epoch. Looked into for every vote that arrives, and most arrive several times: the index is one
    /// piece of memory that says whether a vote is there.
    struct Line {
        std::vector<Vote> votes{};                                     ///< as they came
        std::vector<std::pair<std::uint64_t, std::uint32_t>> index{};  ///< short key, place; in the order of the keys
        [[nodiscard]] const Vote* find(const MemberKey& voter) const;
        [[nodiscard]] const Vote* find(std::uint64_t short_voter) const;
        void add(const Vote& vote);
    };

    Outcome settle(const Checkpoint& target, const BlockLore& lore);
    bool try_justify(const Checkpoint& checkpoint, const BlockLore& lore);
    bool try_finalise(const Checkpoint& checkpoint, const BlockLore& lore);
    [[nodiscard]] const Vote* contradicted(const Vote& vote) const;

    std::uint64_t generation_;
    std::map<Epoch, Line> votes_;                        ///< by target epoch
    std::map<Checkpoint, std::vector<MemberKey>> for_;   ///< who voted for it, sorted
    std::map<Checkpoint, std::vector<MemberKey>> from_;  ///< who voted from it to the next epoch, sorted
    std::map<BlockHash, std::set<Checkpoint>> waiting_;  ///< targets whose electorate was not known
    std::set<Checkpoint> justified_;
    Checkpoint final_;
    std::optional<Checkpoint> conflict_;
    std::size_t size_ = 0;
};

}  // namespace rhizome::consensus
