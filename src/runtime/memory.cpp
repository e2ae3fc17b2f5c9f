// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include <malloc.h>

// tcmalloc's own header would make every program that links this module link tcmalloc too. These are null where it is
// not the allocator.
extern "C" {
// NOLINTBEGIN(readability-identifier-naming): tcmalloc's own names
[[gnu::weak]] void MallocExtension_ReleaseFreeMemory();
[[gnu::weak]] int MallocExtension_SetNumericProperty(const char* property, std::size_t value);
[[gnu::weak]] int MallocExtension_GetNumericProperty(const char* property, std::size_t* value);
// NOLINTEND(readability-identifier-naming)
}

namespace rhizome::runtime {
namespace {

constexpr std::size_t kThreadCachesBytes = 2u << 20;

}  // namespace

void keep_memory_caches_small() {
    if (MallocExtension_SetNumericProperty != nullptr)
        MallocExtension_SetNumericProperty("tcmalloc.max_total_thread_cache_bytes", kThreadCachesBytes);
}

std::size_t memory_in_use() {
    std::size_t bytes = 0;
    if (MallocExtension_GetNumericProperty != nullptr &&
        MallocExtension_GetNumericProperty("generic.current_allocated_bytes", &bytes) != 0)
        return bytes;
#if defined(__GLIBC__)
    bytes = ::mallinfo2().uordblks;
#endif
    return bytes;
}

void return_free_memory() {
    if (MallocExtension_ReleaseFreeMemory != nullptr) return MallocExtension_ReleaseFreeMemory();
#if defined(__GLIBC__)
    (void)::malloc_trim(0);
#endif
}

}  // namespace rhizome::runtime
