// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rhizome::runtime {

/// Hands freed memory back to the system, as far as whole pages of it are free. The allocator keeps most of it for
/// later, which after a large piece of work (a checkpoint, replaying blocks) can be tens of megabytes that nobody
/// needs. Takes about ten milliseconds, during which others may wait for memory: not for every day. Any thread.
void return_free_memory();

}  // namespace rhizome::runtime
