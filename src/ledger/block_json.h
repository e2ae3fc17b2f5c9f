// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "ledger/block.h"
#include "ledger/json_form.h"

/// A block as JSON that people and their tools read, and back: docs/spec/chain.md section 4. Exact: every transaction
/// is the form of `json_form.h`, whose documents keep their bytes, so that what is read back has the same hash.
///
///     {"hash","height","time","previous","merkleRoot","stateRoot","consensus":"authority","sealRoot","bits",
///      "nonce":"0","signature","seal":{"proof","attestations"},"transactions":[…]}
///
/// Bytes are hexadecimal, the time is RFC 3339 with milliseconds. The nonce is a string of digits: it uses all of its
/// 64 bits, and many tools round numbers above 2^53.
namespace rhizome::ledger {

/// A block has no more bytes than the largest transaction, and scripts are what grows most when printed; the frames of
/// 65,536 small transactions take less than the room left there.
inline constexpr std::size_t kBlockJsonBytesMax = kTxJsonBytesMax;

/// `authority`, `work`, `space`, `stake`.
std::string_view name(ConsensusId consensus);
std::optional<ConsensusId> consensus_from_name(std::string_view name);

json::Object to_json(const Block& block);

/// The block that `text` is. Errors name the member: `transactions[3].vin[0].txid: …`. `hash` may be left out, else it
/// must be right; other members than those above are refused, so that no misspelt one is lost.
///
/// Form and limits only, as with `decode_block`: what it takes, `encode` makes into bytes that `decode_block` takes.
Result<Block> block_from_json(std::string_view text);

}  // namespace rhizome::ledger
