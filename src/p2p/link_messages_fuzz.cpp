// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "p2p/link_messages.h"

using namespace rhizome;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteView bytes{data, size};
    if (const auto message = p2p::decode_link_message(bytes))
        ensure(p2p::encode(*message) == to_bytes(bytes), "a message has one encoding");
    return 0;
}
