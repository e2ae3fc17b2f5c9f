// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "p2p/link_messages.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(link_messages_fuzz) {
    const ByteView bytes{data, size};
    if (const auto message = p2p::decode_link_message(bytes))
        ensure(p2p::encode(*message) == to_bytes(bytes), "a message has one encoding");
    return 0;
}
