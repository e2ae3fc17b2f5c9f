// SPDX-License-Identifier: Apache-2.0
#include "core/detail/vote_relay.h"

#include <algorithm>
#include <bit>

namespace rhizome::core::detail {
namespace {

constexpr std::size_t kWord = 64;

void set(std::vector<std::uint64_t>& bits, std::size_t place) {
    bits[place / kWord] |= std::uint64_t{1} << (place % kWord);
}
bool has(const std::vector<std::uint64_t>* bits, std::size_t place) {
    return bits != nullptr && place / kWord < bits->size() && ((*bits)[place / kWord] >> (place % kWord) & 1) != 0;
}

}  // namespace

VoteRelay::Bits& VoteRelay::Row::note(PeerId peer) {
    Bits& bits = *known.try_emplace(peer, {}).first;
    bits.resize((votes.size() + kWord - 1) / kWord);
    return bits;
}

void VoteRelay::Row::note_heard(PeerId peer) {
    const auto at = std::lower_bound(heard.begin(), heard.end(), peer);
    if (at == heard.end() || *at != peer) heard.insert(at, peer);
}

bool VoteRelay::Row::has_heard(PeerId peer) const { return std::binary_search(heard.begin(), heard.end(), peer); }

std::size_t VoteRelay::Row::lacking(PeerId peer) const {
    std::size_t have = 0;
    if (const Bits* bits = known.find(peer))
        for (const std::uint64_t word : *bits) have += static_cast<std::size_t>(std::popcount(word));
    return votes.size() - have;
}

VoteRelay::Place VoteRelay::Row::place(PeerId peer) const {
    return {votes.ballot(), since, last, has_heard(peer), lacking(peer)};
}

void VoteRelay::add(const consensus::Ballot& ballot, std::span<const Signed> votes, PeerId from, Time now) {
    if (votes.empty()) return;
    Row& row = rows_.try_emplace(ballot, Row{.votes = consensus::VoteRow{ballot}, .since = now}).first->second;
    row.last = now;
    const std::size_t before = row.votes.size();
    const auto missing = row.votes.missing(votes);
    if (missing.size() == votes.size()) {
        row.votes.add(votes);
    } else {
        // The book had forgotten some that are still on their way.
        std::vector<Signed> rest;
        for (const std::uint32_t i : missing) rest.push_back(votes[i]);
        row.votes.add(rest);
    }
    if (from == PeerId{}) return;
    row.note_heard(from);
    Bits& bits = row.note(from);
    for (std::size_t place = before; place < row.votes.size(); ++place) set(bits, place);
}

void VoteRelay::note_heard(const consensus::VoteGroup& group, PeerId peer) {
    const auto row = rows_.find(group.ballot);
    if (row == rows_.end()) return;
    row->second.note_heard(peer);
    Bits& bits = row->second.note(peer);
    row->second.votes.each_known(group.votes, [&](std::uint32_t place) { set(bits, place); });
}

void VoteRelay::note_heard(consensus::Epoch epoch, std::uint64_t short_voter, PeerId peer) {
    for (auto& [ballot, row] : rows_) {
        if (ballot.target.epoch != epoch) continue;
        const Signed* vote = row.votes.find(short_voter);
        if (vote == nullptr) continue;
        row.note_heard(peer);
        set(row.note(peer), static_cast<std::size_t>(vote - &row.votes.at(0)));
    }
}

void VoteRelay::note_sent(std::span<const consensus::VoteGroup> groups, PeerId peer) {
    for (const consensus::VoteGroup& group : groups) {
        const auto row = rows_.find(group.ballot);
        if (row == rows_.end()) continue;
        Bits& bits = row->second.note(peer);
        row->second.votes.each_known(group.votes, [&](std::uint32_t place) { set(bits, place); });
    }
}

void VoteRelay::note_same(consensus::Epoch epoch, PeerId peer) {
    for (auto& [ballot, row] : rows_) {
        if (ballot.target.epoch != epoch) continue;
        Bits& bits = row.note(peer);
        for (std::size_t place = 0; place < row.votes.size(); ++place) set(bits, place);
    }
}

consensus::Epoch VoteRelay::newest() const {
    return rows_.empty() ? consensus::Epoch{} : rows_.rbegin()->first.target.epoch;
}

std::size_t VoteRelay::lacking(PeerId peer, const Pick& pick) const {
    std::size_t votes = 0;
    for (const auto& [ballot, row] : rows_)
        if (const Place place = row.place(peer); place.lacks > 0 && pick(place)) votes += place.lacks;
    return votes;
}

std::vector<consensus::VoteGroup> VoteRelay::for_peer(PeerId peer, std::size_t most, const Pick& pick) const {
    std::vector<consensus::VoteGroup> groups;
    for (const auto& [ballot, row] : rows_) {
        const Place place = row.place(peer);
        const std::size_t lacks = std::min(place.lacks, most);
        if (lacks == 0 || !pick(place)) continue;
        most -= lacks;
        const Bits* bits = row.known.find(peer);
        auto& votes = groups.emplace_back(consensus::VoteGroup{.ballot = ballot}).votes;
        votes.reserve(lacks);
        const consensus::VoteRow& all = row.votes;
        all.each([&](std::uint32_t at) {
            if (votes.size() < lacks && !has(bits, at)) votes.push_back(all.at(at));
        });
    }
    std::sort(groups.begin(), groups.end(),
              [](const auto& left, const auto& right) { return left.ballot < right.ballot; });
    return groups;
}

std::vector<std::uint64_t> VoteRelay::pattern(PeerId peer) const {
    std::vector<std::uint64_t> all;
    for (const auto& [ballot, row] : rows_) {
        const std::size_t words = (row.votes.size() + kWord - 1) / kWord;
        const Bits* bits = row.known.find(peer);
        for (std::size_t i = 0; i < words; ++i) all.push_back(bits != nullptr && i < bits->size() ? (*bits)[i] : 0);
    }
    return all;
}

void VoteRelay::tidy(std::span<const PeerId> peers, Time until) {
    std::erase_if(rows_, [&](const auto& one) {
        return one.second.since <= until &&
               std::all_of(peers.begin(), peers.end(), [&](PeerId peer) { return one.second.lacking(peer) == 0; });
    });
}

void VoteRelay::forget(PeerId peer) {
    for (auto& [ballot, row] : rows_) {
        row.known.erase(peer);
        std::erase(row.heard, peer);
    }
}

void VoteRelay::reset_times(Time now) {
    for (auto& [ballot, row] : rows_) {
        row.since = std::min(row.since, now);
        row.last = std::min(row.last, now);
    }
}

}  // namespace rhizome::core::detail
