// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "base/codec.h"
#include "ledger/block.h"
#include "ledger/reject.h"
#include "ledger/tx.h"

/// Bytes of transactions and blocks: docs/spec/chain.md sections 1 and 4. One encoding for each value; decoding checks
/// form and limits only.
namespace rhizome::ledger {

void encode_to(Writer& out, const Tx& tx);
/// What the id covers, in two halves: a transaction's bytes up to the number of its outputs with every unlocking script
/// left out, and the rest as it is.
void encode_bare_front_to(Writer& out, const Tx& tx);
void encode_back_to(Writer& out, const Tx& tx);
/// How many bytes its outputs take, the number of them not counted; the lock time and the expiry, eight bytes, follow.
std::size_t encoded_outputs_size(const Tx& tx);
Bytes encode(const Tx& tx);
/// The transaction that `bytes` is, all of them.
Result<Tx, Reject> decode_tx(ByteView bytes);
/// The transaction at the front; the rest stays in `in`.
Result<Tx, Reject> decode_tx(Reader& in);
/// What `encode` would give, without making it.
[[nodiscard]] std::size_t encoded_size(const Tx& tx);

Bytes encode(const Header& header);  ///< 161 bytes, what the block hash covers
Result<Header, Reject> decode_header(ByteView bytes);

Bytes encode(const Block& block);
Result<Block, Reject> decode_block(ByteView bytes);
[[nodiscard]] std::size_t encoded_size(const Block& block);

}  // namespace rhizome::ledger
