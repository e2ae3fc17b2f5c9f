// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace rhizome::test {

/// A function that a file `x_fuzz.cpp` begins with `FUZZ_TARGET(x_fuzz)`.
struct FuzzTarget {
    const char* name;
    int (*run)(const std::uint8_t* data, std::size_t size);
};

/// All of them, sorted by name. The build writes the table (fuzz_table.cpp.in).
std::span<const FuzzTarget> fuzz_targets();

}  // namespace rhizome::test
