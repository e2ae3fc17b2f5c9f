// SPDX-License-Identifier: Apache-2.0
#include "crypto/derive.h"

#include <string>

#include "crypto/detail/derive_steps.h"
#include "crypto/hkdf.h"

namespace rhizome::crypto {

SecretKey detail::first_secret_key(const std::function<SecretArray<32>(std::uint8_t counter)>& candidate) {
    for (unsigned counter = 0; counter <= 0xff; ++counter) {
        auto key = SecretKey::from_bytes(candidate(static_cast<std::uint8_t>(counter)).view());
        if (key) return *std::move(key);
    }
    unreachable("one candidate in 2^128 is no scalar, so 256 of them in a row are not");
}

NodeKeys derive(const NodeSeed& seed) {
    const HkdfKey root = hkdf_extract(as_bytes("rhizome/node/1"), seed.view());
    return {
        .chain = detail::first_secret_key([&root](std::uint8_t counter) {
            return hkdf_expand(root, std::string{"chain"} + static_cast<char>(counter));
        }),
        .transport = Ed25519Secret::from_seed(hkdf_expand(root, "transport").view()),
        .vrf = VrfSecret{hkdf_expand(root, "vrf")},
        .wireguard = X25519Secret{hkdf_expand(root, "wireguard")},
    };
}

NodePublicKeys NodeKeys::public_keys() const {
    return {
        .chain = chain.public_key(),
        .transport = transport.public_key(),
        .vrf = vrf.public_key(),
        .wireguard = wireguard.public_key(),
    };
}

}  // namespace rhizome::crypto
