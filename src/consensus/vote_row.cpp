// SPDX-License-Identifier: Apache-2.0
#include "consensus/vote_row.h"

#include <algorithm>

namespace rhizome::consensus {
namespace {

/// Spreads the bits of a number (splitmix64).
std::uint64_t spread(std::uint64_t word) {
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9;
    word = (word ^ (word >> 27)) * 0x94d049bb133111eb;
    return word ^ (word >> 31);
}

/// The last eight bytes, little-endian: the first ones of a block's hash are zero where that took work.
std::uint64_t last_word(ByteView bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + bytes.size() - sizeof word, sizeof word);
    return word;
}

}  // namespace

VoteRow::VoteRow(const Ballot& ballot)
    : ballot_(ballot),
      start_(spread(last_word(ballot.target.block.view()) ^
                    spread(ballot.source.epoch.number() ^ spread(ballot.target.epoch.number())))) {}

VoteRow::Index::const_iterator VoteRow::lower_bound(Index::const_iterator from, std::uint64_t name,
                                                    const MemberKey& voter) const {
    // Sets that come are mostly as dense as the row: the next key is near. A sparse one leaps.
    std::ptrdiff_t step = 1;
    auto low = from;
    while (index_.end() - low > step && is_before(low[step], name, voter)) {
        low += step;
        step *= 2;
    }
    const auto high = index_.end() - low > step ? low + step + 1 : index_.end();
    return std::partition_point(low, high, [&](const auto& entry) { return is_before(entry, name, voter); });
}

const VoteGroup::Signed* VoteRow::find(const MemberKey& voter) const {
    const std::uint64_t name = short_key(voter);
    const auto at = lower_bound(index_.begin(), name, voter);
    return is_at(at, name, voter) ? &votes_[at->second] : nullptr;
}

const VoteGroup::Signed* VoteRow::find(std::uint64_t short_voter) const {
    const auto at = std::lower_bound(index_.begin(), index_.end(), std::pair{short_voter, std::uint32_t{0}});
    return at == index_.end() || at->first != short_voter ? nullptr : &votes_[at->second];
}

std::vector<std::uint32_t> VoteRow::missing(std::span<const Signed> votes) const {
    std::vector<std::uint32_t> indices;
    auto at = index_.begin();
    for (std::size_t i = 0; i < votes.size(); ++i) {
        const std::uint64_t name = short_key(votes[i].voter);
        at = lower_bound(at, name, votes[i].voter);
        if (!is_at(at, name, votes[i].voter)) indices.push_back(static_cast<std::uint32_t>(i));
    }
    return indices;
}

void VoteRow::add(std::span<const Signed> votes) {
    // From behind, so that nothing is moved twice.
    const std::size_t before = index_.size();
    const auto first_place = static_cast<std::uint32_t>(votes_.size());
    votes_.insert(votes_.end(), votes.begin(), votes.end());
    index_.resize(before + votes.size());
    for (const Signed& vote : votes) sum_ ^= spread(start_ ^ last_word(vote.voter));
    std::size_t out = index_.size();
    std::size_t old = before;
    for (std::size_t i = votes.size(); i-- > 0;) {
        const std::uint64_t name = short_key(votes[i].voter);
        while (old > 0 && !is_before(index_[old - 1], name, votes[i].voter)) index_[--out] = index_[--old];
        index_[--out] = {name, first_place + static_cast<std::uint32_t>(i)};
    }
}

VoteGroup VoteRow::group() const {
    VoteGroup group{.ballot = ballot_};
    group.votes.reserve(votes_.size());
    each([&](std::uint32_t place) { group.votes.push_back(votes_[place]); });
    return group;
}

}  // namespace rhizome::consensus
