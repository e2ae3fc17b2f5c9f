// SPDX-License-Identifier: Apache-2.0
// A damaged undo record: what is decoded is written back to the same bytes, and leads nowhere but to the root it names.
#include "state/delta.h"

using namespace rhizome;
using namespace rhizome::state;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ByteView bytes{data, size};
    const auto delta = decode_delta(bytes, 1 << 20);
    if (!delta) return 0;
    const Bytes again = encode(*delta);
    ensure(std::equal(again.begin(), again.end(), bytes.begin(), bytes.end()), "there is one form of a delta");
    // Apply it to the state it could belong to: all that it says was there before.
    const auto forward = apply(StateView{}, *delta);
    ensure(!forward.has_value() || forward->root() == delta->root_after(), "applying keeps its word");
    const auto backward = undo(StateView{}, *delta);
    ensure(!backward.has_value() || backward->root() == delta->root_before(), "undoing keeps its word");
    return 0;
}
