// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

/// Numbers of the curve that Ed25519 and the VRF share, little-endian as both write them.
namespace rhizome::crypto::detail {

/// q, the order of the group: 2²⁵² + 27742317777372353535851937790883648493.
inline constexpr std::array<std::uint8_t, 32> kEdwardsOrder{
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0x10,
};

/// Of public numbers only: it stops at the first difference.
inline bool below(std::span<const std::uint8_t, 32> number, const std::array<std::uint8_t, 32>& bound) {
    return std::lexicographical_compare(number.rbegin(), number.rend(), bound.rbegin(), bound.rend());
}

}  // namespace rhizome::crypto::detail
