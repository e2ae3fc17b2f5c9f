// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rhizome::node {

/// So much must be free on a disk that ran full before the node goes on: docs/spec/store.md, *Room*.
inline constexpr std::uint64_t kDiskRoomy = 192u << 20;

}  // namespace rhizome::node
