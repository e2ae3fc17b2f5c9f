// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/json.h"
#include "crypto/key_bytes.h"
#include "ledger/reject.h"
#include "ledger/tx.h"

/// Members: Nodes that carry their four public keys with proof that they hold the secret halves. Only members seal,
/// attest or host pods; any other Node is an ordinary object.
namespace rhizome::ledger {

/// A node's chain key: what votes, seals and reports are signed with.
using MemberKey = crypto::PublicKeyBytes;

/// What the state keeps of a member under `/chain/`.
struct Member {
    std::string node{};
    MemberKey chain{};
    std::array<std::uint8_t, 32> transport{};
    std::array<std::uint8_t, 32> vrf{};
    std::array<std::uint8_t, 32> wireguard{};
    friend bool operator==(const Member&, const Member&) = default;
};

// Annotations of a Node, all in hexadecimal. The thesis's `metadata.pubKey` is read as the chain key too.
inline constexpr std::string_view kChainKeyAnnotation = "rhizome.dev/chain-key";
inline constexpr std::string_view kTransportKeyAnnotation = "rhizome.dev/transport-key";
inline constexpr std::string_view kVrfKeyAnnotation = "rhizome.dev/vrf-key";
inline constexpr std::string_view kWireguardKeyAnnotation = "rhizome.dev/wireguard-key";
inline constexpr std::string_view kPossessionAnnotation = "rhizome.dev/possession";

/// The member that a Node document describes; nothing for a Node without any of the keys. Some keys but not all,
/// malformed ones, or a proof that does not verify are refused: such a Node would look like a member and be none.
Result<std::optional<Member>, Reject> read_member(const json::Value& node, const ChainId& chain);

/// Signs that the holder of `keys` is the node of that name on that chain: chain signature (64 bytes), transport
/// signature (64), VRF proof (80). Another chain or another name needs another proof, so none can be copied.
Bytes prove_possession(const crypto::NodeKeys& keys, std::string_view node, const ChainId& chain);

/// The annotations that make the Node `node` a member.
json::Object member_annotations(const crypto::NodeKeys& keys, std::string_view node, const ChainId& chain);

Bytes encode(const Member& member);
Result<Member, DecodeFault> decode_member(ByteView bytes);

}  // namespace rhizome::ledger
