// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "consensus/electorate.h"
#include "consensus/vote_row.h"
#include "consensus/vote_sum.h"

namespace rhizome::consensus {

/// What the book asks about blocks: answered by whoever keeps them.
class BlockLore {
public:
    virtual ~BlockLore() = default;
    /// The electorate of the state after a block; null while that is not known here.
    [[nodiscard]] virtual const Electorate* electorate_of(const BlockHash& block) const = 0;
    [[nodiscard]] virtual ledger::Trust trust() const = 0;
};

/// Of something that is claimed to be final: one vote of each voter for it, and one from it to the next epoch.
struct ClaimedVotes {
    std::map<MemberKey, Vote, MemberLess> to{};
    std::map<MemberKey, Vote, MemberLess> from{};
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
/// A voter that lost its record votes above all that it may have signed (own_votes.h). Alone it may have a block as
/// source that it sealed as the only voter: that is final by its seal, so v, which made c final or knows who did, seals
/// above c only.
///
/// Only v's own source is used, and v is honest: so votes are counted without asking again whether their sources are
/// justified. That matters, because a node that starts from a final block cannot know what older votes came from.
///
/// Votes are kept and counted by rows, one for each ballot: of a set that comes in what is new is found, checked for
/// contradictions and counted at once.
///
/// **Who contradicts itself counts on both sides**, where nodes may lie (`trust: byzantine`; quorums overlap by more
/// than those can be, so the argument holds). Else nodes that heard different votes of one liar would disagree for ever
/// on what is justified, and where the honest are even on both sides nothing would be final any more. But only beside
/// others: a vote that contradicts makes no row of its own, so that one liar cannot fill the book. Whoever shows a
/// checkpoint justified sends all votes of its row together.
///
/// **Votes from before the newest final checkpoint** decide nothing any more, and are still wanted: a block carries
/// them, and by that alone the chain knows that their voters are there. Whoever votes seldom mostly votes for an epoch
/// that the others have left behind when the next block comes. So `kEpochsCarried` epochs back are kept.
///
/// **Where finals conflict** more have lied than quorums allow for (a copy of a machine beside a cut is enough), and
/// the votes of those who did are among the proof of each side: a book that counts them once never sees the other's. So
/// a claim that something is final which is not on this node's chain is *looked into*: of it all votes are kept, one of
/// each voter for it and one from it, whatever else he has signed. They decide nothing but whether the claim is true.
///
/// Bounded: no more rows in an epoch than members, of the newest `kEpochsKept` epochs with votes; those that show the
/// highest justified and final checkpoints are kept besides. Confined to the core strand.
class VoteBook {
public:
    /// What is justified and final to begin with: genesis, or what a trusted state shows.
    explicit VoteBook(std::uint64_t generation, const Checkpoint& root);

    enum class Taken : std::uint8_t {
        New,          ///< kept; others will want it
        Known,        ///< nothing new
        TooOld,       ///< for an epoch that is no longer kept
        Contradicts,  ///< cannot be honest beside another of the same member: see `Outcome::other`
    };
    struct Outcome {
        Taken taken = Taken::Known;
        std::optional<Vote> other{};  ///< the vote it contradicts
        bool justified_more = false;  ///< something became justified
        bool final_more = false;      ///< something became final
    };
    /// Takes a vote whose signature is good and whose voter is a member.
    Outcome add(const Vote& vote, const BlockLore& lore);

    /// What became of a set of votes with one ballot.
    struct RowOutcome {
        Outcome outcome{};                           ///< `Contradicts` only if all do
        std::vector<VoteGroup::Signed> fresh{};      ///< those that were new and counted, sorted by voter
        std::vector<std::pair<Vote, Vote>> liars{};  ///< those that contradict, each with what it contradicts
    };
    /// Takes votes as `add` takes each of them.
    RowOutcome add_row(const VoteGroup& group, const BlockLore& lore);
    /// Which votes of a set are not in the book with this ballot, or not with a claim that they may show: their indices
    /// in it.
    [[nodiscard]] std::vector<std::uint32_t> missing(const VoteGroup& group) const;

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
    /// Two finals were found to be on different branches. The votes that show it stay.
    void note_conflict(const Checkpoint& other);

    /// Keeps all votes that would show `claimed` final from now on, and those of them that are here.
    void look_into(const Checkpoint& claimed);
    /// Nobody claims it any more.
    void leave(const Checkpoint& claimed);
    [[nodiscard]] const std::map<Checkpoint, ClaimedVotes>& claims() const { return claims_; }
    /// Whether a quorum voted for a claim that is looked into, and a quorum from it to the next epoch.
    [[nodiscard]] bool is_proven(const Checkpoint& claimed, const Electorate& electorate, ledger::Trust trust) const;
    /// Those votes.
    [[nodiscard]] std::vector<VoteGroup> votes_of_claim(const Checkpoint& claimed) const;

    /// The votes that show a checkpoint justified, as a set; empty when they are not kept (the root's).
    [[nodiscard]] std::vector<VoteGroup> votes_for(const Checkpoint& checkpoint) const;
    /// The votes that show it final: those for it, and those from it to the epoch after. Not in the order of a set.
    [[nodiscard]] std::vector<VoteGroup> votes_final(const Checkpoint& checkpoint) const;
    /// All votes kept with a target epoch from `first` on, by epoch.
    [[nodiscard]] std::vector<VoteGroup> votes_since(Epoch first) const;
    /// Targets of votes whose blocks were not judged here yet.
    [[nodiscard]] const std::map<BlockHash, std::set<Checkpoint>>& unsettled() const { return waiting_; }
    /// Whether the votes for it would be enough for this electorate: for choosing what to look at, never for deciding.
    [[nodiscard]] bool looks_justified(const Checkpoint& checkpoint, const Electorate& electorate,
                                       ledger::Trust trust) const;
    /// The vote of whoever's key begins so.
    [[nodiscard]] std::optional<Vote> vote_of(std::uint64_t short_voter, Epoch epoch) const;
    /// Votes for it are not kept any more: no block could carry them.
    [[nodiscard]] bool is_past(Epoch epoch) const;
    /// How many members voted in an epoch, as far as is known.
    [[nodiscard]] std::size_t votes_in(Epoch epoch) const;

    /// Of the newest epochs with votes, newest first; the rest is zero.
    [[nodiscard]] VoteSums sums() const;
    [[nodiscard]] std::uint64_t sum_of(Epoch epoch) const;

    /// A recovery began a new generation from `root`: older votes mean nothing any more.
    void begin_generation(std::uint64_t generation, const Checkpoint& root);
    /// Takes what a chain shows to be final (start from a snapshot, a block that carries the proof).
    void trust_final(const Checkpoint& checkpoint);

    /// Forgets epochs before those kept, and those that no block could carry votes of.
    void tidy();
    [[nodiscard]] std::size_t size() const { return size_; }

    /// 128 s at four epochs a second: longer than any vote takes to arrive, short enough to hold 300 members' in 10 MB.
    static constexpr std::size_t kEpochsKept = 512;
    /// Of the epochs before the newest final one: three heartbeats' worth and a little, as old as a vote that its maker
    /// still signs may be (`kVoteHeartbeatsMax`), and no more than blocks may carry (`records::Ends::kKept`).
    static constexpr std::uint64_t kEpochsCarried = 64;

private:
    using Rows = std::vector<const VoteRow*>;

    [[nodiscard]] std::vector<std::uint32_t> missing_in_rows(const VoteGroup& group) const;
    void note_claimed(const VoteGroup& group);

    [[nodiscard]] const VoteRow* row_of(const Ballot& ballot) const;
    VoteRow& make_row(const Ballot& ballot);
    /// Takes those out of `votes` that contradict what is here.
    void find_liars(const Ballot& ballot, std::vector<VoteGroup::Signed>& votes, RowOutcome& row) const;
    Outcome settle(const Checkpoint& target, const BlockLore& lore);
    bool try_justify(const Checkpoint& checkpoint, const BlockLore& lore);
    bool try_finalise(const Checkpoint& checkpoint, const BlockLore& lore);
    [[nodiscard]] Rows rows_for(const Checkpoint& checkpoint) const;
    /// Votes from it to the next epoch.
    [[nodiscard]] Rows rows_from(const Checkpoint& checkpoint) const;

    std::uint64_t generation_;
    std::map<Epoch, std::vector<VoteRow>> votes_;        ///< by target epoch
    std::map<BlockHash, std::set<Checkpoint>> waiting_;  ///< targets whose electorate was not known
    std::set<Checkpoint> justified_;
    Checkpoint final_;
    std::optional<Checkpoint> conflict_;
    std::map<Checkpoint, ClaimedVotes> claims_;
    std::size_t size_ = 0;
};

}  // namespace rhizome::consensus
