// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Where the tests' chance comes from: one number, the same in every run unless somebody asks for another. So CI
/// decides the same twice about the same program, and `./run soak`, which brings a new number each round, can say how
/// to see again what it saw. `tests/guards` finds tests that draw by themselves.
namespace rhizome::test {

/// What RapidCheck begins with when nobody asks for anything else.
inline constexpr std::uint64_t kUsualSeed = 4417;

/// RHIZOME_TEST_SEED, or `kUsualSeed`.
std::uint64_t seed();

/// The seed for one purpose: `usual` itself when RHIZOME_TEST_SEED is not set, so that known histories stay what they
/// are; otherwise one that follows from both.
std::uint64_t seed_for(std::uint64_t usual);

/// Hands `seed()` to RapidCheck, which would ask the kernel for one. Called by `main`, before the first property.
void seed_properties();

}  // namespace rhizome::test
