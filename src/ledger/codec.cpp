// SPDX-License-Identifier: Apache-2.0
#include "ledger/codec.h"

#include "ledger/limits.h"

namespace rhizome::ledger {
namespace {

// The least bytes of each part: what bounds a count by the input that is left.
constexpr std::size_t kInputBytesLeast = 32 + 2 + 4 + 4;
constexpr std::size_t kOutputBytesLeast = 4 + 4;
constexpr std::size_t kTxBytesLeast = 4 + 2 + kInputBytesLeast + 2 + 4 + 4;

Fail<Reject> as_reject(DecodeFault fault) { return {to_reject(fault)}; }

/// Reads with the codec's own faults; `decode_tx` turns them into refusals in one place.
Result<Tx, DecodeFault> read_tx(Reader& in) {
    Tx tx;
    TRY(tx.version, in.u32());
    if (tx.version != kTxVersion) return Fail{DecodeFault::BadValue};
    TRY(const auto inputs_claimed, in.u16());
    TRY(const auto inputs, in.bounded_count(inputs_claimed, kInputsMax, kInputBytesLeast));
    if (inputs == 0) return Fail{DecodeFault::BadValue};
    tx.inputs.reserve(inputs);
    for (std::size_t i = 0; i < inputs; ++i) {
        Input input;
        TRY(input.previous.change, in.id<crypto::Hash256>());
        TRY(input.previous.index, in.u16());
        TRY(const auto script, in.blob(kScriptBytesMax));
        input.unlocking = to_bytes(script);
        TRY(input.sequence, in.u32());
        tx.inputs.push_back(std::move(input));
    }
    TRY(const auto outputs_claimed, in.u16());
    TRY(const auto outputs, in.bounded_count(outputs_claimed, kOutputsMax, kOutputBytesLeast));
    tx.outputs.reserve(outputs);
    for (std::size_t i = 0; i < outputs; ++i) {
        Output output;
        TRY(const auto value, in.blob(kDocumentBytesMax));
        output.value = as_text(value);
        TRY(const auto script, in.blob(kScriptBytesMax));
        output.locking = to_bytes(script);
        tx.outputs.push_back(std::move(output));
    }
    TRY(tx.lock_time, in.u32());
    TRY(tx.expiry, in.u32());
    return tx;
}

void encode_to(Writer& out, const Header& header) {
    out.u32(header.version)
        .id(header.previous)
        .id(header.merkle_root)
        .id(header.state_root)
        .u64(static_cast<std::uint64_t>(header.time.unix_millis()))
        .u64(header.height.number())
        .u8(static_cast<std::uint8_t>(header.consensus))
        .id(header.seal_root)
        .u32(header.bits)
        .u64(header.nonce);
}

Result<Header, DecodeFault> read_header(Reader& in) {
    Header header;
    TRY(header.version, in.u32());
    if (header.version != kBlockVersion) return Fail{DecodeFault::BadValue};
    TRY(header.previous, in.id<BlockHash>());
    TRY(header.merkle_root, in.id<crypto::Hash256>());
    TRY(header.state_root, in.id<crypto::Hash256>());
    TRY(const auto millis, in.u64());
    // Beyond the year 9999 no time of ours can be printed; a block from there is nonsense, not a far future.
    if (millis > 253'402'300'799'999u) return Fail{DecodeFault::BadValue};
    header.time = Time::from_unix_millis(static_cast<std::int64_t>(millis));
    TRY(const auto height, in.u64());
    header.height = Height{height};
    TRY(const auto consensus, in.u8());
    if (consensus > static_cast<std::uint8_t>(ConsensusId::Stake)) return Fail{DecodeFault::BadValue};
    header.consensus = static_cast<ConsensusId>(consensus);
    TRY(header.seal_root, in.id<crypto::Hash256>());
    TRY(header.bits, in.u32());
    TRY(header.nonce, in.u64());
    return header;
}

std::size_t seal_size(const Seal& seal) { return 4 + seal.proof.size() + 4 + seal.attestations.size(); }

Result<Block, DecodeFault> read_block(Reader& in) {
    TRY(const auto magic, in.u32());
    if (magic != kBlockMagic) return Fail{DecodeFault::BadValue};
    TRY(const auto size, in.u32());
    if (size > kBlockBytesMax) return Fail{DecodeFault::TooLong};
    if (size < in.left()) return Fail{DecodeFault::Trailing};
    if (size > in.left()) return Fail{DecodeFault::Truncated};
    Block block;
    TRY(block.header, read_header(in));
    TRY(block.signature, in.array<64>());
    TRY(const auto claimed, in.u32());
    TRY(const auto count, in.bounded_count(claimed, kBlockTxsMax, kTxBytesLeast));
    block.txs.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        TRY(auto tx, read_tx(in));
        block.txs.push_back(std::move(tx));
    }
    TRY(const auto seal_bytes, in.blob(kSealBytesMax));
    Reader seal{seal_bytes};
    TRY(const auto proof, seal.blob(kSealBytesMax));
    TRY(const auto attestations, seal.blob(kSealBytesMax));
    TRY(seal.finish());
    block.seal = {to_bytes(proof), to_bytes(attestations)};
    TRY(in.finish());
    return block;
}

/// Up to the outputs; `unlocking_of` says what stands for an input's unlocking script.
template <class UnlockingOf>
void encode_front_to(Writer& out, const Tx& tx, UnlockingOf unlocking_of) {
    ensure(tx.inputs.size() <= kInputsMax, "a transaction within its limits");
    out.u32(tx.version).u16(static_cast<std::uint16_t>(tx.inputs.size()));
    for (const Input& input : tx.inputs)
        out.id(input.previous.change).u16(input.previous.index).blob(unlocking_of(input)).u32(input.sequence);
}

}  // namespace

void encode_to(Writer& out, const Tx& tx) {
    encode_front_to(out, tx, [](const Input& input) { return ByteView{input.unlocking}; });
    encode_back_to(out, tx);
}

void encode_bare_front_to(Writer& out, const Tx& tx) {
    encode_front_to(out, tx, [](const Input&) { return ByteView{}; });
}

void encode_back_to(Writer& out, const Tx& tx) {
    ensure(tx.outputs.size() <= kOutputsMax, "a transaction within its limits");
    out.u16(static_cast<std::uint16_t>(tx.outputs.size()));
    for (const Output& output : tx.outputs) out.blob(as_bytes(output.value)).blob(output.locking);
    out.u32(tx.lock_time).u32(tx.expiry);
}

std::size_t encoded_outputs_size(const Tx& tx) {
    std::size_t size = 0;
    for (const Output& output : tx.outputs) size += kOutputBytesLeast + output.value.size() + output.locking.size();
    return size;
}

std::size_t encoded_size(const Tx& tx) {
    std::size_t size = kTxBytesLeast - kInputBytesLeast + encoded_outputs_size(tx);
    for (const Input& input : tx.inputs) size += kInputBytesLeast + input.unlocking.size();
    return size;
}

Bytes encode(const Tx& tx) {
    Writer out{encoded_size(tx)};
    encode_to(out, tx);
    return std::move(out).take();
}

Result<Tx, Reject> decode_tx(Reader& in) {
    auto tx = read_tx(in);
    if (!tx) return as_reject(tx.error());
    return *std::move(tx);
}

Result<Tx, Reject> decode_tx(ByteView bytes) {
    if (bytes.size() > kTxBytesMax) return as_reject(DecodeFault::TooLong);
    Reader in{bytes};
    TRY(auto tx, decode_tx(in));
    if (!in.empty()) return as_reject(DecodeFault::Trailing);
    return tx;
}

Bytes encode(const Header& header) {
    Writer out{kHeaderBytes};
    encode_to(out, header);
    return std::move(out).take();
}

Result<Header, Reject> decode_header(ByteView bytes) {
    Reader in{bytes};
    auto header = read_header(in);
    if (!header) return as_reject(header.error());
    if (!in.empty()) return as_reject(DecodeFault::Trailing);
    return *header;
}

std::size_t encoded_size(const Block& block) {
    std::size_t size = 4 + 4 + kHeaderBytes + 64 + 4 + 4 + seal_size(block.seal);
    for (const Tx& tx : block.txs) size += encoded_size(tx);
    return size;
}

Bytes encode(const Block& block) {
    const std::size_t size = encoded_size(block);
    Writer out{size};
    out.u32(kBlockMagic).u32(static_cast<std::uint32_t>(size - 8));
    encode_to(out, block.header);
    out.raw(block.signature).u32(static_cast<std::uint32_t>(block.txs.size()));
    for (const Tx& tx : block.txs) encode_to(out, tx);
    out.u32(static_cast<std::uint32_t>(seal_size(block.seal))).blob(block.seal.proof).blob(block.seal.attestations);
    return std::move(out).take();
}

Result<Block, Reject> decode_block(ByteView bytes) {
    Reader in{bytes};
    auto block = read_block(in);
    if (!block) return as_reject(block.error());
    return *std::move(block);
}

}  // namespace rhizome::ledger
