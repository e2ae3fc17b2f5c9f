// SPDX-License-Identifier: Apache-2.0
#include "consensus/vote.h"

#include "base/ensure.h"
#include "crypto/keys.h"

namespace rhizome::consensus {
namespace {

void encode(const Checkpoint& checkpoint, Writer& out) { out.u64(checkpoint.epoch.number()).id(checkpoint.block); }

Result<Checkpoint, DecodeFault> decode_checkpoint(Reader& in) {
    Checkpoint checkpoint;
    TRY(const auto epoch, in.u64());
    checkpoint.epoch = Epoch{epoch};
    TRY(checkpoint.block, in.id<BlockHash>());
    return checkpoint;
}

bool surrounds(const Ballot& outer, const Ballot& inner) {
    return outer.source.epoch < inner.source.epoch && inner.target.epoch < outer.target.epoch;
}

}  // namespace

Epoch epoch_of(Time time, milliseconds epoch) {
    ensure(epoch.count() > 0, "an epoch has a length");
    const std::int64_t millis = time.unix_millis();
    return Epoch{millis <= 0 ? 0 : static_cast<std::uint64_t>(millis / epoch.count())};
}

Time end_of(Epoch epoch, milliseconds length) {
    // A stranger's epoch may be any number: what lies past the end of time ends there.
    constexpr std::uint64_t kMillisMax = INT64_MAX / 2'000;
    const auto one = static_cast<std::uint64_t>(length.count());
    if (epoch.number() >= kMillisMax / one - 1) return Time::from_unix_millis(static_cast<std::int64_t>(kMillisMax));
    return Time::from_unix_millis(static_cast<std::int64_t>((epoch.number() + 1) * one));
}

Slot slot_of(Epoch epoch, milliseconds epoch_length, milliseconds heartbeat) {
    const auto epochs = std::max<std::int64_t>(1, heartbeat.count() / epoch_length.count());
    return Slot{epoch.number() / static_cast<std::uint64_t>(epochs)};
}

crypto::Digest digest_of(const Ballot& ballot, const ledger::ChainId& chain) {
    Writer out{kBallotBytes};
    encode(ballot, out);
    return crypto::tagged_hash(crypto::HashTag::Vote, chain.view(), out.view());
}

std::optional<Contradiction> contradiction(const Ballot& left, const Ballot& right) {
    if (left.generation != right.generation || left == right) return std::nullopt;
    if (left.target.epoch == right.target.epoch) return Contradiction::SameEpoch;
    if (surrounds(left, right) || surrounds(right, left)) return Contradiction::Surround;
    return std::nullopt;
}

std::optional<Contradiction> contradiction(const Vote& left, const Vote& right) {
    return left.voter == right.voter ? contradiction(left.ballot, right.ballot) : std::nullopt;
}

void encode(const Ballot& ballot, Writer& out) {
    out.u64(ballot.generation);
    encode(ballot.source, out);
    encode(ballot.target, out);
    out.id(ballot.derived_root);
}

Result<Ballot, DecodeFault> decode_ballot(Reader& in) {
    Ballot ballot;
    TRY(ballot.generation, in.u64());
    TRY(ballot.source, decode_checkpoint(in));
    TRY(ballot.target, decode_checkpoint(in));
    TRY(ballot.derived_root, in.id<crypto::Hash256>());
    // Nothing counts a vote from the future to the past; refusing it here keeps it from being stored at all.
    if (ballot.source.epoch >= ballot.target.epoch) return Fail{DecodeFault::BadValue};
    return ballot;
}

void encode(const Vote& vote, Writer& out) {
    out.raw(vote.voter);
    encode(vote.ballot, out);
    out.raw(vote.signature);
}

Result<Vote, DecodeFault> decode_vote(Reader& in) {
    Vote vote;
    TRY(vote.voter, in.array<crypto::PublicKey::kSize>());
    TRY(vote.ballot, decode_ballot(in));
    TRY(vote.signature, in.array<crypto::Signature::kCompactSize>());
    return vote;
}

}  // namespace rhizome::consensus
