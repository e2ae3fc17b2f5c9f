// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

/// WebSocket frames (RFC 6455) as values: no streams, no time. What reads strangers' bytes, and so what is fuzzed.
namespace rhizome::http::detail {

enum class Opcode : unsigned char { Continuation = 0, Text = 1, Binary = 2, Close = 8, Ping = 9, Pong = 10 };

/// Why a connection must end: the code that is sent, and a sentence for our side.
struct CloseFault {
    std::uint16_t code = 1002;
    std::string message;
};

/// A whole message, or a control frame, as it came.
struct FrameEvent {
    Opcode opcode = Opcode::Binary;  ///< never Continuation
    Bytes payload;
};

/// Checks UTF-8 as it arrives, also across pieces.
class Utf8Check {
public:
    /// False once the text cannot be UTF-8 any more.
    bool add(ByteView bytes);
    /// Whether the text may end here.
    [[nodiscard]] bool complete() const { return needed_ == 0; }

private:
    unsigned needed_ = 0;  ///< bytes of the present character that are still to come
    std::uint8_t low_ = 0x80;
    std::uint8_t high_ = 0xBF;
};

struct FrameLimits {
    std::size_t message_bytes_max = 16u << 20;
    bool expect_masked = true;  ///< what clients send is masked, what servers send is not
};

/// Puts frames together into messages. Fed bytes as they come, in pieces of any size.
class FrameReader {
public:
    explicit FrameReader(FrameLimits limits) : limits_(limits) {}

    struct Fed {
        std::vector<FrameEvent> events;
        std::optional<CloseFault> fault{};  ///< behind the events
    };
    /// What these bytes complete, in order. After a fault nothing more is fed.
    Fed feed(ByteView bytes);
    /// Bytes held at the moment: at most a message and a header.
    [[nodiscard]] std::size_t held() const { return message_.size() + control_.size(); }

private:
    struct Header {
        bool last = false;
        Opcode opcode = Opcode::Binary;
        std::uint64_t length = 0;
        std::array<std::uint8_t, 4> mask{};
    };

    Result<void, CloseFault> feed_into(ByteView bytes, std::vector<FrameEvent>& events);
    Result<bool, CloseFault> read_header();
    Result<void, CloseFault> check_header(const Header& header) const;
    Result<void, CloseFault> take(ByteView bytes);
    Result<std::optional<FrameEvent>, CloseFault> finish_frame();

    FrameLimits limits_;
    Bytes head_;  ///< of a header that is not whole yet; at most 14 bytes
    std::optional<Header> frame_;
    std::uint64_t frame_at_ = 0;
    Bytes message_;
    Bytes control_;
    std::optional<Opcode> message_kind_;  ///< set while a message is in pieces
    Utf8Check text_;
};

/// One frame. Masked with `mask` when there is one.
Bytes make_frame(Opcode opcode, ByteView payload, bool last = true,
                 std::optional<std::array<std::uint8_t, 4>> mask = std::nullopt);
/// The payload of a close frame: code and reason, cut to what fits.
Bytes close_payload(std::uint16_t code, std::string_view reason);

/// What a peer says when it closes; without a code it is 1005.
struct CloseSaid {
    std::uint16_t code = 1005;
    std::string reason;
};
Result<CloseSaid, CloseFault> parse_close(ByteView payload);

}  // namespace rhizome::http::detail
