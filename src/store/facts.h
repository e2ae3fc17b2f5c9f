// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "base/codec.h"
#include "base/result.h"
#include "ledger/block.h"
#include "ledger/vote_record_id.h"

namespace rhizome::store {

struct BlockId {
    ledger::BlockHash hash{};
    ledger::Height height{};
    friend bool operator==(const BlockId&, const BlockId&) = default;
};

/// What the log says in all, so far: enough to go on without its older parts. Carried into every segment, and kept in
/// the index beside the place up to which it holds.
struct Facts {
    BlockId base{};  ///< the oldest block with a state: genesis, or where a snapshot began
    BlockId tip{};
    BlockId final_block{};
    bool votes_complete = false;  ///< false: the node may have signed more than `vote` says
    Bytes vote{};
    ledger::VoteRecordId record_id{};  ///< while it is not complete: drawn when that was noticed
    friend bool operator==(const Facts&, const Facts&) = default;
};

inline constexpr std::size_t kVoteBytesMax = 1u << 20;

/// base ‖ tip ‖ final block, each hash (32) and height (8) ‖ 0: the vote record is not complete, 1: it is, 2: it is
/// not, and its id (16) follows ‖ length (4), vote record.
Bytes encode(const Facts& facts);
Result<Facts, DecodeFault> decode_facts(ByteView bytes);

}  // namespace rhizome::store
