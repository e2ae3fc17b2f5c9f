// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory.h"

#include <malloc.h>

namespace rhizome::runtime {

void return_free_memory() {
#if defined(__GLIBC__)
    (void)::malloc_trim(0);
#endif
}

}  // namespace rhizome::runtime
