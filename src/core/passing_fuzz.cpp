// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "core/passing_messages.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(passing_fuzz) {
    const ByteView bytes{data, size};
    if (const auto message = core::decode_passing(bytes))
        ensure(core::encode(*message) == to_bytes(bytes), "a message has one encoding");
    return 0;
}
