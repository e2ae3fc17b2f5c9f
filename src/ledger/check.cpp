// SPDX-License-Identifier: Apache-2.0
#include "ledger/check.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/codec.h"
#include "ledger/codec.h"
#include "ledger/limits.h"
#include "script/script.h"

namespace rhizome::ledger {
namespace {

bool has_minimal_pushes(ByteView unlocking) {
    script::InstructionReader instructions{unlocking};
    while (const auto instruction = instructions.next())
        if (!script::is_minimal_push(*instruction)) return false;
    return true;
}

Result<void, Reject> check_inputs(const Tx& tx, bool allow_genesis) {
    if (tx.inputs.empty()) return reject(RejectCode::BadEncoding, "a transaction needs an input");
    if (tx.inputs.size() > kInputsMax) return reject(RejectCode::TooLarge, "more than 10,000 inputs");
    for (std::size_t i = 0; i < tx.inputs.size(); ++i) {
        const Input& input = tx.inputs[i];
        if (input.unlocking.size() > kScriptBytesMax)
            return reject_input(RejectCode::TooLarge, i, "its unlocking script is longer than 10,000 bytes");
        if (input.previous.change.is_zero() && !(allow_genesis && is_genesis(tx)))
            return reject_input(RejectCode::BadEncoding, i, "only the genesis transaction names no output");
        if (!script::is_push_only(input.unlocking) || !has_minimal_pushes(input.unlocking))
            return reject_input(RejectCode::BadEncoding, i, "its unlocking script has other than minimal pushes");
    }
    if (tx.inputs.size() == 1) return {};
    std::vector<Outpoint> named;
    named.reserve(tx.inputs.size());
    for (const Input& input : tx.inputs) named.push_back(input.previous);
    std::sort(named.begin(), named.end());
    if (std::adjacent_find(named.begin(), named.end()) != named.end())
        return reject(RejectCode::BadEncoding, "two inputs name the same output");
    return {};
}

crypto::Hash256 hash_outpoints(const Tx& tx) {
    Writer out{tx.inputs.size() * 34};
    for (const Input& input : tx.inputs) out.id(input.previous.change).u16(input.previous.index);
    return crypto::sha256(out.view());
}

crypto::Hash256 hash_sequences(const Tx& tx) {
    Writer out{tx.inputs.size() * 4};
    for (const Input& input : tx.inputs) out.u32(input.sequence);
    return crypto::sha256(out.view());
}

Result<void, Reject> check_size(const Tx& tx) {
    if (encoded_size(tx) > kTxBytesMax) return reject(RejectCode::TooLarge, "the transaction is larger than a block");
    return {};
}

/// What is sent.
Bytes hash_whole(const Tx& tx, CheckedTx& checked) {
    Bytes whole = encode(tx);
    checked.bytes = whole.size();
    checked.wire_id = WireId{crypto::sha256(whole).view()};
    return whole;
}

/// All hashes of what is signed and sent, from one encoding.
void hash_all(const Tx& tx, CheckedTx& checked) {
    const Bytes whole = hash_whole(tx, checked);
    const std::size_t outputs_size = encoded_outputs_size(tx);
    const ByteView back = ByteView{whole}.last(2 + outputs_size + 8);  // the number of outputs, they, two times
    Writer front{6 + tx.inputs.size() * 42};                           // version and number; each without its script
    encode_bare_front_to(front, tx);
    checked.id = crypto::sha256(front.view(), back);
    checked.outpoints_hash = hash_outpoints(tx);
    checked.sequences_hash = hash_sequences(tx);
    checked.outputs_hash = crypto::sha256(back.subspan(2, outputs_size));
}

}  // namespace

Result<SharedTx, Reject> check_tx(Tx tx, bool allow_genesis) {
    if (tx.version != kTxVersion) return reject(RejectCode::BadEncoding, "this version of transactions is not known");
    TRY(check_inputs(tx, allow_genesis));
    if (tx.outputs.size() > kOutputsMax) return reject(RejectCode::TooLarge, "more than 10,000 outputs");

    auto checked = std::make_shared<CheckedTx>();
    checked->outputs.reserve(tx.outputs.size());
    for (std::size_t i = 0; i < tx.outputs.size(); ++i) {
        const Output& output = tx.outputs[i];
        if (output.locking.size() > kScriptBytesMax)
            return reject(RejectCode::TooLarge,
                          fmt::format("the locking script of output {} is longer than 10,000 bytes", i));
        auto named = name_output(output.value);
        if (!named) {
            named.error().why.insert(0, fmt::format("output {}: ", i));
            return Fail{std::move(named).error()};
        }
        checked->outputs.push_back(*std::move(named));
    }
    std::vector<const Resource*> resources;
    resources.reserve(checked->outputs.size());
    for (const NamedOutput& output : checked->outputs)
        if (output.wish != Wish::Nothing) resources.push_back(&output.resource);
    std::sort(resources.begin(), resources.end(), [](const auto* a, const auto* b) { return a->path < b->path; });
    const auto twice = std::adjacent_find(resources.begin(), resources.end(),
                                          [](const auto* a, const auto* b) { return a->path == b->path; });
    if (twice != resources.end())
        return reject(RejectCode::DuplicateOutput, fmt::format("two outputs name {}", (*twice)->label()));

    TRY(check_size(tx));
    hash_all(tx, *checked);
    checked->tx = std::move(tx);
    return SharedTx{std::move(checked)};
}

Result<SharedTx, Reject> with_unlocking(const CheckedTx& tx, std::vector<Bytes> scripts) {
    ensure(scripts.size() == tx.tx.inputs.size(), "every input has a script");
    auto checked = std::make_shared<CheckedTx>(tx);
    for (std::size_t i = 0; i < scripts.size(); ++i) checked->tx.inputs[i].unlocking = std::move(scripts[i]);
    TRY(check_inputs(checked->tx, is_genesis(checked->tx)));
    TRY(check_size(checked->tx));
    (void)hash_whole(checked->tx, *checked);
    return SharedTx{std::move(checked)};
}

void CheckWork::check(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) checked_[i] = check_tx(txs_[i]);
}

Result<std::vector<SharedTx>, Reject> CheckWork::finish() && {
    std::vector<SharedTx> good;
    good.reserve(checked_.size());
    for (std::size_t i = 0; i < checked_.size(); ++i) {
        if (!checked_[i]) {
            checked_[i].error().why.insert(0, fmt::format("transaction {}: ", i));
            return Fail{std::move(checked_[i]).error()};
        }
        good.push_back(*std::move(checked_[i]));
    }
    return good;
}

crypto::Hash256 merkle_root_of_txs(std::span<const SharedTx> txs) {
    std::vector<WireId> wire_ids;
    wire_ids.reserve(txs.size());
    for (const SharedTx& tx : txs) wire_ids.push_back(tx->wire_id);
    return merkle_root_of(wire_ids);
}

bool is_whole(const Block& block, std::span<const SharedTx> txs) {
    return merkle_root_of_txs(txs) == block.header.merkle_root && seal_root_of(block.seal) == block.header.seal_root;
}

SpentValue SpentValue::of_authority() {
    static const SpentValue nothing{crypto::sha256(ByteView{})};
    return nothing;
}

crypto::Hash256 signature_digest(const CheckedTx& tx, const ChainId& chain, std::size_t index, ByteView script_code,
                                 const SpentValue& spent) {
    ensure(index < tx.tx.inputs.size(), "a digest is made for an input of the transaction");
    const Outpoint& previous = tx.tx.inputs[index].previous;
    Writer out{4 * 32 + 34 + 4 + script_code.size() + 32 + 13};
    out.id(chain)
        .u32(tx.tx.version)
        .id(tx.outpoints_hash)
        .id(tx.sequences_hash)
        .id(previous.change)
        .u16(previous.index)
        .blob(script_code)
        .id(spent.hash)
        .id(tx.outputs_hash)
        .u32(tx.tx.lock_time)
        .u32(tx.tx.expiry)
        .u8(kHashTypeAll);
    return crypto::sha256(out.view());
}

}  // namespace rhizome::ledger
