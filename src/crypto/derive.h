// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/bytes.h"
#include "crypto/ecvrf.h"
#include "crypto/ed25519.h"
#include "crypto/keys.h"
#include "crypto/x25519.h"

/// The four keys of a node from its one seed, so that one small file (later one TPM object) is all that has to be kept.
///
///     root       = HKDF-extract(salt "rhizome/node/1", seed)
///     chain      = HKDF-expand(root, "chain" ‖ n), 32 bytes, for the first n = 0, 1, … (one byte) that gives a scalar
///     of
///                  secp256k1: practically always 0
///     transport  = HKDF-expand(root, "transport"), an Ed25519 seed
///     vrf        = HKDF-expand(root, "vrf"), an Ed25519 seed used for the VRF only
///     wireguard  = HKDF-expand(root, "wireguard"), an X25519 secret, clamped
///
/// A node that derived differently after an upgrade would be a stranger to its own cluster: this never changes (a
/// vector in tests/vectors/crypto/derive.json holds it); another way would be "rhizome/node/2".
namespace rhizome::crypto {

/// 32 bytes from the kernel, made at the first start.
using NodeSeed = SecretArray<32>;

/// What the Node resource publishes.
struct NodePublicKeys {
    PublicKey chain;
    Ed25519Public transport;
    VrfPublic vrf;
    X25519Public wireguard;

    friend bool operator==(const NodePublicKeys&, const NodePublicKeys&) = default;
};

struct NodeKeys {
    SecretKey chain;
    Ed25519Secret transport;
    VrfSecret vrf;
    X25519Secret wireguard;

    /// Computes the public halves; keep the result.
    [[nodiscard]] NodePublicKeys public_keys() const;
};

NodeKeys derive(const NodeSeed& seed);

}  // namespace rhizome::crypto
