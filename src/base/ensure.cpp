// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"

#include <cstdio>
#include <cstdlib>

namespace rhizome {

void broken(std::string_view why, const char* file, int line, const char* function) noexcept {
    std::fprintf(stderr, "rhizome: broken invariant: %.*s (%s:%d, %s)\n", static_cast<int>(why.size()), why.data(),
                 file, line, function);
    std::abort();
}

}  // namespace rhizome
