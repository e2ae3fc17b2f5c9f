// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/ids.h"

/// Diffie–Hellman on Curve25519 (RFC 7748): WireGuard's keys, and what secrets are sealed to.
namespace rhizome::crypto {

/// Any 32 bytes; `shared_with` judges them when they are used.
using X25519Public = Id<struct X25519PublicTag, 32>;

/// Below 2^255 − 19. X25519 itself reads other bytes as a second name of some key; where a key stands in a format we
/// take the one name only.
bool is_canonical(const X25519Public& key);

class X25519Secret {
public:
    /// Any 32 bytes are a secret. They are clamped, as WireGuard stores them, so that equal keys have equal bytes.
    explicit X25519Secret(SecretArray<32> bytes);

    [[nodiscard]] const X25519Public& public_key() const { return public_; }
    [[nodiscard]] std::span<const std::uint8_t, 32> view() const { return bytes_.view(); }

    /// What this key and the holder of `other` both know; hash it before use (`hkdf.h`). Nothing when `other` is not
    /// canonical or of low order: the result would not depend on this key, and so be known to everybody.
    [[nodiscard]] std::optional<SecretArray<32>> shared_with(const X25519Public& other) const;

private:
    SecretArray<32> bytes_;
    X25519Public public_;
};

}  // namespace rhizome::crypto
