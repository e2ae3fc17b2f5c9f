// SPDX-License-Identifier: Apache-2.0
#include "ledger/member.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/codec.h"
#include "crypto/derive.h"

namespace rhizome::ledger {
namespace {

constexpr std::size_t kPossessionBytes = 64 + 64 + 80;

Fail<Reject> bad(std::string_view what) { return reject(RejectCode::BadEncoding, fmt::format("the Node's {}", what)); }

/// What the three secrets sign. The WireGuard key cannot sign; the others vouch for it.
crypto::Hash256 statement(const Member& member, const ChainId& chain) {
    Writer out;
    out.id(chain)
        .short_blob(as_bytes(member.node))
        .raw(member.chain)
        .raw(member.transport)
        .raw(member.vrf)
        .raw(member.wireguard);
    return crypto::tagged_hash(crypto::HashTag::Possession, out.view());
}

std::string_view annotation(const json::Value& node, std::string_view key) {
    return node.text_at({"metadata", "annotations", key});
}

Result<void, Reject> check_possession(const Member& member, ByteView proof, const ChainId& chain) {
    const auto key = crypto::PublicKey::parse(member.chain);
    if (!key) return bad("chain key is no public key");
    const auto transport = crypto::Ed25519Public::parse(member.transport);
    if (!transport) return bad("transport key is no public key");
    const auto vrf = crypto::VrfPublic::from_bytes(member.vrf);
    if (!vrf) return bad("VRF key is no public key");
    if (!crypto::is_canonical(crypto::X25519Public{std::span<const std::uint8_t, 32>{member.wireguard}}))
        return bad("WireGuard key is no public key");

    const crypto::Hash256 digest = statement(member, chain);
    const auto signature = crypto::Signature::from_compact(proof.first(64));
    if (!signature || !crypto::verify(*key, digest, *signature)) return bad("proof does not show its chain key");
    if (!crypto::verify(*transport, digest.view(), proof.subspan(64, 64)))
        return bad("proof does not show its transport key");
    const auto vrf_proof = crypto::VrfProof{proof.subspan(128).first<80>()};
    if (!crypto::verify(*vrf, digest.view(), vrf_proof)) return bad("proof does not show its VRF key");
    return {};
}

}  // namespace

Result<std::optional<Member>, Reject> read_member(const json::Value& node, const ChainId& chain) {
    std::string_view chain_key = annotation(node, kChainKeyAnnotation);
    if (chain_key.empty()) chain_key = node.text_at({"metadata", "pubKey"});
    const std::string_view transport = annotation(node, kTransportKeyAnnotation);
    const std::string_view vrf = annotation(node, kVrfKeyAnnotation);
    const std::string_view wireguard = annotation(node, kWireguardKeyAnnotation);
    const std::string_view possession = annotation(node, kPossessionAnnotation);
    // The thesis's Node carries `pubKey` alone and hosts nothing here: an ordinary object.
    if (annotation(node, kChainKeyAnnotation).empty() && transport.empty() && vrf.empty() && wireguard.empty() &&
        possession.empty())
        return std::optional<Member>{};

    Member member{.node = std::string{node.text_at({"metadata", "name"})}};
    if (!from_hex_into(chain_key, member.chain)) return bad("chain key is not 33 bytes of hexadecimal");
    if (!from_hex_into(transport, member.transport)) return bad("transport key is not 32 bytes of hexadecimal");
    if (!from_hex_into(vrf, member.vrf)) return bad("VRF key is not 32 bytes of hexadecimal");
    if (!from_hex_into(wireguard, member.wireguard)) return bad("WireGuard key is not 32 bytes of hexadecimal");
    std::array<std::uint8_t, kPossessionBytes> proof{};
    if (!from_hex_into(possession, proof)) return bad("proof of possession is not 208 bytes of hexadecimal");
    TRY(check_possession(member, proof, chain));
    return std::optional<Member>{std::move(member)};
}

namespace {

Member member_of(const crypto::NodePublicKeys& keys, std::string_view node) {
    Member member{.node = std::string{node}, .chain = keys.chain.bytes(), .transport = keys.transport.bytes()};
    const auto copy = [](const auto& from, auto& to) { std::copy(from.begin(), from.end(), to.begin()); };
    copy(keys.vrf.view(), member.vrf);
    copy(keys.wireguard.view(), member.wireguard);
    return member;
}

}  // namespace

Bytes prove_possession(const crypto::NodeKeys& keys, std::string_view node, const ChainId& chain) {
    const crypto::Hash256 digest = statement(member_of(keys.public_keys(), node), chain);
    Bytes proof = to_bytes(crypto::sign(keys.chain, digest).to_compact());
    const auto append = [&](ByteView part) { proof.insert(proof.end(), part.begin(), part.end()); };
    append(keys.transport.sign(digest.view()).view());
    append(crypto::prove(keys.vrf, digest.view())->view());
    ensure(proof.size() == kPossessionBytes, "a proof of possession has three parts");
    return proof;
}

json::Object member_annotations(const crypto::NodeKeys& keys, std::string_view node, const ChainId& chain) {
    const Member member = member_of(keys.public_keys(), node);
    return json::Object{{kChainKeyAnnotation, to_hex(member.chain)},
                        {kTransportKeyAnnotation, to_hex(member.transport)},
                        {kVrfKeyAnnotation, to_hex(member.vrf)},
                        {kWireguardKeyAnnotation, to_hex(member.wireguard)},
                        {kPossessionAnnotation, to_hex(prove_possession(keys, node, chain))}};
}

Bytes encode(const Member& member) {
    Writer out;
    out.short_blob(as_bytes(member.node)).raw(member.chain).raw(member.transport).raw(member.vrf).raw(member.wireguard);
    return std::move(out).take();
}

Result<Member, DecodeFault> decode_member(ByteView bytes) {
    Reader in{bytes};
    Member member;
    TRY(const auto node, in.short_blob(253));
    member.node = as_text(node);
    TRY(member.chain, in.array<33>());
    TRY(member.transport, in.array<32>());
    TRY(member.vrf, in.array<32>());
    TRY(member.wireguard, in.array<32>());
    TRY(in.finish());
    return member;
}

}  // namespace rhizome::ledger
