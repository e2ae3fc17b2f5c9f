// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "consensus/attestations.h"

namespace rhizome::consensus {

/// Votes that share a ballot, where they are collected: in a book, or on their way to others.
///
/// With hundreds of members whole sets of votes come in, most of them several times over several links. What is new of
/// one is found by walking it beside an index of eight bytes a member, in the order of the keys; no vote is looked for
/// on its own, and none is touched that is here already.
///
/// Places count the votes as they came and never change. Confined to one thread.
class VoteRow {
public:
    using Signed = VoteGroup::Signed;
    explicit VoteRow(const Ballot& ballot);

    [[nodiscard]] const Ballot& ballot() const { return ballot_; }
    [[nodiscard]] std::size_t size() const { return votes_.size(); }
    [[nodiscard]] const Signed& at(std::size_t place) const { return votes_[place]; }
    [[nodiscard]] const Signed* find(const MemberKey& voter) const;
    /// The vote of whoever's key begins so.
    [[nodiscard]] const Signed* find(std::uint64_t short_voter) const;

    /// Which of `votes` (sorted by voter, none twice, as all sets are) are not here: their indices in it.
    [[nodiscard]] std::vector<std::uint32_t> missing(std::span<const Signed> votes) const;
    /// Calls `see(place)` for each of `votes` that is here.
    template <class See>
    void each_known(std::span<const Signed> votes, See see) const;
    /// Takes votes that are `missing`, in the same order.
    void add(std::span<const Signed> votes);

    /// Places in the order of the voters' keys.
    template <class See>
    void each(See see) const {
        for (const auto& [name, place] : index_) see(place);
    }
    /// The same for everybody who has the same votes, in whatever order they came; for others it differs, unless
    /// somebody wants it not to, who only keeps his own votes from being passed on by it.
    [[nodiscard]] std::uint64_t sum() const { return sum_; }
    /// As a set.
    [[nodiscard]] VoteGroup group() const;

private:
    using Index = std::vector<std::pair<std::uint64_t, std::uint32_t>>;  ///< short key, place; in the order of the keys
    /// Whether the entry's key comes before this one: keys that begin alike are looked at whole.
    [[nodiscard]] bool is_before(const Index::value_type& entry, std::uint64_t name, const MemberKey& voter) const {
        return entry.first != name ? entry.first < name : MemberLess{}(votes_[entry.second].voter, voter);
    }
    [[nodiscard]] Index::const_iterator lower_bound(Index::const_iterator from, std::uint64_t name,
                                                    const MemberKey& voter) const;
    [[nodiscard]] bool is_at(Index::const_iterator entry, std::uint64_t name, const MemberKey& voter) const {
        return entry != index_.end() && entry->first == name && votes_[entry->second].voter == voter;
    }

    Ballot ballot_;
    std::vector<Signed> votes_;
    Index index_;
    std::uint64_t start_ = 0;  ///< of the ballot
    std::uint64_t sum_ = 0;
};

template <class See>
void VoteRow::each_known(std::span<const Signed> votes, See see) const {
    auto at = index_.begin();
    for (const Signed& vote : votes) {
        const std::uint64_t name = short_key(vote.voter);
        at = lower_bound(at, name, vote.voter);
        if (is_at(at, name, vote.voter)) see(at->second);
    }
}

}  // namespace rhizome::consensus
