// SPDX-License-Identifier: Apache-2.0
#include "crypto/detail/sodium.h"

#include <sodium.h>

#include "base/ensure.h"

namespace rhizome::crypto::detail {

void prepare_sodium() {
    static const bool ready = sodium_init() >= 0;
    ensure(ready, "libsodium can be prepared");
}

}  // namespace rhizome::crypto::detail
