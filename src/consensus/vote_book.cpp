// SPDX-License-Identifier: Apache-2.0
#include "consensus/vote_book.h"

#include <algorithm>

#include "base/safety_rule.h"

namespace rhizome::consensus {
namespace {

void insert_sorted(std::vector<MemberKey>& keys, const MemberKey& key) {
    const auto at = std::lower_bound(keys.begin(), keys.end(), key);
    if (at == keys.end() || *at != key) keys.insert(at, key);
}

bool reaches_next(const Ballot& ballot) {
    return ballot.target.epoch.number() - ballot.source.epoch.number() == 1 || !holds(SafetyRule::NextEpoch);
}

}  // namespace

VoteBook::VoteBook(std::uint64_t generation, const Checkpoint& root) : generation_(generation), final_(root) {
    justified_.insert(root);
}

const Vote* VoteBook::contradicted(const Vote& vote) const {
    const Ballot& ballot = vote.ballot;
    // Same epoch, or enclosed by this vote: targets in (source, target].
    for (auto at = votes_.upper_bound(ballot.source.epoch); at != votes_.end(); ++at) {
        const auto other = at->second.find(vote.voter);
        if (other != at->second.end() && contradiction(vote, other->second)) return &other->second;
    }
    return nullptr;
}

VoteBook::Outcome VoteBook::add(const Vote& vote, const BlockLore& lore) {
    if (vote.ballot.generation != generation_) return {.taken = Taken::TooOld};
    const Epoch epoch = vote.ballot.target.epoch;
    if (const Vote* known = vote_of(vote.voter, epoch); known != nullptr && known->ballot == vote.ballot)
        return {.taken = Taken::Known};
    if (const Vote* other = contradicted(vote)) return {.taken = Taken::Contradicts, .other = *other};
    if (epoch < final_.epoch) return {.taken = Taken::TooOld};
    if (votes_.size() >= kEpochsKept && epoch < votes_.begin()->first) return {.taken = Taken::TooOld};

    votes_[epoch].emplace(vote.voter, vote);
    ++size_;
    insert_sorted(for_[vote.ballot.target], vote.voter);
    if (reaches_next(vote.ballot)) insert_sorted(from_[vote.ballot.source], vote.voter);
    Outcome outcome = settle(vote.ballot.target, lore);
    if (reaches_next(vote.ballot)) outcome.final_more |= try_finalise(vote.ballot.source, lore);
    outcome.taken = Taken::New;
    if (votes_.size() > kEpochsKept) tidy();
    return outcome;
}

VoteBook::Outcome VoteBook::settle(const Checkpoint& target, const BlockLore& lore) {
    Outcome outcome;
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

bool VoteBook::try_justify(const Checkpoint& checkpoint, const BlockLore& lore) {
    if (justified_.contains(checkpoint)) return false;
    const Electorate* electorate = lore.electorate_of(checkpoint.block);
    const auto voters = for_.find(checkpoint);
    if (electorate == nullptr || voters == for_.end() || electorate->generation != generation_) return false;
    // Most votes come before there are enough of them: the count alone says so.
    if (voters->second.size() < quorum_of(electorate->voters.size(), lore.trust()) ||
        !electorate->has_quorum(voters->second, lore.trust()))
        return false;
    justified_.insert(checkpoint);
    return true;
}

bool VoteBook::looks_justified(const Checkpoint& checkpoint, const Electorate& electorate, ledger::Trust trust) const {
    const auto voters = for_.find(checkpoint);
    return voters != for_.end() && electorate.has_quorum(voters->second, trust);
}

bool VoteBook::try_finalise(const Checkpoint& checkpoint, const BlockLore& lore) {
    if (checkpoint <= final_ || !justified_.contains(checkpoint)) return false;
    const Electorate* electorate = lore.electorate_of(checkpoint.block);
    const auto voters = from_.find(checkpoint);
    if (electorate == nullptr || voters == from_.end() || electorate->generation != generation_) return false;
    if (voters->second.size() < quorum_of(electorate->voters.size(), lore.trust()) ||
        !electorate->has_quorum(voters->second, lore.trust()))
        return false;
    final_ = checkpoint;
    return true;
}

std::vector<Vote> VoteBook::votes_for(const Checkpoint& checkpoint) const {
    std::vector<Vote> votes;
    if (const auto line = votes_.find(checkpoint.epoch); line != votes_.end())
        for (const auto& [voter, vote] : line->second)
            if (vote.ballot.target == checkpoint) votes.push_back(vote);
    return votes;
}

std::vector<Vote> VoteBook::votes_final(const Checkpoint& checkpoint) const {
    std::vector<Vote> votes = votes_for(checkpoint);
    if (const auto line = votes_.find(checkpoint.epoch + 1); line != votes_.end())
        for (const auto& [voter, vote] : line->second)
            if (vote.ballot.source == checkpoint) votes.push_back(vote);
    return votes;
}

std::vector<Vote> VoteBook::votes_since(Epoch first) const {
    std::vector<Vote> votes;
    for (auto line = votes_.lower_bound(first); line != votes_.end(); ++line)
        for (const auto& [voter, vote] : line->second) votes.push_back(vote);
    return votes;
}

const Vote* VoteBook::vote_of(const MemberKey& voter, Epoch epoch) const {
    const auto line = votes_.find(epoch);
    if (line == votes_.end()) return nullptr;
    const auto vote = line->second.find(voter);
    return vote == line->second.end() ? nullptr : &vote->second;
}

void VoteBook::begin_generation(std::uint64_t generation, const Checkpoint& root) {
    *this = VoteBook{generation, root};
}

void VoteBook::trust_final(const Checkpoint& checkpoint) {
    justified_.insert(checkpoint);
    if (final_ < checkpoint) final_ = checkpoint;
}

void VoteBook::tidy() {
    const auto drop_line = [&](std::map<Epoch, Line>::iterator line) {
        size_ -= line->second.size();
        return votes_.erase(line);
    };
    // Those that show the newest final and the highest justified checkpoint stay: peers that connect ask for them.
    const Epoch top = justified_.rbegin()->epoch;
    const auto shows = [&](Epoch epoch) { return epoch == final_.epoch || epoch == final_.epoch + 1 || epoch == top; };
    for (auto line = votes_.begin(); line != votes_.end() && line->first < final_.epoch;) line = drop_line(line);
    for (auto line = votes_.begin(); line != votes_.end() && votes_.size() > kEpochsKept;)
        line = shows(line->first) ? std::next(line) : drop_line(line);

    const auto is_gone = [&](const Checkpoint& checkpoint) { return !votes_.contains(checkpoint.epoch); };
    std::erase_if(for_, [&](const auto& one) { return is_gone(one.first); });
    std::erase_if(from_, [&](const auto& one) {
        return one.first.epoch < final_.epoch || !votes_.contains(one.first.epoch + 1);
    });
    std::erase_if(justified_, [&](const Checkpoint& one) { return one.epoch < final_.epoch; });
    for (auto at = waiting_.begin(); at != waiting_.end();) {
        std::erase_if(at->second, is_gone);
        at = at->second.empty() ? waiting_.erase(at) : std::next(at);
    }
}

}  // namespace rhizome::consensus
