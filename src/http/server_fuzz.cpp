// SPDX-License-Identifier: Apache-2.0
// Whatever a stranger sends, in whatever pieces: the server answers or closes, its answers can be read by our own
// client's parser, and a body that a handler was given has the length that it was said to have.
#include "http/server.h"

#include "base/ensure.h"
#include "http/detail/parser.h"
#include "http/websocket.h"
#include "stream/pipe.h"
#include "support/fuzz_target.h"

using namespace rhizome;
using namespace rhizome::http;

namespace {

Task<void> answer(Exchange& exchange) {
    const std::string path{exchange.request().path()};
    if (exchange.request().headers.contains("Upgrade")) {
        std::vector<std::string> protocols{"a", "b"};
        WebSocketLimits limits;
        limits.message_bytes_max = 1000;
        const auto socket = co_await accept_websocket(exchange, std::move(protocols), limits);
        while (socket) {
            const auto message = co_await (*socket)->read();
            if (!message || !*message) co_return;
            ensure((*message)->payload.size() <= 1000, "messages keep their bound");
        }
        co_return;
    }
    std::string body;
    if (path != "/unread") {
        auto read = co_await exchange.read_body(10'000);
        if (!read) {
            auto ignored = co_await exchange.respond_error(std::move(read).error());
            co_return;
        }
        body = std::move(*read);
        if (const auto length = exchange.request().headers.find("Content-Length"))
            ensure(std::to_string(body.size()).size() <= length->size() &&
                       std::stoull(std::string(*length)) == body.size(),
                   "a body is as long as its length says");
    }
    Response response;
    response.body = body;
    if (path == "/stream") {
        auto ignored = co_await exchange.start(std::move(response));
        ignored = co_await exchange.write(as_bytes("more"));
        ignored = co_await exchange.finish();
    } else {
        auto ignored = co_await exchange.respond(std::move(response));
    }
}

/// Sends the input in pieces whose sizes its own bytes choose, and reads all that comes back.
Task<void> talk(stream::Stream* to, ByteView input, std::string* heard) {
    const std::size_t piece = input.empty() ? 1 : 1 + input[0] * 8u;
    while (!input.empty()) {
        const ByteView now = input.first(std::min(piece, input.size()));
        const auto sent = co_await stream::write_all(*to, now);
        if (!sent) break;
        input = input.subspan(now.size());
        co_await stream::yield();
    }
    auto ignored = co_await to->shutdown();
    Bytes buffer(4096);
    for (;;) {
        const auto got = co_await to->read_some(buffer);
        if (!got || *got == 0) break;
        heard->append(as_text(ByteView{buffer.data(), *got}));
    }
}

}  // namespace

FUZZ_TARGET(server_fuzz) {
    stream::IoContext context{{.threads = 0}};
    const auto strand = context.make_strand();
    auto [client, server] = stream::make_pipe(strand, 1 << 20);
    ServerOptions options;
    options.limits.body_bytes_max = 20'000;
    options.limits.head_bytes_max = 4'000;
    options.limits.target_bytes_max = 1'000;
    options.limits.gzip_bytes_min = 2'000;
    bool served = false;
    std::string heard;
    stream::spawn(strand, serve_stream(std::move(server), options, &answer), [&] { served = true; });
    stream::block_on(context, strand, talk(client.get(), {data, size}, &heard));
    client->close();
    context.run_until([&] { return served; });
    std::string_view left = heard;
    while (!left.empty()) {
        detail::Parser parser{detail::Parser::Of::Response, {}};
        const auto head = parser.head(left);
        ensure(head.has_value(), "an answer has a head that can be read");
        if (*head == 0) break;
        left.remove_prefix(*head);
        if (parser.response().status == 101) break;  // frames follow
        if (parser.response().status == 100) continue;
        // The answer to HEAD has a length and no body; what follows is then another answer.
        if (left.empty() || left.starts_with("HTTP/1.1 ")) continue;
        std::string body;
        while (!parser.done()) {
            const auto taken = parser.body(left, body);
            ensure(taken.has_value(), "an answer's body can be read");
            if (*taken == 0) break;
            left.remove_prefix(*taken);
        }
        if (!parser.done()) break;
    }
    return 0;
}
