// SPDX-License-Identifier: Apache-2.0
#include "core/wire.h"

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/attestations.h"
#include "core/config.h"
#include "ledger/codec.h"
#include "ledger/limits.h"

namespace rhizome::core {
namespace {

using ledger::Reject;
using ledger::RejectCode;

constexpr std::size_t kHashesMax = 128;
constexpr std::size_t kCountBytes = 10;
constexpr std::size_t kCheckpointBytes = 8 + ledger::BlockHash::kSize;
constexpr std::size_t kNameBytes = 16;
/// One block may be as large as it likes; more of them are sent as long as there is room for another.
constexpr std::size_t kBlocksBytesMax = 2 * (ledger::kBlockBytesMax + ledger::kSealBytesMax);

// Defaults of every node: a message that its receiver must not take is not one that its sender may make.
constexpr Config kLimits{};

Fail<Reject> malformed(MessageType type, DecodeFault fault) {
    return ledger::reject(RejectCode::BadEncoding,
                          fmt::format("a message of {}: {}", name(type), to_error(fault).message));
}

// ---- encode
// ----------------------------------------------------------------------------------------------------------

void put(Writer& out, const consensus::Checkpoint& checkpoint) {
    out.u64(checkpoint.epoch.number()).id(checkpoint.block);
}
void put(Writer& out, const std::vector<VoteName>& names) {
    out.varint(names.size());
    for (const VoteName& one : names) out.u64(one.epoch.number()).u64(one.voter);
}

void put(Writer& out, const Status& message) {
    out.u64(static_cast<std::uint64_t>(message.clock.since_epoch().count())).raw(message.member).id(message.tip);
    out.u64(message.height.number());
    put(out, message.justified);
    put(out, message.final_checkpoint);
}
void put(Writer& out, const Transactions& message) {
    out.varint(message.txs.size());
    for (const ledger::SharedTx& tx : message.txs) out.blob(ledger::encode(tx->tx));
}
void put(Writer& out, const NewBlock& message) { out.raw(ledger::encode(*message.block)); }
void put(Writer& out, const WantBlocks& message) {
    out.varint(message.locator.size());
    for (const ledger::BlockHash& hash : message.locator) out.id(hash);
    out.id(message.wanted);
}
void put(Writer& out, const Blocks& message) {
    out.boolean(message.more).varint(message.blocks.size());
    for (const SharedBlock& block : message.blocks) out.blob(ledger::encode(*block));
}
void put(Writer& out, const Votes& message) { out.raw(consensus::encode_votes(message.votes)); }
void put(Writer& out, const HaveVotes& message) { put(out, message.names); }
void put(Writer& out, const AskVotes& message) { put(out, message.names); }
void put(Writer& out, const WantVotes& message) { out.u64(message.since.number()); }

// ---- decode
// ----------------------------------------------------------------------------------------------------------

Result<consensus::Checkpoint, DecodeFault> get_checkpoint(Reader& in) {
    consensus::Checkpoint checkpoint;
    TRY(const auto epoch, in.u64());
    checkpoint.epoch = consensus::Epoch{epoch};
    TRY(checkpoint.block, in.id<ledger::BlockHash>());
    return checkpoint;
}

Result<std::vector<VoteName>, DecodeFault> get_names(Reader& in) {
    TRY(const auto written, in.varint());
    TRY(const auto count, in.bounded_count(written, kLimits.message_votes_max, kNameBytes));
    std::vector<VoteName> names(count);
    for (VoteName& one : names) {
        TRY(const auto epoch, in.u64());
        one.epoch = consensus::Epoch{epoch};
        TRY(one.voter, in.u64());
    }
    TRY(in.finish());
    return names;
}

Result<Status, DecodeFault> get_status(Reader& in) {
    Status message;
    TRY(const auto clock, in.u64());
    if (clock > INT64_MAX) return Fail{DecodeFault::BadValue};
    message.clock = Time{microseconds{static_cast<std::int64_t>(clock)}};
    TRY(message.member, (in.array<std::tuple_size_v<consensus::MemberKey>>()));
    TRY(message.tip, in.id<ledger::BlockHash>());
    TRY(const auto height, in.u64());
    message.height = ledger::Height{height};
    TRY(message.justified, get_checkpoint(in));
    TRY(message.final_checkpoint, get_checkpoint(in));
    TRY(in.finish());
    return message;
}

Result<WantBlocks, DecodeFault> get_want_blocks(Reader& in) {
    WantBlocks message;
    TRY(const auto written, in.varint());
    TRY(const auto count, in.bounded_count(written, kHashesMax, ledger::BlockHash::kSize));
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const auto hash, in.id<ledger::BlockHash>());
        message.locator.push_back(hash);
    }
    TRY(message.wanted, in.id<ledger::BlockHash>());
    TRY(in.finish());
    return message;
}

/// Pieces that are decoded elsewhere: a count, then each with its size in front.
Result<std::vector<ByteView>, DecodeFault> get_blobs(Reader& in, std::size_t count_max, std::size_t bytes_each) {
    TRY(const auto written, in.varint());
    TRY(const auto count, in.bounded_count(written, count_max, 1));
    std::vector<ByteView> blobs;
    blobs.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        TRY(const auto blob, in.blob(bytes_each));
        blobs.push_back(blob);
    }
    TRY(in.finish());
    return blobs;
}

/// The value of a `Result<T, DecodeFault>`, or the refusal it means.
template <class T>
Result<T, Reject> or_reject(MessageType type, Result<T, DecodeFault> result) {
    if (!result) return malformed(type, result.error());
    return *std::move(result);
}

Result<SharedBlock, Reject> get_block(ByteView bytes) {
    TRY(auto block, ledger::decode_block(bytes));
    return std::make_shared<const ledger::Block>(std::move(block));
}

}  // namespace

std::string_view name(MessageType type) {
    switch (type) {
        case MessageType::Status: return "status";
        case MessageType::Transactions: return "transactions";
        case MessageType::NewBlock: return "block";
        case MessageType::WantBlocks: return "want-blocks";
        case MessageType::Blocks: return "blocks";
        case MessageType::Votes: return "votes";
        case MessageType::HaveVotes: return "have-votes";
        case MessageType::AskVotes: return "ask-votes";
        case MessageType::WantVotes: return "want-votes";
    }
    return "unknown";
}

std::size_t bytes_max(MessageType type) {
    switch (type) {
        case MessageType::Status: return 1 + 8 + 33 + ledger::BlockHash::kSize + 8 + 2 * kCheckpointBytes;
        case MessageType::Transactions: return 1 + kCountBytes + ledger::kTxBytesMax + kCountBytes;
        case MessageType::NewBlock: return 1 + kBlocksBytesMax / 2;
        case MessageType::WantBlocks: return 1 + kCountBytes + (kHashesMax + 1) * ledger::BlockHash::kSize;
        case MessageType::Blocks: return 1 + kCountBytes + kBlocksBytesMax;
        case MessageType::Votes: return 1 + consensus::kVoteSetBytesMax;
        case MessageType::HaveVotes:
        case MessageType::AskVotes: return 1 + kCountBytes + kLimits.message_votes_max * kNameBytes;
        case MessageType::WantVotes: return 1 + 8;
    }
    return 0;
}

Bytes encode(const Message& message) {
    Writer out;
    out.u8(static_cast<std::uint8_t>(message.index() + 1));
    std::visit([&](const auto& one) { put(out, one); }, message);
    return std::move(out).take();
}

Result<Message, Reject> decode_message(ByteView bytes) {
    if (bytes.empty()) return ledger::reject(RejectCode::BadEncoding, "a message without a type");
    const auto type = static_cast<MessageType>(bytes[0]);
    if (bytes_max(type) == 0)
        return ledger::reject(RejectCode::BadEncoding, fmt::format("there is no message of type {}", bytes[0]));
    if (bytes.size() > bytes_max(type))
        return ledger::reject(RejectCode::TooLarge,
                              fmt::format("a message of {} has at most {} bytes", name(type), bytes_max(type)));
    const ByteView body = bytes.subspan(1);
    Reader in{body};
    switch (type) {
        case MessageType::Status: {
            TRY(const auto status, or_reject(type, get_status(in)));
            return Message{status};
        }
        case MessageType::Transactions: {
            TRY(const auto blobs, or_reject(type, get_blobs(in, kLimits.message_txs_max, ledger::kTxBytesMax)));
            Transactions message;
            for (const ByteView blob : blobs) {
                TRY(auto tx, ledger::decode_tx(blob));
                TRY(auto checked, ledger::check_tx(std::move(tx)));
                message.txs.push_back(std::move(checked));
            }
            return Message{std::move(message)};
        }
        case MessageType::NewBlock: {
            TRY(auto block, get_block(body));
            return Message{NewBlock{std::move(block)}};
        }
        case MessageType::WantBlocks: {
            TRY(auto message, or_reject(type, get_want_blocks(in)));
            return Message{std::move(message)};
        }
        case MessageType::Blocks: {
            Blocks message;
            TRY(message.more, or_reject(type, in.boolean()));
            TRY(const auto blobs, or_reject(type, get_blobs(in, kLimits.answer_blocks_max, kBlocksBytesMax / 2)));
            for (const ByteView blob : blobs) {
                TRY(auto block, get_block(blob));
                message.blocks.push_back(std::move(block));
            }
            return Message{std::move(message)};
        }
        case MessageType::Votes: {
            TRY(auto votes, or_reject(type, consensus::decode_votes(body, kLimits.message_votes_max)));
            return Message{Votes{std::move(votes)}};
        }
        case MessageType::HaveVotes: {
            TRY(auto names, or_reject(type, get_names(in)));
            return Message{HaveVotes{std::move(names)}};
        }
        case MessageType::AskVotes: {
            TRY(auto names, or_reject(type, get_names(in)));
            return Message{AskVotes{std::move(names)}};
        }
        case MessageType::WantVotes: {
            TRY(const auto since, or_reject(type, in.u64()));
            if (!in.empty()) return malformed(type, DecodeFault::Trailing);
            return Message{WantVotes{consensus::Epoch{since}}};
        }
    }
    unreachable("a type with a size is one of these");
}

}  // namespace rhizome::core
