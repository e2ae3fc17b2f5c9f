// SPDX-License-Identifier: Apache-2.0
#include "ledger/block_json.h"

#include <array>
#include <charconv>

#include <fmt/core.h>

#include "ledger/codec.h"
#include "ledger/detail/json_members.h"
#include "ledger/limits.h"

namespace rhizome::ledger {
namespace {

using detail::bad_member;
using detail::JsonMembers;

/// Around a document: the block, its transactions, the transaction, its outputs, the output.
constexpr json::Limits kFormLimits{.bytes = kBlockJsonBytesMax, .depth = kDocumentDepthMax + 5};
constexpr std::array<std::string_view, 4> kConsensusNames{"authority", "work", "space", "stake"};

Result<std::uint64_t> read_nonce(JsonMembers& members) {
    TRY(const std::string digits, members.text("nonce"));
    std::uint64_t nonce = 0;
    const char* const end = digits.data() + digits.size();
    const auto [rest, fault] = std::from_chars(digits.data(), end, nonce);
    // One text for one number: no zeros in front.
    if (fault != std::errc{} || rest != end || fmt::format("{}", nonce) != digits)
        return bad_member("nonce", "is no string of the digits of a whole number below 2^64");
    return nonce;
}

Result<Header> read_header(JsonMembers& members) {
    Header header;
    TRY(const auto height, members.number<std::uint64_t>("height"));
    header.height = Height{height};
    TRY(header.time, members.time("time"));
    TRY(header.previous, members.id<BlockHash>("previous"));
    TRY(header.merkle_root, members.id<crypto::Hash256>("merkleRoot"));
    TRY(header.state_root, members.id<crypto::Hash256>("stateRoot"));
    TRY(const std::string consensus, members.text("consensus"));
    const auto known = consensus_from_name(consensus);
    if (!known) return bad_member("consensus", "is none of authority, work, space, stake");
    header.consensus = *known;
    TRY(header.seal_root, members.id<crypto::Hash256>("sealRoot"));
    TRY(header.bits, members.number<std::uint32_t>("bits"));
    TRY(header.nonce, read_nonce(members));
    return header;
}

Result<Seal> read_seal(JsonMembers& members) {
    TRY(auto parts, members.object("seal"));
    Seal seal;
    TRY(seal.proof, parts.hex("proof", kSealBytesMax));
    TRY(seal.attestations, parts.hex("attestations", kSealBytesMax));
    TRY(parts.finish());
    // Both with their lengths in front, as the bytes of a block have them.
    if (4 + seal.proof.size() + 4 + seal.attestations.size() > kSealBytesMax)
        return bad_member("seal", fmt::format("is larger than {} bytes", kSealBytesMax));
    return seal;
}

}  // namespace

std::string_view name(ConsensusId consensus) { return kConsensusNames[static_cast<std::size_t>(consensus)]; }

std::optional<ConsensusId> consensus_from_name(std::string_view name) {
    for (std::size_t i = 0; i < kConsensusNames.size(); ++i)
        if (kConsensusNames[i] == name) return static_cast<ConsensusId>(i);
    return std::nullopt;
}

json::Object to_json(const Block& block) {
    const Header& header = block.header;
    json::Array transactions;
    transactions.reserve(block.txs.size());
    for (const Tx& tx : block.txs) transactions.emplace_back(to_json(tx));
    return {
        {"hash", hash_of(header).hex()},
        {"height", header.height.number()},
        {"time", to_rfc3339(header.time, Precision::Millis)},
        {"previous", header.previous.hex()},
        {"merkleRoot", header.merkle_root.hex()},
        {"stateRoot", header.state_root.hex()},
        {"consensus", name(header.consensus)},
        {"sealRoot", header.seal_root.hex()},
        {"bits", header.bits},
        {"nonce", fmt::format("{}", header.nonce)},
        {"signature", to_hex(block.signature)},
        {"seal", json::Object{{"proof", to_hex(block.seal.proof)}, {"attestations", to_hex(block.seal.attestations)}}},
        {"transactions", std::move(transactions)}};
}

Result<Block> block_from_json(std::string_view text) {
    TRY(auto members, JsonMembers::of(text, {}, kFormLimits));
    Block block;
    TRY(block.header, read_header(members));
    TRY(const Bytes signature, members.hex("signature", block.signature.size()));
    if (signature.size() != block.signature.size()) return bad_member("signature", "is not 64 bytes of hexadecimal");
    std::copy(signature.begin(), signature.end(), block.signature.begin());
    TRY(block.seal, read_seal(members));
    TRY(const auto transactions, members.elements("transactions", kBlockTxsMax));
    std::size_t bytes = encoded_size(block);
    for (std::size_t i = 0; i < transactions.size(); ++i) {
        auto tx = tx_from_json(transactions[i].text);
        if (!tx) return Fail{with_context(fmt::format("transactions[{}]", i), std::move(tx).error())};
        bytes += encoded_size(*tx);
        if (bytes > kBlockBytesMax + 8)
            return bad_member("transactions", fmt::format("the block is larger than {} bytes", kBlockBytesMax));
        block.txs.push_back(*std::move(tx));
    }
    if (members.find("hash") != nullptr) {
        TRY(const auto hash, members.id<BlockHash>("hash"));
        if (hash != hash_of(block.header))
            return bad_member("hash", fmt::format("the block's hash is {}, so something in its header was changed",
                                                  hash_of(block.header)));
    }
    TRY(members.finish());
    return block;
}

}  // namespace rhizome::ledger
