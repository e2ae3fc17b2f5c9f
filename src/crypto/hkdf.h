// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/bytes.h"

/// HKDF-SHA256 (RFC 5869): many keys from one secret, none of which tells anything about another or about the secret.
/// A label (`info`) names what a key is for; two purposes never share one. Everything in between is wiped.
namespace rhizome::crypto {

using HkdfKey = SecretArray<32>;

/// 255 blocks of 32 bytes: the counter of RFC 5869 is one byte.
inline constexpr std::size_t kHkdfBytesMax = 255 * 32;

/// Concentrates `material`, which may be long or uneven, into one key. `salt` is public and may be empty.
HkdfKey hkdf_extract(ByteView salt, ByteView material);

/// Fills `out` (at most `kHkdfBytesMax`) with bytes for the purpose `info`.
void hkdf_expand(const HkdfKey& key, ByteView info, std::span<std::uint8_t> out);
/// The 32 bytes that most keys have.
SecretArray<32> hkdf_expand(const HkdfKey& key, std::string_view info);

/// Both steps, for a secret that serves one purpose.
void hkdf(ByteView salt, ByteView material, ByteView info, std::span<std::uint8_t> out);

}  // namespace rhizome::crypto
