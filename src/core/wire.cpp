// SPDX-License-Identifier: Apache-2.0
#include "core/wire.h"

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/attestations.h"
#include "core/config.h"
#include "ledger/codec.h"
#include "ledger/limits.h"
#include "ledger/snapshot.h"

namespace rhizome::core {
namespace {

using ledger::Reject;
using ledger::RejectCode;

constexpr std::size_t kHashesMax = 128;
constexpr std::size_t kCountBytes = 10;
constexpr std::size_t kCheckpointBytes = 8 + ledger::BlockHash::kSize;
constexpr std::size_t kVoteNameBytes = 16;
constexpr std::size_t kShortIdBytes = 6;
/// More than a block of the smallest transactions has: inputs, outputs, lock time and expiry take 59 bytes at least.
constexpr std::size_t kBlockTxsMax = ledger::kBlockBytesMax / 32;
constexpr std::size_t kSealedBytesLeast = ledger::kHeaderBytes + 64 + 4 + 4;
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
void put(Writer& out, const std::vector<ledger::BlockHash>& hashes) {
    out.varint(hashes.size());
    for (const ledger::BlockHash& hash : hashes) out.id(hash);
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
    out.u64(message.generation);
    for (const auto& one : message.votes) out.u64(one.epoch.number()).u64(one.sum);
    out.raw(message.record);
}
void put(Writer& out, const Transactions& message) {
    out.varint(message.txs.size());
    for (const ledger::SharedTx& tx : message.txs) out.blob(ledger::encode(tx->tx));
}
void put(Writer& out, const NewBlock& message) { out.raw(ledger::encode(*message.block)); }
void put(Writer& out, const WantBlocks& message) {
    put(out, message.locator);
    out.id(message.wanted);
}
void put(Writer& out, const Blocks& message) {
    out.boolean(message.more).varint(message.blocks.size());
    for (const SharedBlock& block : message.blocks) out.blob(ledger::encode(*block));
}
void put(Writer& out, const Votes& message) { out.raw(consensus::encode_groups(message.groups)); }
void put(Writer& out, const HaveVotes& message) { put(out, message.names); }
void put(Writer& out, const AskVotes& message) { put(out, message.names); }
void put(Writer& out, const WantVotes& message) { out.u64(message.since.number()); }

void put(Writer& out, const SealedHeader& sealed) {
    out.raw(ledger::encode(sealed.header)).raw(sealed.signature);
    out.blob(sealed.seal.proof).blob(sealed.seal.attestations);
}
void put(Writer& out, const std::vector<ledger::Tx>& txs) {
    out.varint(txs.size());
    for (const ledger::Tx& tx : txs) ledger::encode_to(out, tx);
}
void put(Writer& out, const std::vector<ledger::WireId>& ids) {
    out.varint(ids.size());
    for (const ledger::WireId& id : ids) out.id(id);
}
void put(Writer& out, const WantHeaders& message) {
    put(out, message.locator);
    out.id(message.wanted);
}
void put(Writer& out, const Headers& message) {
    out.boolean(message.more).varint(message.headers.size());
    for (const SealedHeader& one : message.headers) put(out, one);
}
void put(Writer& out, const WantBodies& message) { put(out, message.blocks); }
void put(Writer& out, const Bodies& message) {
    out.boolean(message.more).id(message.first).varint(message.bodies.size());
    for (const Body& body : message.bodies) {
        out.id(body.block);
        put(out, *body.txs);
    }
}
void put(Writer& out, const HaveTxs& message) { put(out, message.ids); }
void put(Writer& out, const WantTxs& message) { put(out, message.ids); }
void put(Writer& out, const CompactBlock& message) {
    put(out, message.sealed);
    out.varint(message.short_ids.size());
    for (const std::uint64_t id : message.short_ids)
        out.u32(static_cast<std::uint32_t>(id)).u16(static_cast<std::uint16_t>(id >> 32));
    out.varint(message.given.size());
    for (const CompactBlock::Given& one : message.given) {
        out.u32(one.place);
        ledger::encode_to(out, one.tx);
    }
}
void put(Writer& out, const WantBlockTxs& message) {
    out.id(message.block).varint(message.places.size());
    for (const std::uint32_t place : message.places) out.u32(place);
}
void put(Writer& out, const BlockTxs& message) {
    out.id(message.block);
    put(out, message.txs);
}

void put(Writer& out, const WantManifest& message) { out.id(message.block); }
void put(Writer& out, const StateManifest& message) { out.id(message.block).blob(message.bytes); }
void put(Writer& out, const WantPart& message) { out.id(message.block).u32(message.part).id(message.hash); }
void put(Writer& out, const StatePart& message) { out.id(message.block).u32(message.part).blob(message.bytes); }

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
    TRY(const auto count, in.bounded_count(written, kLimits.message_votes_max, kVoteNameBytes));
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
    TRY(message.generation, in.u64());
    for (auto& one : message.votes) {
        TRY(const auto epoch, in.u64());
        one.epoch = consensus::Epoch{epoch};
        TRY(one.sum, in.u64());
    }
    TRY(message.record, (in.array<std::tuple_size_v<ledger::VoteRecordId>>()));
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
Result<std::size_t, DecodeFault> get_count(Reader& in, std::size_t max, std::size_t least_bytes_each) {
    TRY(const auto written, in.varint());
    return in.bounded_count(written, max, least_bytes_each);
}
template <class SomeId>
Result<std::vector<SomeId>, DecodeFault> get_ids(Reader& in, std::size_t max) {
    TRY(const auto count, get_count(in, max, SomeId::kSize));
    std::vector<SomeId> ids(count);
    for (SomeId& id : ids) {
        TRY(id, in.id<SomeId>());
    }
    return ids;
}
Result<void, Reject> finish(MessageType type, const Reader& in) {
    if (!in.empty()) return malformed(type, DecodeFault::Trailing);
    return {};
}

Result<SealedHeader, Reject> get_sealed(MessageType type, Reader& in) {
    SealedHeader sealed;
    TRY(const auto header, or_reject(type, in.raw(ledger::kHeaderBytes)));
    TRY(sealed.header, ledger::decode_header(header));
    TRY(sealed.signature, or_reject(type, in.array<64>()));
    TRY(const auto proof, or_reject(type, in.blob(ledger::kSealBytesMax)));
    TRY(const auto attestations, or_reject(type, in.blob(ledger::kSealBytesMax)));
    if (proof.size() + attestations.size() > ledger::kSealBytesMax)
        return ledger::reject(RejectCode::TooLarge, "a seal has more bytes than a block may carry");
    sealed.seal = {to_bytes(proof), to_bytes(attestations)};
    return sealed;
}
Result<std::vector<ledger::Tx>, Reject> get_txs(MessageType type, Reader& in) {
    TRY(const auto count, or_reject(type, get_count(in, kBlockTxsMax, 1)));
    std::vector<ledger::Tx> txs;
    for (std::size_t i = 0; i < count; ++i) {
        TRY(auto tx, ledger::decode_tx(in));
        txs.push_back(std::move(tx));
    }
    return txs;
}
Result<WantHeaders, Reject> get_want_headers(Reader& in) {
    WantHeaders message;
    constexpr auto kType = MessageType::WantHeaders;
    TRY(message.locator, or_reject(kType, get_ids<ledger::BlockHash>(in, kHashesMax)));
    TRY(message.wanted, or_reject(kType, in.id<ledger::BlockHash>()));
    TRY(finish(kType, in));
    return message;
}
Result<Headers, Reject> get_headers(Reader& in) {
    Headers message;
    constexpr auto kType = MessageType::Headers;
    TRY(message.more, or_reject(kType, in.boolean()));
    TRY(const auto count, or_reject(kType, get_count(in, kLimits.answer_headers_max, kSealedBytesLeast)));
    for (std::size_t i = 0; i < count; ++i) {
        TRY(auto sealed, get_sealed(kType, in));
        message.headers.push_back(std::move(sealed));
    }
    TRY(finish(kType, in));
    return message;
}
Result<Bodies, Reject> get_bodies(Reader& in) {
    Bodies message;
    constexpr auto kType = MessageType::Bodies;
    TRY(message.more, or_reject(kType, in.boolean()));
    TRY(message.first, or_reject(kType, in.id<ledger::BlockHash>()));
    TRY(const auto count, or_reject(kType, get_count(in, kLimits.ask_bodies_max, ledger::BlockHash::kSize + 1)));
    for (std::size_t i = 0; i < count; ++i) {
        Body body;
        TRY(body.block, or_reject(kType, in.id<ledger::BlockHash>()));
        TRY(auto txs, get_txs(kType, in));
        body.txs = std::make_shared<const std::vector<ledger::Tx>>(std::move(txs));
        message.bodies.push_back(std::move(body));
    }
    TRY(finish(kType, in));
    return message;
}
Result<CompactBlock, Reject> get_compact(Reader& in) {
    CompactBlock message;
    constexpr auto kType = MessageType::CompactBlock;
    TRY(message.sealed, get_sealed(kType, in));
    TRY(const auto count, or_reject(kType, get_count(in, kBlockTxsMax, kShortIdBytes)));
    message.short_ids.resize(count);
    for (std::uint64_t& id : message.short_ids) {
        TRY(const auto low, or_reject(kType, in.u32()));
        TRY(const auto high, or_reject(kType, in.u16()));
        id = std::uint64_t{high} << 32 | low;
    }
    TRY(const auto given, or_reject(kType, get_count(in, count, 4 + 1)));
    for (std::size_t i = 0; i < given; ++i) {
        CompactBlock::Given one;
        TRY(one.place, or_reject(kType, in.u32()));
        if (one.place >= count || (i > 0 && one.place <= message.given.back().place))
            return malformed(kType, DecodeFault::BadValue);
        TRY(one.tx, ledger::decode_tx(in));
        message.given.push_back(std::move(one));
    }
    TRY(finish(kType, in));
    return message;
}
Result<WantBlockTxs, Reject> get_want_block_txs(Reader& in) {
    WantBlockTxs message;
    constexpr auto kType = MessageType::WantBlockTxs;
    TRY(message.block, or_reject(kType, in.id<ledger::BlockHash>()));
    TRY(const auto count, or_reject(kType, get_count(in, kBlockTxsMax, 4)));
    message.places.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
        TRY(message.places[i], or_reject(kType, in.u32()));
        if (i > 0 && message.places[i] <= message.places[i - 1]) return malformed(kType, DecodeFault::BadValue);
    }
    TRY(finish(kType, in));
    return message;
}

Result<StateManifest, DecodeFault> get_manifest(Reader& in) {
    StateManifest message;
    TRY(message.block, in.id<ledger::BlockHash>());
    TRY(const auto bytes, in.blob(ledger::kManifestBytesMax));
    message.bytes = to_bytes(bytes);
    TRY(in.finish());
    return message;
}
Result<WantPart, DecodeFault> get_want_part(Reader& in) {
    WantPart message;
    TRY(message.block, in.id<ledger::BlockHash>());
    TRY(message.part, in.u32());
    TRY(message.hash, in.id<crypto::Hash256>());
    TRY(in.finish());
    return message;
}
Result<StatePart, DecodeFault> get_part(Reader& in) {
    StatePart message;
    TRY(message.block, in.id<ledger::BlockHash>());
    TRY(message.part, in.u32());
    TRY(const auto bytes, in.blob(ledger::kPartBytesMax));
    message.bytes = to_bytes(bytes);
    TRY(in.finish());
    return message;
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
        case MessageType::WantHeaders: return "want-headers";
        case MessageType::Headers: return "headers";
        case MessageType::WantBodies: return "want-bodies";
        case MessageType::Bodies: return "bodies";
        case MessageType::HaveTxs: return "have-transactions";
        case MessageType::WantTxs: return "want-transactions";
        case MessageType::CompactBlock: return "compact-block";
        case MessageType::WantBlockTxs: return "want-block-transactions";
        case MessageType::BlockTxs: return "block-transactions";
        case MessageType::WantManifest: return "want-manifest";
        case MessageType::StateManifest: return "manifest";
        case MessageType::WantPart: return "want-part";
        case MessageType::StatePart: return "part";
    }
    return "unknown";
}

std::size_t bytes_max(MessageType type) {
    switch (type) {
        case MessageType::Status:
            return 1 + 8 + 33 + ledger::BlockHash::kSize + 8 + 2 * kCheckpointBytes + 8 +
                   std::tuple_size_v<consensus::VoteSums> * 16 + std::tuple_size_v<ledger::VoteRecordId>;
        case MessageType::Transactions: return 1 + kCountBytes + ledger::kTxBytesMax + kCountBytes;
        case MessageType::NewBlock: return 1 + kBlocksBytesMax / 2;
        case MessageType::WantHeaders:
        case MessageType::WantBlocks: return 1 + kCountBytes + (kHashesMax + 1) * ledger::BlockHash::kSize;
        case MessageType::Headers:
            return 1 + kCountBytes + kLimits.answer_headers_bytes + kSealedBytesLeast + ledger::kSealBytesMax;
        case MessageType::WantBodies: return 1 + kCountBytes + kLimits.ask_bodies_max * ledger::BlockHash::kSize;
        case MessageType::Bodies: return 1 + kCountBytes + kBlocksBytesMax;
        case MessageType::HaveTxs:
        case MessageType::WantTxs: return 1 + kCountBytes + kLimits.message_txs_max * ledger::WireId::kSize;
        case MessageType::CompactBlock: return 1 + 2 * kCountBytes + kBlocksBytesMax / 2 + kBlockTxsMax * kShortIdBytes;
        case MessageType::WantBlockTxs: return 1 + kCountBytes + ledger::BlockHash::kSize + kBlockTxsMax * 4;
        case MessageType::BlockTxs: return 1 + kCountBytes + ledger::BlockHash::kSize + kBlocksBytesMax / 2;
        case MessageType::Blocks: return 1 + kCountBytes + kBlocksBytesMax;
        case MessageType::Votes: return 1 + consensus::kVoteSetBytesMax;
        case MessageType::HaveVotes:
        case MessageType::AskVotes: return 1 + kCountBytes + kLimits.message_votes_max * kVoteNameBytes;
        case MessageType::WantVotes: return 1 + 8;
        case MessageType::WantManifest: return 1 + ledger::BlockHash::kSize;
        case MessageType::StateManifest: return 1 + ledger::BlockHash::kSize + 4 + ledger::kManifestBytesMax;
        case MessageType::WantPart: return 1 + 2 * ledger::BlockHash::kSize + 4;
        case MessageType::StatePart: return 1 + ledger::BlockHash::kSize + 4 + 4 + ledger::kPartBytesMax;
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
            TRY(auto groups, or_reject(type, consensus::decode_groups(body, kLimits.message_votes_max)));
            return Message{Votes{std::move(groups)}};
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
        case MessageType::WantHeaders: {
            TRY(auto message, get_want_headers(in));
            return Message{std::move(message)};
        }
        case MessageType::Headers: {
            TRY(auto message, get_headers(in));
            return Message{std::move(message)};
        }
        case MessageType::WantBodies: {
            TRY(auto blocks, or_reject(type, get_ids<ledger::BlockHash>(in, kLimits.ask_bodies_max)));
            TRY(finish(type, in));
            return Message{WantBodies{std::move(blocks)}};
        }
        case MessageType::Bodies: {
            TRY(auto message, get_bodies(in));
            return Message{std::move(message)};
        }
        case MessageType::HaveTxs: {
            TRY(auto ids, or_reject(type, get_ids<ledger::WireId>(in, kLimits.message_txs_max)));
            TRY(finish(type, in));
            return Message{HaveTxs{std::move(ids)}};
        }
        case MessageType::WantTxs: {
            TRY(auto ids, or_reject(type, get_ids<ledger::WireId>(in, kLimits.message_txs_max)));
            TRY(finish(type, in));
            return Message{WantTxs{std::move(ids)}};
        }
        case MessageType::CompactBlock: {
            TRY(auto message, get_compact(in));
            return Message{std::move(message)};
        }
        case MessageType::WantBlockTxs: {
            TRY(auto message, get_want_block_txs(in));
            return Message{std::move(message)};
        }
        case MessageType::BlockTxs: {
            BlockTxs message;
            TRY(message.block, or_reject(type, in.id<ledger::BlockHash>()));
            TRY(message.txs, get_txs(type, in));
            TRY(finish(type, in));
            return Message{std::move(message)};
        }
        case MessageType::WantManifest: {
            TRY(const auto block, or_reject(type, in.id<ledger::BlockHash>()));
            TRY(finish(type, in));
            return Message{WantManifest{block}};
        }
        case MessageType::StateManifest: {
            TRY(auto message, or_reject(type, get_manifest(in)));
            return Message{std::move(message)};
        }
        case MessageType::WantPart: {
            TRY(const auto message, or_reject(type, get_want_part(in)));
            return Message{message};
        }
        case MessageType::StatePart: {
            TRY(auto message, or_reject(type, get_part(in)));
            return Message{std::move(message)};
        }
    }
    unreachable("a type with a size is one of these");
}

}  // namespace rhizome::core
