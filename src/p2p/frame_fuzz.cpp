// SPDX-License-Identifier: Apache-2.0
#include "base/ensure.h"
#include "p2p/frame.h"
#include "support/fuzz_target.h"

using namespace rhizome;

FUZZ_TARGET(frame_fuzz) {
    p2p::FrameReader reader{[](std::uint8_t type) { return std::size_t{type} * 4; }};
    Bytes again;
    ByteView input{data, size};
    while (true) {
        const auto whole = reader.next(input);
        if (!whole || !*whole) break;
        const Bytes frame = p2p::frame_of(**whole);
        again.insert(again.end(), frame.begin(), frame.end());
    }
    ensure(again.size() <= size && std::equal(again.begin(), again.end(), data), "frames are what came");
    return 0;
}
