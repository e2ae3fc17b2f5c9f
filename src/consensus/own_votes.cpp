// SPDX-License-Identifier: Apache-2.0
#include "consensus/own_votes.h"

#include <algorithm>

#include "base/safety_rule.h"

namespace rhizome::consensus {

Result<OwnVotes, DecodeFault> OwnVotes::decode(ByteView record, bool complete) {
    OwnVotes own;
    own.complete_ = complete;
    if (record.empty()) return own;
    Reader in{record};
    TRY(own.generation_, in.u64());
    TRY(const auto target, in.u64());
    TRY(const auto source, in.u64());
    own.target_ = Epoch{target};
    own.source_ = Epoch{source};
    TRY(const auto written, in.varint());
    TRY(const auto count, in.bounded_count(written, kSealedParentsKept, BlockHash::kSize));
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const auto parent, in.id<BlockHash>());
        own.sealed_on_.push_back(parent);
    }
    TRY(own.justification_, decode_groups(in.rest(), ledger::records::kVotersMax));
    return own;
}

Bytes OwnVotes::encode() const {
    Writer out;
    out.u64(generation_).u64(target_.number()).u64(source_.number()).varint(sealed_on_.size());
    for (const BlockHash& parent : sealed_on_) out.id(parent);
    out.raw(encode_groups(justification_));
    return std::move(out).take();
}

void OwnVotes::regain(std::uint64_t generation, Epoch epoch) {
    if (complete_) return;
    complete_ = true;
    if (generation < generation_) return;
    generation_ = generation;
    target_ = std::max(target_, epoch);
    source_ = std::max(source_, epoch);
}

bool OwnVotes::begin_anew(std::uint64_t generation) {
    if (complete_ || generation <= generation_) return false;
    complete_ = true;
    generation_ = generation;
    target_ = {};
    source_ = {};
    justification_.clear();
    return true;
}

bool OwnVotes::may_sign(const Ballot& ballot) const {
    if (!complete_ || ballot.generation < generation_) return false;
    if (ballot.generation > generation_) return true;
    return ballot.target.epoch > target_ && (ballot.source.epoch >= source_ || !holds(SafetyRule::SourceNotBelow));
}

void OwnVotes::note_signed(const Ballot& ballot, std::vector<VoteGroup> justification) {
    generation_ = ballot.generation;
    target_ = ballot.target.epoch;
    source_ = ballot.source.epoch;
    justification_ = std::move(justification);
}

bool OwnVotes::has_sealed_on(const BlockHash& parent) const {
    return std::find(sealed_on_.begin(), sealed_on_.end(), parent) != sealed_on_.end();
}

void OwnVotes::note_sealed(const BlockHash& parent) {
    if (sealed_on_.size() == kSealedParentsKept) sealed_on_.erase(sealed_on_.begin());
    sealed_on_.push_back(parent);
}

}  // namespace rhizome::consensus
