// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "http/server.h"
#include "stream/pipe.h"

/// A client that says exactly what it is told, over a pipe in memory.
namespace rhizome::test {

using stream::Task;

inline Task<std::string> read_until_end(stream::Stream* from, std::string_view until = {}) {
    std::string out;
    std::array<std::uint8_t, 4096> buffer{};
    while (until.empty() || out.find(until) == std::string::npos) {
        const auto got = co_await from->read_some(buffer);
        if (!got || *got == 0) break;
        out.append(as_text(ByteView{buffer.data(), *got}));
    }
    co_return out;
}

/// A server of one connection, without threads: what happens depends on what is said, and on nothing else.
class RawHttp {
public:
    explicit RawHttp(http::Handler handler, http::ServerOptions options = {}) {
        auto [near, far] = stream::make_pipe(strand, 1 << 20);
        client = std::move(near);
        stream::spawn(strand, http::serve_stream(std::move(far), std::move(options), std::move(handler)),
                      [this] { ended = true; });
    }

    /// Says `text`, ends our side if asked to, and gives all that comes until the end or until `until` was seen.
    std::string talk(std::string_view text, bool end = true, std::string_view until = {}) {
        auto task = [](stream::Stream* to, std::string_view what, bool last,
                       std::string_view mark) -> Task<std::string> {
            auto sent = co_await stream::write_all(*to, as_bytes(what));
            if (last) sent = co_await to->shutdown();
            co_return co_await read_until_end(to, mark);
        };
        return stream::block_on(context, strand, task(client.get(), text, end, until));
    }

    stream::IoContext context{{.threads = 0}};
    stream::Strand strand = context.make_strand();
    std::unique_ptr<stream::Stream> client;
    bool ended = false;
};

/// The statuses of all answers in `text`, in order: `200 404 `.
inline std::string statuses(std::string_view text) {
    std::string out;
    for (std::size_t at = text.find("HTTP/1.1 "); at != std::string_view::npos; at = text.find("HTTP/1.1 ", at + 1))
        if (text[at + 9] >= '0' && text[at + 9] <= '9') out += std::string(text.substr(at + 9, 3)) + " ";
    return out;
}

}  // namespace rhizome::test
