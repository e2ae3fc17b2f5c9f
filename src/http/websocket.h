// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/client.h"
#include "http/exchange.h"

/// WebSockets (RFC 6455) on both sides, without extensions.
namespace rhizome::http {

struct WebSocketLimits {
    std::size_t message_bytes_max = 1u << 20;  ///< a larger message closes with 1009
    milliseconds ping_every{30'000};           ///< of silence, then a ping is sent
    milliseconds pong_time{20'000};            ///< for any sign of life after that
    milliseconds write_gap{30'000};            ///< for the peer to take a frame
    milliseconds close_time{5'000};            ///< for the peer to say goodbye as well
};

/// Messages both ways. Confined to its strand; at most one `read` at a time, any number of writes.
class WebSocket {
public:
    enum class Kind : unsigned char { Text, Binary };
    struct Message {
        Kind kind = Kind::Binary;
        Bytes payload;
    };
    /// How it ended: the peer's code, or 1006 when it just went.
    struct Ended {
        std::uint16_t code = 1006;
        std::string reason{};
    };
    enum class Side : unsigned char { Server, Client };

    /// For a stream whose handshake is done. `stream` outlives it; `owned` may be that stream.
    WebSocket(stream::Stream& stream, Side side, std::string protocol, WebSocketLimits limits,
              std::unique_ptr<stream::Stream> owned = nullptr);
    ~WebSocket();
    WebSocket(const WebSocket&) = delete;
    WebSocket& operator=(const WebSocket&) = delete;

    /// The subprotocol agreed on; empty when none.
    [[nodiscard]] const std::string& protocol() const;

    /// The next message; nothing when the peer closed in order. Pings are answered on the way, a silent peer is asked.
    /// What breaks the rules is closed with the right code and is an error here.
    Task<Result<std::optional<Message>>> read();
    /// A whole message, one at a time in the order of the calls. `bytes` outlive the await. Text is the caller's UTF-8.
    Task<Result<void>> write(Kind kind, ByteView bytes);
    /// A piece of a message; the first says its kind, `last` ends it. No other message may be written between.
    Task<Result<void>> write_piece(Kind kind, ByteView bytes, bool first, bool last);
    /// Says goodbye, waits a little for the peer's, and closes. Not while a `read` waits: then say it with `send_close`
    /// and let the `read` see the end.
    Task<Result<void>> close(std::uint16_t code = 1000, std::string reason = {});
    Task<Result<void>> send_close(std::uint16_t code, std::string reason);

    /// Ends it at once, without a word: a `read` or write that waits fails soon.
    void abort();

    [[nodiscard]] const std::optional<Ended>& ended() const;

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

/// Answers a request for a WebSocket. Of `protocols` the first that the client offers is chosen; with none in common
/// the socket has none, which the handler may refuse by closing. A request that asks for none is answered (400, 426)
/// and is an error here. Whether the page that asks (`Origin`) may do so is the handler's question.
Task<Result<std::unique_ptr<WebSocket>>> accept_websocket(Exchange& exchange, std::vector<std::string> protocols,
                                                          WebSocketLimits limits = {});

/// Opens a WebSocket. `request` brings the target and further headers. An answer other than 101 is an error with the
/// status and the first words of its body.
Task<Result<std::unique_ptr<WebSocket>>> connect_websocket(Client& client, Origin origin, Request request,
                                                           std::vector<std::string> protocols,
                                                           stream::Deadline deadline, WebSocketLimits limits = {});

}  // namespace rhizome::http
