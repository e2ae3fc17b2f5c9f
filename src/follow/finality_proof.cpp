// SPDX-License-Identifier: Apache-2.0
#include "follow/finality_proof.h"

#include "consensus/attestations.h"
#include "consensus/judge.h"
#include "consensus/records.h"
#include "ledger/chain_records.h"
#include "ledger/codec.h"
#include "ledger/limits.h"

namespace rhizome::follow {
namespace {

constexpr std::uint8_t kVersion = 1;
/// A step for each bit of the longest key, 34 bytes each, and a leaf.
constexpr std::size_t kProofBytesMax = state::kPathBytesMax * 8 * 34 + 4'096;
/// Of the voters: 10,000 keys of 33 bytes; of the parameters less.
constexpr std::size_t kRecordBytesMax = 1u << 20;

Result<void, DecodeFault> read_frame(Reader& in, ledger::ChainId& chain, ledger::Header& header) {
    TRY(const auto version, in.u8());
    if (version != kVersion) return Fail{DecodeFault::BadValue};
    TRY(chain, in.id<ledger::ChainId>());
    TRY(const auto bytes, in.raw(ledger::kHeaderBytes));
    auto read = ledger::decode_header(bytes);
    if (!read) return Fail{DecodeFault::BadValue};
    header = *read;
    return {};
}

Writer write_frame(const ledger::ChainId& chain, const ledger::Header& header) {
    Writer out;
    out.u8(kVersion).id(chain).raw(ledger::encode(header));
    return out;
}

}  // namespace

std::array<state::Path, 4> finality_records() {
    return {ledger::records::voters(), consensus::records::next(), consensus::records::electorate(),
            ledger::records::parameters()};
}

FinalityProof prove_finality(const ledger::ChainId& chain, const ledger::Header& header,
                             const std::array<std::uint8_t, 64>& signature, ledger::Seal seal,
                             const state::StateView& view, consensus::Epoch epoch, std::vector<consensus::Vote> votes) {
    FinalityProof proof{.chain = chain,
                        .header = header,
                        .signature = signature,
                        .seal = std::move(seal),
                        .epoch = epoch,
                        .votes = std::move(votes)};
    const auto paths = finality_records();
    for (std::size_t i = 0; i < paths.size(); ++i) {
        proof.records[i].proof = state::prove(view, paths[i]);
        if (const state::Entry* entry = view.get(paths[i])) proof.records[i].bytes = to_bytes(entry->bytes());
    }
    return proof;
}

std::optional<SubtreeProof> prove_subtree(const ledger::ChainId& chain, const ledger::Header& header,
                                          const state::StateView& view, const state::Prefix& prefix,
                                          std::optional<ledger::Height> written_after) {
    SubtreeProof made{.chain = chain, .header = header, .prefix = prefix};
    if (view.totals(prefix).bytes > kSubtreeBytesMax / 2) return std::nullopt;
    auto proof = state::prove_under(view, prefix, kSubtreeEntriesMax);
    if (!proof) return std::nullopt;
    made.proof = *std::move(proof);
    state::Cursor cursor = view.walk(prefix);
    while (const state::Entry* entry = cursor.next())
        if (!written_after || !entry->is_written() || entry->origin().latest.height > *written_after)
            made.entries.emplace_back(entry);
    return made;
}

Bytes encode(const FinalityProof& proof) {
    Writer out = write_frame(proof.chain, proof.header);
    out.raw(proof.signature).blob(proof.seal.proof).blob(proof.seal.attestations);
    out.u64(proof.epoch.number()).blob(consensus::encode_votes(proof.votes));
    for (const ProvenRecord& record : proof.records) out.blob(state::encode(record.proof)).blob(record.bytes);
    return std::move(out).take();
}

Result<FinalityProof, DecodeFault> decode_finality_proof(ByteView bytes) {
    if (bytes.size() > kFinalityBytesMax) return Fail{DecodeFault::TooLong};
    Reader in{bytes};
    FinalityProof proof;
    TRY(read_frame(in, proof.chain, proof.header));
    TRY(proof.signature, in.array<64>());
    TRY(const auto seal, in.blob(ledger::kSealBytesMax));
    TRY(const auto attestations, in.blob(ledger::kSealBytesMax));
    proof.seal = {.proof = to_bytes(seal), .attestations = to_bytes(attestations)};
    TRY(const auto epoch, in.u64());
    proof.epoch = consensus::Epoch{epoch};
    TRY(const auto votes, in.blob(consensus::kVoteSetBytesMax));
    TRY(proof.votes, consensus::decode_votes(votes, consensus::kCarriedVotesMax));
    for (ProvenRecord& record : proof.records) {
        TRY(const auto way, in.blob(kProofBytesMax));
        TRY(record.proof, state::decode_proof(way));
        TRY(const auto content, in.blob(kRecordBytesMax));
        record.bytes = to_bytes(content);
    }
    TRY(in.finish());
    return proof;
}

Bytes encode(const SubtreeProof& proof) {
    Writer out = write_frame(proof.chain, proof.header);
    out.short_blob(as_bytes(proof.prefix.key())).blob(state::encode(proof.proof)).varint(proof.entries.size());
    for (const state::EntryPtr& entry : proof.entries) state::encode(out, *entry);
    return std::move(out).take();
}

Result<SubtreeProof, DecodeFault> decode_subtree_proof(ByteView bytes) {
    if (bytes.size() > kSubtreeBytesMax) return Fail{DecodeFault::TooLong};
    Reader in{bytes};
    SubtreeProof proof;
    TRY(read_frame(in, proof.chain, proof.header));
    TRY(const auto key, in.short_blob(state::kPathBytesMax));
    auto prefix = state::Prefix::from_key(key);
    if (!prefix) return Fail{DecodeFault::BadValue};
    proof.prefix = *std::move(prefix);
    TRY(const auto way, in.blob(kSubtreeBytesMax));
    TRY(proof.proof, state::decode_prefix_proof(way, kSubtreeEntriesMax));
    TRY(const auto written, in.varint());
    constexpr std::size_t kLeastEach = 1 + 1 + 8;  // tag, key length, the shortest key
    TRY(const auto count, in.bounded_count(written, kSubtreeEntriesMax, kLeastEach));
    proof.entries.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        TRY(auto entry, state::decode_entry(in));
        proof.entries.push_back(std::move(entry));
    }
    TRY(in.finish());
    return proof;
}

}  // namespace rhizome::follow
