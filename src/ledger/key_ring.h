// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"
#include "crypto/keys.h"
#include "crypto/x25519.h"
#include "ledger/member.h"
#include "ledger/reject.h"
#include "ledger/tx.h"
#include "ledger/working_state.h"
#include "state/view.h"

/// Cluster keys: what Secrets are sealed to (docs/spec/secrets.md).
///
/// A cluster key is an X25519 key. Its public half names it; its secret half is sealed to members and stands in
/// documents of the kind `rhizome.dev/v1 KeyRing`:
///
///     {"apiVersion":"rhizome.dev/v1","kind":"KeyRing","metadata":{"name":<key>.<16 digits>},
///      "spec":{"key","generation","holders":[{"node","key"}, …],"sealed","by","signature"}}
///
/// A KeyRing is created, never changed, and its name follows from what it says: two members that write at the same
/// time, on two sides of a cut or for the same newcomer, never stand in each other's way. It proves itself: a member
/// has signed it, so it needs no lock (chain.md section 2). All KeyRings of one key together say who holds it.
namespace rhizome::ledger {

inline constexpr std::string_view kKeyRingGroup = "rhizome.dev";
inline constexpr std::string_view kKeyRingKind = "KeyRing";

/// Holders that one document names; a key of a larger cluster has several.
inline constexpr std::size_t kKeyRingHoldersMax = 256;
/// 256 × (name of 63, key of 64, their quotes: 160; 112 digits of wrapped key), and some: what nobody pays for with a
/// lock is small. Names of nodes are labels in practice; where they are longer, fewer fit.
inline constexpr std::size_t kKeyRingBytesMax = 96u << 10;
/// A number for people, and for choosing the newest; nothing about safety hangs on it.
inline constexpr std::uint64_t kGenerationMax = std::uint64_t{1} << 53;

struct KeyRing {
    struct Holder {
        std::string node{};          ///< as the member was called when the key was sealed to it
        crypto::X25519Public key{};  ///< its `wireguard-key`
        friend bool operator==(const Holder&, const Holder&) = default;
    };
    crypto::X25519Public key{};
    std::uint64_t generation = 1;
    std::vector<Holder> holders{};  ///< by key, ascending, none twice
    Bytes sealed{};                 ///< the secret half, for all of them (crypto/seal.h)
    MemberKey by{};                 ///< who wrote it, and so knows the key as well
    crypto::Signature::Compact signature{};
    friend bool operator==(const KeyRing&, const KeyRing&) = default;
};

/// What `by` signs.
crypto::Digest digest_of(const KeyRing& ring, const ChainId& chain);
/// What is beside the secret half in its envelope: it cannot be moved to another chain, nor passed off as another
/// key's.
Bytes key_ring_associated(const crypto::X25519Public& key, const ChainId& chain);

/// The document; its name follows.
json::Object to_document(const KeyRing& ring, const ChainId& chain);
/// Reads that form and nothing else: BadEncoding names the member that is missing, malformed or not known. Says nothing
/// of the signature.
Result<KeyRing, Reject> read_key_ring(const json::Value& document);

/// What a KeyRing must be to be written: signed by a member, under its own name. NotAuthorised, BadEncoding.
Result<void, Reject> check_key_ring(const json::Value& document, const WorkingState& state);
/// Signature checks that it makes at most.
inline constexpr std::size_t kKeyRingChecks = 1;

/// The transaction that writes it: complete, good until `kExpirySecondsDefault` after `now` or until the Cluster's lock
/// changes.
Tx key_ring_tx(const KeyRing& ring, const ChainId& chain, const state::StateView& state, Time now);

state::Prefix all_key_rings();

}  // namespace rhizome::ledger
