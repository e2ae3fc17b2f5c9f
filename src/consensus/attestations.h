// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "consensus/vote.h"

namespace rhizome::consensus {

/// Votes as they travel and as blocks carry them: those that say the same share the ballot's bytes.
///
/// Sorted by ballot, then by voter, none twice: one encoding for a set.
struct VoteGroup {
    Ballot ballot{};
    struct Signed {
        MemberKey voter{};
        crypto::CompactSignature signature{};
        friend auto operator<=>(const Signed&, const Signed&) = default;
        friend bool operator==(const Signed&, const Signed&) = default;
    };
    std::vector<Signed> votes{};  ///< at least one
    friend bool operator==(const VoteGroup&, const VoteGroup&) = default;
};

/// Enough for 10,000 members' votes twice; a block's own limit is lower.
inline constexpr std::size_t kVoteSetBytesMax = 2u << 20;

std::vector<VoteGroup> grouped(std::span<const Vote> votes);
std::vector<Vote> ungrouped(std::span<const VoteGroup> groups);
std::size_t count_votes(std::span<const VoteGroup> groups);

/// Number of groups (varint) ‖ per group: ballot, number of votes (varint), per vote key (33) and signature (64). No
/// bytes at all for an empty set. The groups are a set: in its order.
Bytes encode_groups(std::span<const VoteGroup> groups);
Bytes encode_votes(std::span<const Vote> votes);
/// In the set's order.
Result<std::vector<VoteGroup>, DecodeFault> decode_groups(ByteView bytes, std::size_t votes_max);
Result<std::vector<Vote>, DecodeFault> decode_votes(ByteView bytes, std::size_t votes_max);

/// How many votes are written there, as far as can be told without looking at them; nothing when they are malformed.
Result<std::size_t, DecodeFault> count_encoded(ByteView bytes, std::size_t votes_max);

/// How many bytes `encode_votes` makes of so many votes at most, with so many different ballots.
std::size_t encoded_votes_bytes_max(std::size_t votes, std::size_t ballots);

}  // namespace rhizome::consensus
