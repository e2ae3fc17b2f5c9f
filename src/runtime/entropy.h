// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace rhizome::runtime {

/// Fills `out` with bytes from the kernel's generator (getrandom), waiting at boot until it is seeded. Keys, seeds and
/// nonces come from here. A kernel that cannot give any stops the process: nobody may go on with a guessable key.
/// May be called from any thread.
void fill_with_entropy(std::span<std::uint8_t> out);

/// One random number for names and seeds.
std::uint64_t random_number();

}  // namespace rhizome::runtime
