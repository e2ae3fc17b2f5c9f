// SPDX-License-Identifier: Apache-2.0
#include "consensus/attestations.h"

#include <algorithm>

namespace rhizome::consensus {
namespace {

constexpr std::size_t kSignedBytes = crypto::PublicKey::kSize + crypto::Signature::kCompactSize;
constexpr std::size_t kCountBytesMax = 5;  // of a varint below 2^35

}  // namespace

std::vector<VoteGroup> grouped(std::span<const Vote> votes) {
    std::vector<const Vote*> sorted;
    sorted.reserve(votes.size());
    for (const Vote& vote : votes) sorted.push_back(&vote);
    std::sort(sorted.begin(), sorted.end(), [](const Vote* left, const Vote* right) {
        return std::tie(left->ballot, left->voter, left->signature) <
               std::tie(right->ballot, right->voter, right->signature);
    });
    std::vector<VoteGroup> groups;
    for (const Vote* vote : sorted) {
        if (groups.empty() || groups.back().ballot != vote->ballot) groups.push_back({.ballot = vote->ballot});
        auto& members = groups.back().votes;
        // A second signature of one ballot says nothing new.
        if (!members.empty() && members.back().voter == vote->voter) continue;
        members.push_back({vote->voter, vote->signature});
    }
    return groups;
}

std::vector<Vote> ungrouped(std::span<const VoteGroup> groups) {
    std::vector<Vote> votes;
    for (const VoteGroup& group : groups)
        for (const auto& one : group.votes) votes.push_back({one.voter, group.ballot, one.signature});
    return votes;
}

Bytes encode_votes(std::span<const Vote> votes) {
    if (votes.empty()) return {};
    const auto groups = grouped(votes);
    Writer out{encoded_votes_bytes_max(votes.size(), groups.size())};
    out.varint(groups.size());
    for (const VoteGroup& group : groups) {
        encode(group.ballot, out);
        out.varint(group.votes.size());
        for (const auto& one : group.votes) out.raw(one.voter).raw(one.signature);
    }
    return std::move(out).take();
}

Result<std::vector<Vote>, DecodeFault> decode_votes(ByteView bytes, std::size_t votes_max) {
    std::vector<Vote> votes;
    if (bytes.empty()) return votes;
    if (bytes.size() > kVoteSetBytesMax) return Fail{DecodeFault::TooLong};
    Reader in{bytes};
    TRY(const auto written_groups, in.varint());
    TRY(const auto groups, in.bounded_count(written_groups, votes_max, kBallotBytes + 1 + kSignedBytes));
    if (groups == 0) return Fail{DecodeFault::NotCanonical};
    for (std::size_t g = 0; g < groups; ++g) {
        TRY(const auto ballot, decode_ballot(in));
        if (!votes.empty() && ballot <= votes.back().ballot) return Fail{DecodeFault::NotCanonical};
        TRY(const auto written_count, in.varint());
        TRY(const auto count, in.bounded_count(written_count, votes_max - votes.size(), kSignedBytes));
        if (count == 0) return Fail{DecodeFault::NotCanonical};
        for (std::size_t i = 0; i < count; ++i) {
            Vote vote{.ballot = ballot};
            TRY(vote.voter, in.array<crypto::PublicKey::kSize>());
            TRY(vote.signature, in.array<crypto::Signature::kCompactSize>());
            if (i > 0 && vote.voter <= votes.back().voter) return Fail{DecodeFault::NotCanonical};
            votes.push_back(vote);
        }
    }
    TRY(in.finish());
    return votes;
}

std::size_t encoded_votes_bytes_max(std::size_t votes, std::size_t ballots) {
    return kCountBytesMax + ballots * (kBallotBytes + kCountBytesMax) + votes * kSignedBytes;
}

}  // namespace rhizome::consensus
