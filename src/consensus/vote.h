// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <optional>

#include "base/codec.h"
#include "base/ids.h"
#include "base/time.h"
#include "crypto/hash.h"
#include "crypto/key_bytes.h"
#include "ledger/block.h"
#include "ledger/member.h"

/// Attestations, which are also the votes of finality: docs/spec/chain.md section 5.
namespace rhizome::consensus {

using ledger::BlockHash;
using ledger::MemberKey;

/// The first eight bytes of a key, as a number that is ordered as they are. Who wanted two members that share it would
/// have to make as many keys as for breaking the curve's half.
inline std::uint64_t short_key(const MemberKey& key) {
    std::uint64_t word = 0;
    std::memcpy(&word, key.data(), sizeof word);
    return __builtin_bswap64(word);
}

/// Keys in the order of their bytes. With hundreds of members they are compared more often than anything else, and
/// nearly all differ in their first eight bytes, which takes no call.
struct MemberLess {
    bool operator()(const MemberKey& left, const MemberKey& right) const {
        const std::uint64_t ours = short_key(left);
        const std::uint64_t theirs = short_key(right);
        return ours != theirs ? ours < theirs : left < right;
    }
};

/// Time cut into pieces of `Parameters::epoch`, counted from 1970: epoch k ends where k + 1 begins.
using Epoch = Count<struct EpochTag>;

Epoch epoch_of(Time time, milliseconds epoch);
Time end_of(Epoch epoch, milliseconds length);

/// Attestations give weight once per member and slot: a heartbeat's worth of epochs.
using Slot = Count<struct SlotTag>;
Slot slot_of(Epoch epoch, milliseconds epoch_length, milliseconds heartbeat);

/// A block as the last one of its chain before the end of an epoch: what can be justified and final.
struct Checkpoint {
    Epoch epoch{};
    BlockHash block{};
    friend auto operator<=>(const Checkpoint&, const Checkpoint&) = default;
    friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// What a member says: "I follow the chain of `target`, whose newest justified checkpoint is `source`".
///
/// The recovery generation is in it because finality is promised within one generation only: after a recovery members
/// may have to vote from an older source than before, and nobody may be accused for that.
struct Ballot {
    std::uint64_t generation = 0;
    Checkpoint source{};
    Checkpoint target{};
    crypto::Hash256 derived_root{};  ///< of the target, by the derivation in force; zero while nothing is derived
    friend auto operator<=>(const Ballot&, const Ballot&) = default;
    friend bool operator==(const Ballot&, const Ballot&) = default;
};
inline constexpr std::size_t kBallotBytes = 8 + 2 * (8 + 32) + 32;

/// A ballot with the voter's name and signature.
struct Vote {
    MemberKey voter{};
    Ballot ballot{};
    crypto::CompactSignature signature{};
    friend auto operator<=>(const Vote&, const Vote&) = default;
    friend bool operator==(const Vote&, const Vote&) = default;
};
inline constexpr std::size_t kVoteBytes =
    std::tuple_size_v<ledger::MemberKey> + kBallotBytes + std::tuple_size_v<crypto::CompactSignature>;

/// Tagged hash "rhizome/vote" of chain id ‖ the ballot's bytes.
crypto::Digest digest_of(const Ballot& ballot, const ledger::ChainId& chain);

/// Why two votes of one member cannot both be honest.
enum class Contradiction : std::uint8_t {
    SameEpoch,  ///< two targets (or sources, or roots) for one target epoch
    Surround,   ///< one vote's source and target enclose the other's
};
/// Nothing when an honest member could have signed both.
std::optional<Contradiction> contradiction(const Ballot& left, const Ballot& right);
/// Nor when they are of two members.
std::optional<Contradiction> contradiction(const Vote& left, const Vote& right);

void encode(const Ballot& ballot, Writer& out);
Result<Ballot, DecodeFault> decode_ballot(Reader& in);
void encode(const Vote& vote, Writer& out);
Result<Vote, DecodeFault> decode_vote(Reader& in);

}  // namespace rhizome::consensus
