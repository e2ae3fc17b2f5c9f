// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/codec.h"
#include "core/messages.h"
#include "ledger/reject.h"

/// The bytes of what nodes tell each other (docs/spec/p2p.md). Framing, encryption and who may speak at all are the
/// peer layer's; what is decoded here is well-formed and within bounds, and nothing more is known of it.
namespace rhizome::core {

/// First byte of a message, and the place of its type in `Message` plus one.
enum class MessageType : std::uint8_t {
    Status = 1,
    Transactions,
    NewBlock,
    WantBlocks,
    Blocks,
    Votes,
    HaveVotes,
    AskVotes,
    WantVotes,
    WantHeaders,
    Headers,
    WantBodies,
    Bodies,
    HaveTxs,
    WantTxs,
    CompactBlock,
    WantBlockTxs,
    BlockTxs,
    WantManifest,
    StateManifest,
    WantPart,
    StatePart,
};
std::string_view name(MessageType type);

/// The most that each type may have, first byte included: whoever reads a frame asks before it reads the rest.
[[nodiscard]] std::size_t bytes_max(MessageType type);

Bytes encode(const Message& message);
/// BadEncoding or TooLarge with what was wrong. Transactions are checked as far as that goes without a state
/// (`ledger::check_tx`), so that nobody does so twice.
Result<Message, ledger::Reject> decode_message(ByteView bytes);

}  // namespace rhizome::core
