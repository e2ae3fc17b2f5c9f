// SPDX-License-Identifier: Apache-2.0
#include "ledger/proof_files.h"

#include <fmt/core.h>

#include "ledger/codec.h"
#include "ledger/detail/json_members.h"
#include "ledger/limits.h"
#include "script/assembler.h"

namespace rhizome::ledger {
namespace {

using detail::bad_member;
using detail::JsonMembers;

constexpr std::string_view kAnchor = "rhizome-anchor";
constexpr std::string_view kTxProof = "rhizome-tx-proof";
constexpr std::string_view kStateProof = "rhizome-state-proof";
constexpr std::uint32_t kVersion = 1;
/// Around a document: the proof, the transaction, its outputs, the output.
constexpr json::Limits kLimits{.bytes = kProofFileBytesMax, .depth = kDocumentDepthMax + 4};
/// A step for each bit of the longest key, 34 bytes each, and a leaf.
constexpr std::size_t kStateProofBytesMax = state::kPathBytesMax * 8 * 34 + 4'096;

Result<JsonMembers> open(std::string_view text, std::string_view kind) {
    TRY(auto members, JsonMembers::of(text, {}, kLimits));
    TRY(const std::string found, members.text("kind"));
    if (found != kind) return bad_member("kind", fmt::format("is not {}: this is another kind of file", kind));
    TRY(const auto version, members.number<std::uint32_t>("version"));
    if (version != kVersion)
        return fail(ErrorKind::Unsupported,
                    fmt::format("version: {} is not known; this program reads {}", version, kVersion));
    return members;
}

Result<Header> read_header(JsonMembers& members) {
    TRY(const Bytes bytes, members.hex("header", kHeaderBytes));
    auto header = decode_header(bytes);
    if (!header) return bad_member("header", to_text(header.error()));
    TRY(const auto hash, members.id<BlockHash>("block"));
    if (hash != hash_of(*header)) return bad_member("block", "is not the hash of the header");
    return *header;
}

json::Object frame(std::string_view kind, const ChainId& chain, const Header& header) {
    return {{"kind", kind},
            {"version", kVersion},
            {"chainId", chain.hex()},
            {"block", hash_of(header).hex()},
            {"header", to_hex(encode(header))}};
}

/// For people; a reader does not look at it.
json::Object about(const Header& header) {
    return {{"height", header.height.number()}, {"time", to_rfc3339(header.time, Precision::Millis)}};
}

Fail<Error> wrong(std::string why) { return fail(ErrorKind::Corrupt, std::move(why)); }

}  // namespace

json::Object to_json(const Anchor& anchor) {
    return {{"kind", kAnchor},
            {"version", kVersion},
            {"chainId", anchor.chain.hex()},
            {"height", anchor.height.number()},
            {"block", anchor.block.hex()},
            {"stateRoot", anchor.state_root.hex()},
            {"historyRoot", anchor.history_root.hex()}};
}

Result<Anchor> anchor_from_json(std::string_view text) {
    TRY(auto members, open(text, kAnchor));
    Anchor anchor;
    TRY(anchor.chain, members.id<ChainId>("chainId"));
    TRY(const auto height, members.number<std::uint64_t>("height"));
    anchor.height = Height{height};
    TRY(anchor.block, members.id<BlockHash>("block"));
    TRY(anchor.state_root, members.id<crypto::Hash256>("stateRoot"));
    TRY(anchor.history_root, members.id<crypto::Hash256>("historyRoot"));
    TRY(members.finish());
    return anchor;
}

json::Object to_json(const TxProof& proof) {
    json::Object file = frame(kTxProof, proof.chain, proof.header);
    json::Array path;
    for (const auto& hash : proof.path.path) path.emplace_back(hash.hex());
    file.set("txid", id_of(proof.tx).hex());
    file.set("wireId", wire_id_of(proof.tx).hex());
    file.set("index", proof.path.index);
    file.set("count", proof.path.count);
    file.set("path", std::move(path));
    file.set("transaction", to_json(proof.tx));
    file.set("about", about(proof.header));
    return file;
}

Result<TxProof> tx_proof_from_json(std::string_view text) {
    TRY(auto members, open(text, kTxProof));
    TxProof proof;
    TRY(proof.chain, members.id<ChainId>("chainId"));
    TRY(proof.header, read_header(members));
    const std::string_view* form = members.find("transaction");
    if (form == nullptr) return bad_member("transaction", "is missing");
    auto tx = tx_from_json(*form);
    if (!tx) return Fail{with_context("transaction", std::move(tx).error())};
    proof.tx = *std::move(tx);
    TRY(const auto id, members.id<TxId>("txid"));
    if (id != id_of(proof.tx)) return bad_member("txid", "is not that of the transaction");
    TRY(const auto wire_id, members.id<WireId>("wireId"));
    if (wire_id != wire_id_of(proof.tx)) return bad_member("wireId", "is not that of the transaction");
    TRY(proof.path.index, members.number<std::uint64_t>("index"));
    TRY(proof.path.count, members.number<std::uint64_t>("count"));
    TRY(const auto path, members.elements("path", 64));
    for (std::size_t i = 0; i < path.size(); ++i) {
        std::string_view digits = path[i].text;
        if (digits.size() < 2 || !digits.starts_with('"'))
            return bad_member(fmt::format("path[{}]", i), "is no string");
        digits = digits.substr(1, digits.size() - 2);
        const auto hash = crypto::Hash256::from_hex(digits);
        if (!hash) return bad_member(fmt::format("path[{}]", i), "is not 64 hexadecimal digits");
        proof.path.path.push_back(*hash);
    }
    members.skip("about");
    TRY(members.finish());
    return proof;
}

Result<void> check(const TxProof& proof) {
    const auto shown = crypto::verify_proof(proof.header.merkle_root, wire_id_of(proof.tx).view(), proof.path);
    if (!shown)
        return wrong(fmt::format("the transaction is not shown to be in block {}: {}", hash_of(proof.header),
                                 to_error(shown.error()).message));
    return ok();
}

json::Object to_json(const StateProof& proof) {
    json::Object file = frame(kStateProof, proof.chain, proof.header);
    file.set("path", proof.path.text());
    file.set("proof", to_hex(state::encode(proof.proof)));
    if (proof.content && proof.content->written) {
        file.set("script", script::disassemble(proof.content->script));
        file.set("document", proof.content->document);
    } else if (proof.content) {
        file.set("bytes", to_hex(as_bytes(proof.content->document)));
    }
    file.set("about", about(proof.header));
    return file;
}

Result<StateProof> state_proof_from_json(std::string_view text) {
    TRY(auto members, open(text, kStateProof));
    StateProof proof;
    TRY(proof.chain, members.id<ChainId>("chainId"));
    TRY(proof.header, read_header(members));
    TRY(const std::string path_text, members.text("path"));
    const auto path = state::Path::parse(path_text);
    if (!path) return bad_member("path", to_error(path.error()).message);
    proof.path = *path;
    TRY(const Bytes bytes, members.hex("proof", kStateProofBytesMax));
    auto decoded = state::decode_proof(bytes);
    if (!decoded) return bad_member("proof", to_error(decoded.error()).message);
    proof.proof = *std::move(decoded);
    if (members.find("bytes") != nullptr) {
        TRY(const Bytes record, members.hex("bytes", state::kDocumentBytesMax));
        proof.content = StateProof::Content{.document = std::string{as_text(record)}};
    } else if (members.find("document") != nullptr) {
        StateProof::Content content{.written = true};
        TRY(content.document, members.text("document"));
        TRY(const std::string assembly, members.text("script"));
        auto script = script::assemble(assembly);
        if (!script) return bad_member("script", script::to_error(script.error()).message);
        content.script = *std::move(script);
        proof.content = std::move(content);
    }
    members.skip("about");
    TRY(members.finish());
    return proof;
}

Result<state::Finding> check(const StateProof& proof) {
    const auto found = state::verify(proof.header.state_root, proof.path, proof.proof);
    if (!found)
        return wrong(fmt::format("nothing is shown about {} in the state of block {}: {}", proof.path.text(),
                                 hash_of(proof.header), to_error(found.error()).message));
    if (!proof.content) return *found;
    const auto* present = std::get_if<state::Presence>(&*found);
    if (present == nullptr)
        return wrong(
            fmt::format("the proof shows that there is no {}, yet the file says what stands there", proof.path.text()));
    const auto hash = crypto::sha256(as_bytes(proof.content->document));
    const auto* written = std::get_if<state::Summary::Written>(&present->entry.content);
    const auto* plain = std::get_if<state::Summary::Plain>(&present->entry.content);
    const bool same = proof.content->written ? written != nullptr && written->document_hash == hash &&
                                                   written->script_hash == crypto::sha256(proof.content->script)
                                             : plain != nullptr && plain->bytes_hash == hash;
    if (!same) return wrong(fmt::format("what the file says of {} is not what its proof is for", proof.path.text()));
    return *found;
}

}  // namespace rhizome::ledger
