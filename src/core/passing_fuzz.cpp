// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "core/passing_messages.h"

using namespace rhizome;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteView bytes{data, size};
    if (const auto message = core::decode_passing(bytes))
        ensure(core::encode(*message) == to_bytes(bytes), "a message has one encoding");
    return 0;
}
