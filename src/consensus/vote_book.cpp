// SPDX-License-Identifier: Apache-2.0
#include "consensus/vote_book.h"

#include <algorithm>

#include "base/safety_rule.h"

namespace rhizome::consensus {
namespace {

bool reaches_next(const Ballot& ballot) {
    return ballot.target.epoch.number() - ballot.source.epoch.number() == 1 || !holds(SafetyRule::NextEpoch);
}

std::size_t count(std::span<const VoteRow> rows) {
    std::size_t votes = 0;
    for (const VoteRow& row : rows) votes += row.size();
    return votes;
}

/// Whether those who voted in these rows are a quorum.
bool have_quorum(std::span<const VoteRow* const> rows, const Electorate& electorate, ledger::Trust trust) {
    // Most votes come before there are enough of them: the count alone says so.
    std::size_t votes = 0;
    for (const VoteRow* row : rows) votes += row->size();
    if (votes < quorum_of(electorate.voters.size(), trust)) return false;
    std::vector<MemberKey> keys;
    keys.reserve(votes);
    for (const VoteRow* row : rows) row->each([&](std::uint32_t place) { keys.push_back(row->at(place).voter); });
    if (rows.size() > 1) {
        std::sort(keys.begin(), keys.end(), MemberLess{});
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    }
    return electorate.has_quorum(keys, trust);
}

/// Which of a claim's votes those with this ballot belong to: a pointer for each.
template <class Votes>
auto votes_that_show(const Ballot& ballot, const Checkpoint& claimed, Votes& votes) {
    std::vector<decltype(&votes.to)> belong;
    if (ballot.target == claimed) belong.push_back(&votes.to);
    if (ballot.source == claimed && ballot.target.epoch == claimed.epoch + 1) belong.push_back(&votes.from);
    return belong;
}

Vote vote_in(const VoteRow& row, const VoteGroup::Signed& one) { return {one.voter, row.ballot(), one.signature}; }

/// In the order of sets.
std::vector<VoteGroup> sorted(std::vector<VoteGroup> groups) {
    std::sort(groups.begin(), groups.end(),
              [](const VoteGroup& left, const VoteGroup& right) { return left.ballot < right.ballot; });
    return groups;
}

}  // namespace

VoteBook::VoteBook(std::uint64_t generation, const Checkpoint& root) : generation_(generation), final_(root) {
    justified_.insert(root);
}

const VoteRow* VoteBook::row_of(const Ballot& ballot) const {
    const auto line = votes_.find(ballot.target.epoch);
    if (line == votes_.end()) return nullptr;
    for (const VoteRow& row : line->second)
        if (row.ballot() == ballot) return &row;
    return nullptr;
}

VoteRow& VoteBook::make_row(const Ballot& ballot) {
    std::vector<VoteRow>& line = votes_[ballot.target.epoch];
    for (VoteRow& row : line)
        if (row.ballot() == ballot) return row;
    return line.emplace_back(ballot);
}

std::vector<std::uint32_t> VoteBook::missing(const VoteGroup& group) const {
    auto indices = missing_in_rows(group);
    if (claims_.empty() || group.ballot.generation != generation_) return indices;
    const std::size_t in_rows = indices.size();
    for (const auto& [claimed, votes] : claims_)
        for (const auto* known : votes_that_show(group.ballot, claimed, votes))
            for (std::uint32_t i = 0; i < group.votes.size(); ++i)
                if (!known->contains(group.votes[i].voter)) indices.push_back(i);
    if (indices.size() == in_rows) return indices;
    std::sort(indices.begin(), indices.end());
    indices.erase(std::unique(indices.begin(), indices.end()), indices.end());
    return indices;
}

std::vector<std::uint32_t> VoteBook::missing_in_rows(const VoteGroup& group) const {
    if (const VoteRow* row = row_of(group.ballot)) return row->missing(group.votes);
    return VoteRow{group.ballot}.missing(group.votes);
}

void VoteBook::find_liars(const Ballot& ballot, std::vector<VoteGroup::Signed>& votes, RowOutcome& outcome) const {
    // Same epoch, or enclosed by these votes: targets in (source, target]; or around them.
    for (auto line = votes_.upper_bound(ballot.source.epoch); line != votes_.end(); ++line)
        for (const VoteRow& row : line->second) {
            if (!contradiction(ballot, row.ballot())) continue;
            std::erase_if(votes, [&](const VoteGroup::Signed& one) {
                const VoteGroup::Signed* other = row.find(one.voter);
                if (other == nullptr) return false;
                outcome.liars.emplace_back(Vote{one.voter, ballot, one.signature}, vote_in(row, *other));
                return true;
            });
        }
}

VoteBook::Outcome VoteBook::add(const Vote& vote, const BlockLore& lore) {
    RowOutcome row = add_row({.ballot = vote.ballot, .votes = {{vote.voter, vote.signature}}}, lore);
    if (!row.liars.empty()) row.outcome.other = row.liars.front().second;
    return row.outcome;
}

VoteBook::RowOutcome VoteBook::add_row(const VoteGroup& group, const BlockLore& lore) {
    RowOutcome row;
    const Ballot& ballot = group.ballot;
    const Epoch epoch = ballot.target.epoch;
    if (ballot.generation != generation_) {
        row.outcome.taken = Taken::TooOld;
        return row;
    }
    note_claimed(group);
    std::vector<VoteGroup::Signed> votes;
    for (const std::uint32_t i : missing_in_rows(group)) votes.push_back(group.votes[i]);
    if (votes.empty()) return row;
    find_liars(ballot, votes, row);
    const bool all_lie = votes.empty();
    // Where quorums allow for liars, one counts wherever somebody else has voted as well.
    if (lore.trust() == ledger::Trust::Byzantine && (!all_lie || row_of(ballot) != nullptr)) {
        for (const auto& [vote, other] : row.liars) votes.push_back({vote.voter, vote.signature});
        std::sort(votes.begin(), votes.end(), [](const VoteGroup::Signed& left, const VoteGroup::Signed& right) {
            return MemberLess{}(left.voter, right.voter);
        });
    }
    if (votes.empty()) {
        row.outcome.taken = Taken::Contradicts;
        return row;
    }
    if (is_past(epoch) || (votes_.size() >= kEpochsKept && epoch < votes_.begin()->first)) {
        row.outcome.taken = Taken::TooOld;
        return row;
    }
    make_row(ballot).add(votes);
    size_ += votes.size();
    row.fresh = std::move(votes);
    row.outcome = settle(ballot.target, lore);
    if (reaches_next(ballot)) row.outcome.final_more |= try_finalise(ballot.source, lore);
    row.outcome.taken = all_lie ? Taken::Contradicts : Taken::New;
    if (votes_.size() > kEpochsKept) tidy();
    return row;
}

VoteBook::Outcome VoteBook::settle(const Checkpoint& target, const BlockLore& lore) {
    Outcome outcome;
    if (target.epoch < final_.epoch || justified_.contains(target)) return outcome;
    if (lore.electorate_of(target.block) == nullptr) {
        waiting_[target.block].insert(target);
        return outcome;
    }
    if (try_justify(target, lore)) {
        outcome.justified_more = true;
        outcome.final_more = try_finalise(target, lore);
    }
    return outcome;
}

VoteBook::Outcome VoteBook::block_known(const BlockHash& block, const BlockLore& lore) {
    Outcome all;
    const auto waiting = waiting_.find(block);
    if (waiting == waiting_.end()) return all;
    const std::set<Checkpoint> targets = std::move(waiting->second);
    waiting_.erase(waiting);
    for (const Checkpoint& target : targets) {
        const Outcome one = settle(target, lore);
        all.justified_more |= one.justified_more;
        all.final_more |= one.final_more;
    }
    return all;
}

VoteBook::Rows VoteBook::rows_for(const Checkpoint& checkpoint) const {
    Rows rows;
    if (const auto line = votes_.find(checkpoint.epoch); line != votes_.end())
        for (const VoteRow& row : line->second)
            if (row.ballot().target == checkpoint) rows.push_back(&row);
    return rows;
}

VoteBook::Rows VoteBook::rows_from(const Checkpoint& checkpoint) const {
    Rows rows;
    for (auto line = votes_.upper_bound(checkpoint.epoch); line != votes_.end(); ++line) {
        if (line->first > checkpoint.epoch + 1 && holds(SafetyRule::NextEpoch)) break;
        for (const VoteRow& row : line->second)
            if (row.ballot().source == checkpoint) rows.push_back(&row);
    }
    return rows;
}

bool VoteBook::try_justify(const Checkpoint& checkpoint, const BlockLore& lore) {
    if (justified_.contains(checkpoint)) return false;
    const Electorate* electorate = lore.electorate_of(checkpoint.block);
    if (electorate == nullptr || electorate->generation != generation_) return false;
    if (!have_quorum(rows_for(checkpoint), *electorate, lore.trust())) return false;
    justified_.insert(checkpoint);
    return true;
}

bool VoteBook::looks_justified(const Checkpoint& checkpoint, const Electorate& electorate, ledger::Trust trust) const {
    return have_quorum(rows_for(checkpoint), electorate, trust);
}

bool VoteBook::try_finalise(const Checkpoint& checkpoint, const BlockLore& lore) {
    if (checkpoint <= final_ || !justified_.contains(checkpoint)) return false;
    const Electorate* electorate = lore.electorate_of(checkpoint.block);
    if (electorate == nullptr || electorate->generation != generation_) return false;
    if (!have_quorum(rows_from(checkpoint), *electorate, lore.trust())) return false;
    final_ = checkpoint;
    return true;
}

void VoteBook::note_claimed(const VoteGroup& group) {
    for (auto& [claimed, votes] : claims_)
        for (auto* known : votes_that_show(group.ballot, claimed, votes))
            for (const VoteGroup::Signed& one : group.votes)
                known->try_emplace(one.voter, Vote{one.voter, group.ballot, one.signature});
}

void VoteBook::look_into(const Checkpoint& claimed) {
    if (!claims_.try_emplace(claimed).second) return;
    for (const VoteGroup& group : votes_final(claimed)) note_claimed(group);
}

void VoteBook::leave(const Checkpoint& claimed) {
    if (claimed != conflict_) claims_.erase(claimed);
}

void VoteBook::note_conflict(const Checkpoint& other) {
    look_into(other);
    conflict_ = other;
}

bool VoteBook::is_proven(const Checkpoint& claimed, const Electorate& electorate, ledger::Trust trust) const {
    const auto found = claims_.find(claimed);
    if (found == claims_.end() || electorate.generation != generation_) return false;
    const auto is_quorum = [&](const auto& votes) {
        std::vector<MemberKey> keys;
        keys.reserve(votes.size());
        for (const auto& [voter, vote] : votes) keys.push_back(voter);
        return electorate.has_quorum(keys, trust);
    };
    return is_quorum(found->second.to) && is_quorum(found->second.from);
}

std::vector<VoteGroup> VoteBook::votes_of_claim(const Checkpoint& claimed) const {
    std::vector<Vote> votes;
    if (const auto found = claims_.find(claimed); found != claims_.end())
        for (const auto* known : {&found->second.to, &found->second.from})
            for (const auto& [voter, vote] : *known) votes.push_back(vote);
    return grouped(votes);
}

std::vector<VoteGroup> VoteBook::votes_for(const Checkpoint& checkpoint) const {
    std::vector<VoteGroup> groups;
    for (const VoteRow* row : rows_for(checkpoint)) groups.push_back(row->group());
    return sorted(std::move(groups));
}

std::vector<VoteGroup> VoteBook::votes_final(const Checkpoint& checkpoint) const {
    std::vector<VoteGroup> groups = votes_for(checkpoint);
    if (const auto line = votes_.find(checkpoint.epoch + 1); line != votes_.end())
        for (const VoteRow& row : line->second)
            if (row.ballot().source == checkpoint) groups.push_back(row.group());
    return groups;
}

std::vector<VoteGroup> VoteBook::votes_since(Epoch first) const {
    std::vector<VoteGroup> groups;
    for (auto line = votes_.lower_bound(first); line != votes_.end(); ++line)
        for (const VoteRow& row : line->second) groups.push_back(row.group());
    return groups;
}

std::optional<Vote> VoteBook::vote_of(std::uint64_t short_voter, Epoch epoch) const {
    const auto line = votes_.find(epoch);
    if (line == votes_.end()) return std::nullopt;
    for (const VoteRow& row : line->second)
        if (const VoteGroup::Signed* one = row.find(short_voter)) return vote_in(row, *one);
    return std::nullopt;
}

bool VoteBook::is_past(Epoch epoch) const {
    return epoch.number() + (holds(SafetyRule::LateVotes) ? kEpochsCarried : 0) < final_.epoch.number();
}

std::size_t VoteBook::votes_in(Epoch epoch) const {
    const auto line = votes_.find(epoch);
    return line == votes_.end() ? 0 : count(line->second);
}

std::uint64_t VoteBook::sum_of(Epoch epoch) const {
    std::uint64_t sum = 0;
    if (const auto line = votes_.find(epoch); line != votes_.end())
        for (const VoteRow& row : line->second) sum ^= row.sum();
    return sum;
}

VoteSums VoteBook::sums() const {
    VoteSums sums{};
    auto line = votes_.rbegin();
    for (VoteSum& one : sums) {
        if (line == votes_.rend()) break;
        one = {line->first, sum_of(line->first)};
        ++line;
    }
    return sums;
}

void VoteBook::begin_generation(std::uint64_t generation, const Checkpoint& root) {
    *this = VoteBook{generation, root};
}

void VoteBook::trust_final(const Checkpoint& checkpoint) {
    justified_.insert(checkpoint);
    if (final_ < checkpoint) final_ = checkpoint;
}

void VoteBook::tidy() {
    const auto drop_line = [&](std::map<Epoch, std::vector<VoteRow>>::iterator line) {
        size_ -= count(line->second);
        return votes_.erase(line);
    };
    // Those that show the newest final and the highest justified checkpoint stay: peers that connect ask for them.
    const Epoch top = justified_.rbegin()->epoch;
    const auto shows = [&](Epoch epoch) { return epoch == final_.epoch || epoch == final_.epoch + 1 || epoch == top; };
    for (auto line = votes_.begin(); line != votes_.end() && is_past(line->first);) line = drop_line(line);
    for (auto line = votes_.begin(); line != votes_.end() && votes_.size() > kEpochsKept;)
        line = shows(line->first) ? std::next(line) : drop_line(line);

    const auto is_gone = [&](const Checkpoint& checkpoint) {
        return checkpoint.epoch < final_.epoch || !votes_.contains(checkpoint.epoch);
    };
    std::erase_if(justified_, [&](const Checkpoint& one) { return one.epoch < final_.epoch; });
    for (auto at = waiting_.begin(); at != waiting_.end();) {
        std::erase_if(at->second, is_gone);
        at = at->second.empty() ? waiting_.erase(at) : std::next(at);
    }
}

}  // namespace rhizome::consensus
