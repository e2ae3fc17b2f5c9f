// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// What programs may ask of the allocator. `rhizome` and the benchmarks have tcmalloc (docs/spec/dependencies.md says
/// why), test programs and sanitizers have others. These functions work with each.
namespace rhizome::runtime {

/// Threads set freed memory aside for themselves, up to 32 MB of it by default: with a handful of threads a sixteenth
/// is as fast. Called once, by `main`, before there are others.
void keep_memory_caches_small();

/// Bytes that the program has and has not given back.
std::size_t memory_in_use();

/// Hands freed memory back to the system, as far as whole pages of it are free. The allocator keeps most of it for
/// later, which after a large piece of work (a checkpoint, replaying blocks) can be tens of megabytes that nobody
/// needs. Takes about ten milliseconds, during which others may wait for memory: not for every day. Any thread.
void return_free_memory();

}  // namespace rhizome::runtime
