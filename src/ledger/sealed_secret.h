// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "base/json.h"
#include "crypto/seal.h"
#include "ledger/reject.h"
#include "ledger/tx.h"

/// Secrets as they stand on the chain: what is worth hiding is sealed to a cluster key (key_ring.h).
///
///     {"apiVersion":"v1","kind":"Secret","metadata":{…},"type","immutable","sealed":{"key","box"}}
///
/// `box` is an envelope (crypto/seal.h) in base64. Its content is a JSON object with `data`, all annotations but those
/// of `rhizome.dev/` (kubectl keeps a copy of the data in one), and `managedFields` (they name the data's keys), then
/// spaces up to a multiple of 256 bytes, so that the size says little. Its associated data are the chain and the
/// Secret's namespace, name, uid and type: a box that was moved to another Secret does not open.
///
/// Name, labels, type, owners, finalizers, `immutable` and the rough size stay in clear: lists select by them.
namespace rhizome::ledger {

enum class SecretFault : unsigned char {
    Malformed,  ///< what stands there is no sealed Secret, or its content none
    NotOpened,  ///< changed since it was sealed, moved from another Secret, or sealed to another key
    TooLarge,
};
std::string_view name(SecretFault fault);
Error to_error(SecretFault fault);

inline constexpr std::size_t kSecretPadding = 256;

/// What the chain takes as a Secret: no `data` or `stringData` in clear, and `sealed` in its form if there is one.
/// SchemaInvalid.
Result<void, Reject> check_secret(const json::Value& document);

/// The cluster key that a Secret is sealed to; nothing when nothing of it is sealed.
Result<std::optional<crypto::X25519Public>, SecretFault> key_of_secret(const json::Value& document);

/// The form for the chain of a Secret in clear. One that is sealed already stays as it is. `entropy` as of
/// `crypto::seal`.
Result<json::Value, SecretFault> seal_secret(json::Value secret, const crypto::X25519Public& key, const ChainId& chain,
                                             std::span<const std::uint8_t, crypto::kSealEntropyBytes> entropy);
/// The Secret in clear; one of which nothing is sealed stays as it is.
Result<json::Value, SecretFault> open_secret(json::Value document, const crypto::X25519Secret& key,
                                             const ChainId& chain);

}  // namespace rhizome::ledger
