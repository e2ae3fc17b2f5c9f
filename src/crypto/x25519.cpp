// SPDX-License-Identifier: Apache-2.0
#include "crypto/x25519.h"

#include <algorithm>
#include <array>

#include <sodium.h>

#include "base/ensure.h"
#include "crypto/detail/sodium.h"

namespace rhizome::crypto {

bool is_canonical(const X25519Public& key) {
    static constexpr std::array<std::uint8_t, 32> kPrime{
        0xed, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f};
    const auto& bytes = key.array();
    return std::lexicographical_compare(bytes.rbegin(), bytes.rend(), kPrime.rbegin(), kPrime.rend());
}

X25519Secret::X25519Secret(SecretArray<32> bytes) : bytes_(std::move(bytes)) {
    detail::prepare_sodium();
    const auto raw = bytes_.writable();
    raw[0] &= 0xf8;
    raw[31] &= 0x7f;
    raw[31] |= 0x40;
    ensure(crypto_scalarmult_curve25519_base(public_.writable().data(), raw.data()) == 0,
           "a clamped secret has a public key");
}

std::optional<SecretArray<32>> X25519Secret::shared_with(const X25519Public& other) const {
    if (!is_canonical(other)) return std::nullopt;
    SecretArray<32> shared;
    const int low_order =
        crypto_scalarmult_curve25519(shared.writable().data(), bytes_.view().data(), other.view().data());
    // Both, so that the rule does not rest on what one version of the library checks.
    if (low_order != 0 || sodium_is_zero(shared.view().data(), shared.size()) == 1) return std::nullopt;
    return shared;
}

}  // namespace rhizome::crypto
