// SPDX-License-Identifier: Apache-2.0
#include "consensus/attestations.h"

#include "crypto/keys.h"

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
    votes.reserve(count_votes(groups));
    for (const VoteGroup& group : groups)
        for (const auto& one : group.votes) votes.push_back({one.voter, group.ballot, one.signature});
    return votes;
}

std::size_t count_votes(std::span<const VoteGroup> groups) {
    std::size_t count = 0;
    for (const VoteGroup& group : groups) count += group.votes.size();
    return count;
}

Bytes encode_groups(std::span<const VoteGroup> groups) {
    if (groups.empty()) return {};
    Writer out{encoded_votes_bytes_max(count_votes(groups), groups.size())};
    out.varint(groups.size());
    for (const VoteGroup& group : groups) {
        encode(group.ballot, out);
        out.varint(group.votes.size());
        for (const auto& one : group.votes) out.raw(one.voter).raw(one.signature);
    }
    return std::move(out).take();
}

Bytes encode_votes(std::span<const Vote> votes) { return encode_groups(grouped(votes)); }

Result<std::vector<VoteGroup>, DecodeFault> decode_groups(ByteView bytes, std::size_t votes_max) {
    std::vector<VoteGroup> groups;
    if (bytes.empty()) return groups;
    if (bytes.size() > kVoteSetBytesMax) return Fail{DecodeFault::TooLong};
    Reader in{bytes};
    TRY(const auto written_groups, in.varint());
    TRY(const auto count_groups, in.bounded_count(written_groups, votes_max, kBallotBytes + 1 + kSignedBytes));
    if (count_groups == 0) return Fail{DecodeFault::NotCanonical};
    groups.reserve(count_groups);
    std::size_t left = votes_max;
    for (std::size_t g = 0; g < count_groups; ++g) {
        TRY(const auto ballot, decode_ballot(in));
        if (!groups.empty() && ballot <= groups.back().ballot) return Fail{DecodeFault::NotCanonical};
        TRY(const auto written_count, in.varint());
        TRY(const auto count, in.bounded_count(written_count, left, kSignedBytes));
        if (count == 0) return Fail{DecodeFault::NotCanonical};
        left -= count;
        auto& votes = groups.emplace_back(VoteGroup{.ballot = ballot}).votes;
        votes.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            VoteGroup::Signed vote;
            TRY(vote.voter, in.array<crypto::PublicKey::kSize>());
            TRY(vote.signature, in.array<crypto::Signature::kCompactSize>());
            if (i > 0 && !MemberLess{}(votes.back().voter, vote.voter)) return Fail{DecodeFault::NotCanonical};
            votes.push_back(vote);
        }
    }
    TRY(in.finish());
    return groups;
}

Result<std::vector<Vote>, DecodeFault> decode_votes(ByteView bytes, std::size_t votes_max) {
    TRY(const auto groups, decode_groups(bytes, votes_max));
    return ungrouped(groups);
}

Result<std::size_t, DecodeFault> count_encoded(ByteView bytes, std::size_t votes_max) {
    if (bytes.empty()) return std::size_t{0};
    if (bytes.size() > kVoteSetBytesMax) return Fail{DecodeFault::TooLong};
    Reader in{bytes};
    TRY(const auto written_groups, in.varint());
    TRY(const auto groups, in.bounded_count(written_groups, votes_max, kBallotBytes + 1 + kSignedBytes));
    std::size_t votes = 0;
    for (std::size_t g = 0; g < groups; ++g) {
        TRY(const auto ballot, in.raw(kBallotBytes));
        TRY(const auto written, in.varint());
        TRY(const auto count, in.bounded_count(written, votes_max - votes, kSignedBytes));
        TRY(const auto signatures, in.raw(count * kSignedBytes));
        votes += signatures.size() / kSignedBytes;
        (void)ballot;
    }
    TRY(in.finish());
    return votes;
}

std::size_t encoded_votes_bytes_max(std::size_t votes, std::size_t ballots) {
    return kCountBytesMax + ballots * (kBallotBytes + kCountBytesMax) + votes * kSignedBytes;
}

}  // namespace rhizome::consensus
