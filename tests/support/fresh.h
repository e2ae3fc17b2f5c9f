// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "runtime/entropy.h"

namespace rhizome::test {

/// Bytes that nobody used before: keys and nonces, where the other side remembers those it has seen. Not for choosing
/// what is tested: that comes from support/seed.h.
inline void fill_fresh(std::span<std::uint8_t> out) { runtime::fill_with_entropy(out); }

template <std::size_t Size>
std::array<std::uint8_t, Size> fresh_bytes() {
    std::array<std::uint8_t, Size> bytes{};
    fill_fresh(bytes);
    return bytes;
}

}  // namespace rhizome::test
