// SPDX-License-Identifier: Apache-2.0
#include "http/websocket.h"

#include <deque>

#include <fmt/core.h>
#include <openssl/rand.h>

#include "http/detail/frames.h"

namespace rhizome::http {

using detail::FrameEvent;
using detail::FrameReader;
using detail::Opcode;
using stream::after;
using stream::Stream;

namespace {

constexpr std::size_t kReadBytes = 16 * 1024;

/// Unforeseeable, so that nobody on the way can be made to read frames as something else.
std::array<std::uint8_t, 4> new_mask() {
    std::array<std::uint8_t, 4> mask{};
    ensure(RAND_bytes(mask.data(), mask.size()) == 1, "the system gives randomness");
    return mask;
}

}  // namespace

struct WebSocket::Inside {
    Inside(Stream& stream_in, Side side_in, std::string protocol_in, WebSocketLimits limits_in,
           std::unique_ptr<Stream> owned_in)
        : owned(std::move(owned_in)),
          stream(stream_in),
          side(side_in),
          protocol(std::move(protocol_in)),
          limits(limits_in),
          reader({.message_bytes_max = limits.message_bytes_max, .expect_masked = side == Side::Server}),
          turn(stream.strand()) {}

    std::unique_ptr<Stream> owned;
    Stream& stream;
    Side side;
    std::string protocol;
    WebSocketLimits limits;
    FrameReader reader;
    std::deque<FrameEvent> ready{};             ///< read, not yet asked for: what one read of `kReadBytes` held
    std::optional<detail::CloseFault> fault{};  ///< of the peer, behind what is ready
    bool writing = false;
    stream::Event turn;  ///< set when `writing` became false
    bool close_sent = false;
    bool pinged = false;
    std::optional<Ended> ended{};

    Task<Result<void>> send(Opcode opcode, ByteView payload, bool last) {
        if (close_sent) co_return fail(ErrorKind::Unavailable, "the WebSocket is closed on this side");
        const Bytes frame =
            detail::make_frame(opcode, payload, last, side == Side::Client ? std::optional(new_mask()) : std::nullopt);
        if (opcode == Opcode::Close) close_sent = true;
        while (writing) {
            turn.reset();
            co_await turn.wait();
        }
        writing = true;
        stream.set_write_deadline(after(limits.write_gap));
        auto sent = co_await write_all(stream, frame);
        writing = false;
        turn.set();
        co_return sent;
    }

    /// Bytes from the peer, with a ping when it is silent; none at its end. No buffer is held meanwhile.
    Task<Result<Bytes>> fetch() {
        for (;;) {
            const auto deadline = after(pinged ? limits.pong_time : limits.ping_every);
            stream.set_read_deadline(deadline);
            auto came = co_await stream.readable();
            if (came) {
                Bytes buffer(kReadBytes);
                auto got = co_await stream.read_some(buffer);
                if (got) {
                    pinged = false;
                    buffer.resize(*got);
                    co_return buffer;
                }
                came = Fail{std::move(got).error()};
            }
            if (!stream::passed(deadline) || pinged || close_sent) co_return Fail{std::move(came).error()};
            pinged = true;
            CO_TRY(co_await send(Opcode::Ping, {}, true));
        }
    }

    /// Ends after a fault of the peer.
    Task<void> refuse(detail::CloseFault what) {
        const Bytes payload = detail::close_payload(what.code, what.message);
        auto ignored = co_await send(Opcode::Close, payload, true);
        ended = Ended{what.code, std::move(what.message)};
        ignored = co_await stream.shutdown();
    }

    /// What a control frame asks for; true when the connection is over.
    Task<Result<bool>> handle(FrameEvent event) {
        if (event.opcode == Opcode::Ping) {
            if (!close_sent) CO_TRY(co_await send(Opcode::Pong, event.payload, true));
            co_return false;
        }
        if (event.opcode != Opcode::Close) co_return false;
        auto said = detail::parse_close(event.payload);
        if (!said) {
            const std::string why = said.error().message;
            co_await refuse(std::move(said).error());
            co_return fail(ErrorKind::Invalid, "the WebSocket was closed: " + why);
        }
        ended = Ended{said->code, std::move(said->reason)};
        if (!close_sent) {
            const Bytes echo(event.payload.begin(), event.payload.begin() + (event.payload.empty() ? 0 : 2));
            auto ignored = co_await send(Opcode::Close, echo, true);
        }
        auto ignored = co_await stream.shutdown();
        co_return true;
    }
};

WebSocket::WebSocket(Stream& stream, Side side, std::string protocol, WebSocketLimits limits,
                     std::unique_ptr<Stream> owned)
    : inside_(std::make_unique<Inside>(stream, side, std::move(protocol), limits, std::move(owned))) {}
WebSocket::~WebSocket() = default;

const std::string& WebSocket::protocol() const { return inside_->protocol; }
void WebSocket::abort() { inside_->stream.close(); }
const std::optional<WebSocket::Ended>& WebSocket::ended() const { return inside_->ended; }

Task<Result<std::optional<WebSocket::Message>>> WebSocket::read() {
    Inside& in = *inside_;
    for (;;) {
        while (!in.ready.empty()) {
            FrameEvent event = std::move(in.ready.front());
            in.ready.pop_front();
            if (event.opcode == Opcode::Text || event.opcode == Opcode::Binary) {
                Message message{event.opcode == Opcode::Text ? Kind::Text : Kind::Binary, std::move(event.payload)};
                co_return std::optional<Message>(std::move(message));
            }
            CO_TRY(const bool over, co_await in.handle(std::move(event)));
            if (over) co_return std::optional<Message>{};
        }
        if (in.ended) co_return std::optional<Message>{};
        if (in.fault) {
            const std::string why = in.fault->message;
            co_await in.refuse(std::move(*in.fault));
            co_return fail(ErrorKind::Invalid, "the WebSocket was closed: " + why);
        }
        auto got = co_await in.fetch();
        if (!got || got->empty()) {
            in.ended = Ended{};
            if (!got) co_return Fail{with_context("reading a WebSocket", std::move(got).error())};
            co_return fail(ErrorKind::Unavailable, "the peer went without closing the WebSocket");
        }
        FrameReader::Fed fed = in.reader.feed(*got);
        for (FrameEvent& event : fed.events) in.ready.push_back(std::move(event));
        in.fault = std::move(fed.fault);
    }
}

Task<Result<void>> WebSocket::write(Kind kind, ByteView bytes) { return write_piece(kind, bytes, true, true); }

Task<Result<void>> WebSocket::write_piece(Kind kind, ByteView bytes, bool first, bool last) {
    const Opcode whole = kind == Kind::Text ? Opcode::Text : Opcode::Binary;
    return inside_->send(first ? whole : Opcode::Continuation, bytes, last);
}

Task<Result<void>> WebSocket::send_close(std::uint16_t code, std::string reason) {
    const Bytes payload = detail::close_payload(code, reason);
    co_return co_await inside_->send(Opcode::Close, payload, true);
}

Task<Result<void>> WebSocket::close(std::uint16_t code, std::string reason) {
    Inside& in = *inside_;
    if (!in.close_sent) CO_TRY(co_await send_close(code, std::move(reason)));
    const auto deadline = after(in.limits.close_time);
    in.limits.ping_every = in.limits.close_time;
    while (!in.ended && !stream::passed(deadline)) {  // what still comes is dropped
        auto message = co_await read();
        if (!message) break;
    }
    in.stream.close();
    co_return ok();
}

}  // namespace rhizome::http
