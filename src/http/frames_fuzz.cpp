// SPDX-License-Identifier: Apache-2.0
// WebSocket frames in pieces of any size: the same events and faults however they are cut, within the bounds; and what
// was written by us is read back.
#include "base/ensure.h"
#include "http/detail/frames.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::http::detail;

namespace {

struct Read {
    std::vector<FrameEvent> events;
    std::optional<std::uint16_t> fault;
};

Read read_in(ByteView bytes, std::size_t piece, FrameLimits limits) {
    FrameReader reader{limits};
    Read out;
    while (!bytes.empty() && !out.fault) {
        const ByteView now = bytes.first(std::min(piece, bytes.size()));
        bytes = bytes.subspan(now.size());
        auto fed = reader.feed(now);
        for (auto& event : fed.events) out.events.push_back(std::move(event));
        if (fed.fault) out.fault = fed.fault->code;
        ensure(reader.held() <= limits.message_bytes_max + 125, "a reader holds a message and a control frame at most");
    }
    return out;
}

}  // namespace

FUZZ_TARGET(frames_fuzz) {
    if (size == 0) return 0;
    const FrameLimits limits{.message_bytes_max = 500, .expect_masked = (data[0] & 1) != 0};
    const ByteView bytes{data + 1, size - 1};
    const Read whole = read_in(bytes, bytes.size() + 1, limits);
    const Read cut = read_in(bytes, 1 + (data[0] >> 1), limits);
    ensure(whole.fault == cut.fault && whole.events.size() == cut.events.size(), "cutting changes nothing");
    for (std::size_t i = 0; i < whole.events.size(); ++i) {
        const FrameEvent& event = whole.events[i];
        ensure(event.opcode == cut.events[i].opcode && event.payload == cut.events[i].payload,
               "cutting changes nothing");
        ensure(event.opcode != Opcode::Continuation, "messages are whole");
        if (event.opcode == Opcode::Close) (void)parse_close(event.payload);
        if (event.opcode == Opcode::Text) {
            Utf8Check check;
            ensure(check.add(event.payload) && check.complete(), "texts are UTF-8");
        }
        const auto mask =
            limits.expect_masked ? std::optional(std::array<std::uint8_t, 4>{1, 2, 3, data[0]}) : std::nullopt;
        const Read again = read_in(make_frame(event.opcode, event.payload, true, mask), 7, limits);
        ensure(again.events.size() == 1 && again.events[0].payload == event.payload, "what we write can be read");
    }
    return 0;
}
