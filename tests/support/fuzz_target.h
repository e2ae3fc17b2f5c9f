// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Begins the function that is given a stranger's bytes as `data` and `size`, and stops the program when they break
/// what it claims. `name` is the file's name without `.cpp`:
///
///     FUZZ_TARGET(frame_fuzz) {
///         const auto frame = p2p::read_frame({data, size});
///         ...
///         return 0;
///     }
///
/// CMake writes the table of all targets from the files named under FUZZ (cmake/RhizomeModule.cmake), so that a target
/// with another name than its file's does not link, and none is lost. C linkage: the table needs no header of theirs.
#define FUZZ_TARGET(name)                                                      \
    extern "C" int rhizome_##name(const std::uint8_t* data, std::size_t size); \
    extern "C" int rhizome_##name(const std::uint8_t* data, std::size_t size)
