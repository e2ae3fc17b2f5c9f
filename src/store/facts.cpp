// SPDX-License-Identifier: Apache-2.0
#include "store/facts.h"

namespace rhizome::store {
namespace {

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
    out.boolean(facts.votes_complete).blob(facts.vote);
    return std::move(out).take();
}

Result<Facts, DecodeFault> decode_facts(ByteView bytes) {
    Reader in{bytes};
    Facts facts;
    TRY(facts.base, decode_block_id(in));
    TRY(facts.tip, decode_block_id(in));
    TRY(facts.final_block, decode_block_id(in));
    TRY(facts.votes_complete, in.boolean());
    TRY(const ByteView vote, in.blob(kVoteBytesMax));
    facts.vote = {vote.begin(), vote.end()};
    TRY(in.finish());
    return facts;
}

}  // namespace rhizome::store
