// SPDX-License-Identifier: Apache-2.0
#include "store/facts.h"

namespace rhizome::store {
namespace {

constexpr std::uint8_t kNotComplete = 0;
constexpr std::uint8_t kComplete = 1;
constexpr std::uint8_t kNotCompleteWithId = 2;

void encode_to(Writer& out, const BlockId& block) { out.id(block.hash).u64(block.height.number()); }

Result<BlockId, DecodeFault> decode_block_id(Reader& in) {
    BlockId block;
    TRY(block.hash, in.id<ledger::BlockHash>());
    TRY(const std::uint64_t height, in.u64());
    block.height = ledger::Height{height};
    return block;
}

}  // namespace

Bytes encode(const Facts& facts) {
    Writer out;
    encode_to(out, facts.base);
    encode_to(out, facts.tip);
    encode_to(out, facts.final_block);
    const bool has_id = !facts.votes_complete && facts.record_id != ledger::VoteRecordId{};
    out.u8(has_id ? kNotCompleteWithId : facts.votes_complete ? kComplete : kNotComplete);
    if (has_id) out.raw(facts.record_id);
    out.blob(facts.vote);
    return std::move(out).take();
}

Result<Facts, DecodeFault> decode_facts(ByteView bytes) {
    Reader in{bytes};
    Facts facts;
    TRY(facts.base, decode_block_id(in));
    TRY(facts.tip, decode_block_id(in));
    TRY(facts.final_block, decode_block_id(in));
    TRY(const std::uint8_t completeness, in.u8());
    if (completeness > kNotCompleteWithId) return Fail{DecodeFault::BadValue};
    facts.votes_complete = completeness == kComplete;
    if (completeness == kNotCompleteWithId) {
        TRY(facts.record_id, (in.array<std::tuple_size_v<ledger::VoteRecordId>>()));
        if (facts.record_id == ledger::VoteRecordId{}) return Fail{DecodeFault::BadValue};
    }
    TRY(const ByteView vote, in.blob(kVoteBytesMax));
    facts.vote = {vote.begin(), vote.end()};
    TRY(in.finish());
    return facts;
}

}  // namespace rhizome::store
