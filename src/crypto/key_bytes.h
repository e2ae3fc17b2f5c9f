// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "base/ids.h"

/// Keys, signatures and proofs as the bytes that are stored and sent, for whoever keeps them and does not compute with
/// them: crypto/keys.h and crypto/ecvrf.h do. A header of its own because nearly everything above the ledger keeps
/// some.
namespace rhizome::crypto {

/// Of chain keys, compressed. Any 33 bytes: `PublicKey::parse` judges them.
using PublicKeyBytes = std::array<std::uint8_t, 33>;
/// r and s, big-endian. Any 64 bytes: `Signature::from_compact` judges them.
using CompactSignature = std::array<std::uint8_t, 64>;

/// Gamma (32 bytes), c (16), s (32). Any 80 bytes; `verify` judges them. Exactly one proof per key and alpha is valid
/// unless the holder of the key cheats on its nonce, and all valid ones give the same output.
using VrfProof = Id<struct VrfProofTag, 80>;
/// beta. Uniform to whoever does not hold the key.
using VrfOutput = Id<struct VrfOutputTag, 64>;

struct NodeKeys;  // crypto/derive.h

}  // namespace rhizome::crypto
