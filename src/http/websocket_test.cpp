// SPDX-License-Identifier: Apache-2.0
#include "http/websocket.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "http/detail/frames.h"
#include "support/raw_http.h"

namespace rhizome::http {
namespace {

using detail::make_frame;
using detail::Opcode;
using test::RawHttp;

constexpr std::array<std::uint8_t, 4> kMask{9, 8, 7, 6};

std::string frame(Opcode opcode, std::string_view payload, bool last = true) {
    return std::string(as_text(make_frame(opcode, as_bytes(payload), last, kMask)));
}
std::string from_server(Opcode opcode, std::string_view payload) {
    return std::string(as_text(make_frame(opcode, as_bytes(payload))));
}
std::string said_close(std::uint16_t code, std::string_view reason = {}) {
    return std::string(as_text(detail::close_payload(code, reason)));
}

WebSocketLimits limits_of(std::size_t bytes) {
    WebSocketLimits limits;
    limits.message_bytes_max = bytes;
    return limits;
}

/// Sends every message back; notes how it ended.
struct Echo {
    std::optional<WebSocket::Ended> ended;
    std::string error;
    std::string protocol;
    WebSocketLimits limits = limits_of(1000);

    Task<void> operator()(Exchange& exchange) {
        std::vector<std::string> protocols{"v5.channel.k8s.io", "v4.channel.k8s.io"};
        auto socket = co_await accept_websocket(exchange, std::move(protocols), limits);
        if (!socket) {
            error = socket.error().message;
            co_return;
        }
        protocol = (*socket)->protocol();
        for (;;) {
            auto message = co_await (*socket)->read();
            if (!message) error = message.error().message;
            if (!message || !*message) break;
            const auto sent = co_await (*socket)->write((*message)->kind, (*message)->payload);
            if (!sent) break;
        }
        ended = (*socket)->ended();
    }
};

std::string ask(std::string_view more = {}) {
    return fmt::format(
        "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{}\r\n",
        more);
}

TEST(WebSocket, TheHandshakeOfTheStandardIsAnswered) {
    Echo echo;
    RawHttp raw{std::ref(echo)};
    const std::string answer =
        raw.talk(ask("Sec-WebSocket-Protocol: v4.channel.k8s.io, v5.channel.k8s.io\r\n"), false, "\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n")) << answer;
    EXPECT_NE(answer.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), std::string::npos);
    EXPECT_NE(answer.find("Sec-WebSocket-Protocol: v5.channel.k8s.io\r\n"), std::string::npos);
    raw.client->close();
    raw.context.run_until([&] { return raw.ended; });
    EXPECT_EQ(echo.protocol, "v5.channel.k8s.io");
    EXPECT_EQ(echo.ended->code, 1006);
}

TEST(WebSocket, OtherRequestsAreRefused) {
    const struct {
        const char* name;
        std::string sent;
        const char* expected;
    } rows[] = {
        {"no upgrade", "GET /ws HTTP/1.1\r\nHost: x\r\n\r\n", "400 "},
        {"no key", "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "400 "},
        {"a second key", ask("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"), "400 "},
        {"another version",
         "GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 8\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
         "426 "},
    };
    for (const auto& row : rows) {
        Echo echo;
        RawHttp raw{std::ref(echo)};
        EXPECT_EQ(test::statuses(raw.talk(row.sent)), row.expected) << row.name;
        EXPECT_FALSE(echo.error.empty());
    }
}

/// What is said after the handshake, and all that comes back until the end.
TEST(WebSocket, ConversationsGoByTheRules) {
    const struct {
        const char* name;
        std::string sent;
        std::string expected;
        int code;  // how it ended for the server
    } rows[] = {
        {"echo and close", frame(Opcode::Text, "hi") + frame(Opcode::Close, said_close(1000, "bye")),
         from_server(Opcode::Text, "hi") + from_server(Opcode::Close, said_close(1000)), 1000},
        {"close without a code", frame(Opcode::Close, ""), from_server(Opcode::Close, ""), 1005},
        {"pings are answered", frame(Opcode::Ping, "p1") + frame(Opcode::Pong, "?") + frame(Opcode::Close, ""),
         from_server(Opcode::Pong, "p1") + from_server(Opcode::Close, ""), 1005},
        {"fragments with a ping between",
         frame(Opcode::Text, "a", false) + frame(Opcode::Ping, "") + frame(Opcode::Continuation, "b") +
             frame(Opcode::Close, ""),
         from_server(Opcode::Pong, "") + from_server(Opcode::Text, "ab") + from_server(Opcode::Close, ""), 1005},
        {"nothing after the close is heard", frame(Opcode::Close, said_close(3000)) + frame(Opcode::Text, "late"),
         from_server(Opcode::Close, said_close(3000)), 3000},
        {"a message before a bad opcode", frame(Opcode::Text, "hi") + frame(static_cast<Opcode>(12), ""),
         from_server(Opcode::Text, "hi") + from_server(Opcode::Close, said_close(1002, "there is no opcode 12")), 1002},
        {"a bad opcode", frame(static_cast<Opcode>(3), ""),
         from_server(Opcode::Close, said_close(1002, "there is no opcode 3")), 1002},
        {"bad UTF-8", frame(Opcode::Text, "\xff"), from_server(Opcode::Close, said_close(1007, "a text is not UTF-8")),
         1007},
        {"too large", frame(Opcode::Binary, std::string(1001, 'x')),
         from_server(Opcode::Close, said_close(1009, "a message is larger than 1000 bytes")), 1009},
        {"a bad close code", frame(Opcode::Close, said_close(1006)),
         from_server(Opcode::Close, said_close(1002, "there is no close code 1006")), 1002},
        {"a close of one byte", frame(Opcode::Close, "x"),
         from_server(Opcode::Close, said_close(1002, "a close frame of one byte")), 1002},
    };
    for (const auto& row : rows) {
        SCOPED_TRACE(row.name);
        Echo echo;
        RawHttp raw{std::ref(echo)};
        const std::string all = raw.talk(ask() + row.sent, false);
        EXPECT_EQ(to_hex(as_bytes(all.substr(all.find("\r\n\r\n") + 4))), to_hex(as_bytes(row.expected)));
        raw.client->close();
        raw.context.run_until([&] { return raw.ended; });
        ASSERT_TRUE(echo.ended);
        EXPECT_EQ(echo.ended->code, row.code);
    }
}

TEST(WebSocket, ASilentPeerIsAskedAndThenLeft) {
    Echo echo;
    echo.limits.ping_every = milliseconds{5};
    echo.limits.pong_time = milliseconds{5};
    RawHttp raw{std::ref(echo)};
    const std::string all = raw.talk(ask(), false);
    EXPECT_TRUE(all.ends_with(from_server(Opcode::Ping, ""))) << to_hex(as_bytes(all));
    raw.client->close();
    raw.context.run_until([&] { return raw.ended; });
    EXPECT_EQ(echo.ended->code, 1006);
}

}  // namespace
}  // namespace rhizome::http
