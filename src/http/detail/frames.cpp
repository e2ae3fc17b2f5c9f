// SPDX-License-Identifier: Apache-2.0
#include "http/detail/frames.h"

#include <algorithm>

#include <fmt/core.h>

namespace rhizome::http::detail {
namespace {

constexpr std::size_t kControlBytesMax = 125;
/// Two bytes, eight of length, four of mask.
constexpr std::size_t kHeaderBytesMax = 14;

bool is_control(Opcode opcode) { return static_cast<unsigned char>(opcode) >= 8; }

bool is_close_code(std::uint16_t code) {
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

Fail<CloseFault> broken(std::string message) { return {CloseFault{1002, std::move(message)}}; }

/// Bytes of the header whose first two are given.
std::size_t header_size(std::uint8_t second) {
    const unsigned length = second & 0x7Fu;
    return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + ((second & 0x80u) != 0 ? 4 : 0);
}

}  // namespace

bool Utf8Check::add(ByteView bytes) {
    for (const std::uint8_t byte : bytes) {
        if (needed_ > 0) {
            if (byte < low_ || byte > high_) return false;
            low_ = 0x80;
            high_ = 0xBF;
            --needed_;
        } else if (byte >= 0x80) {
            if (byte < 0xC2 || byte > 0xF4) return false;  // overlong, or beyond the last character
            needed_ = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
            if (byte == 0xE0) low_ = 0xA0;   // overlong
            if (byte == 0xED) high_ = 0x9F;  // halves of surrogate pairs
            if (byte == 0xF0) low_ = 0x90;   // overlong
            if (byte == 0xF4) high_ = 0x8F;  // beyond the last character
        }
    }
    return true;
}

FrameReader::Fed FrameReader::feed(ByteView bytes) {
    Fed fed;
    auto read = feed_into(bytes, fed.events);
    if (!read) fed.fault = std::move(read).error();
    return fed;
}

Result<void, CloseFault> FrameReader::feed_into(ByteView bytes, std::vector<FrameEvent>& events) {
    for (;;) {
        if (!frame_) {
            while (!bytes.empty() && (head_.size() < 2 || head_.size() < header_size(head_[1]))) {
                head_.push_back(bytes.front());
                bytes = bytes.subspan(1);
            }
            TRY(const bool whole, read_header());
            if (!whole) return {};
        }
        const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), frame_->length - frame_at_));
        TRY(take(bytes.first(size)));
        bytes = bytes.subspan(size);
        if (frame_at_ < frame_->length) return {};
        TRY(auto event, finish_frame());
        if (event) events.push_back(std::move(*event));
    }
}

Result<bool, CloseFault> FrameReader::read_header() {
    if (head_.size() < 2 || head_.size() < header_size(head_[1])) return false;
    ensure(head_.size() <= kHeaderBytesMax, "a header has its bytes and no more");
    Header header;
    if ((head_[0] & 0x70u) != 0) return broken("a reserved bit is set, and no extension was agreed on");
    header.last = (head_[0] & 0x80u) != 0;
    const unsigned opcode = head_[0] & 0x0Fu;
    if (opcode > 10 || (opcode > 2 && opcode < 8)) return broken(fmt::format("there is no opcode {}", opcode));
    header.opcode = static_cast<Opcode>(opcode);
    const bool masked = (head_[1] & 0x80u) != 0;
    if (masked != limits_.expect_masked)
        return broken(masked ? "a server's frame is masked" : "a client's frame is not masked");
    header.length = head_[1] & 0x7Fu;
    const std::size_t wide = header.length == 126 ? 2 : header.length == 127 ? 8 : 0;
    if (wide > 0) {
        header.length = 0;
        for (std::size_t i = 0; i < wide; ++i) header.length = header.length << 8 | head_[2 + i];
        if (header.length < (wide == 2 ? 126u : 65'536u)) return broken("a length is written longer than it needs");
        if (header.length >> 63 != 0) return broken("a length has its highest bit set");
    }
    if (masked) std::copy_n(head_.end() - 4, 4, header.mask.begin());
    TRY(check_header(header));
    head_.clear();
    frame_ = header;
    frame_at_ = 0;
    if (!is_control(header.opcode) && header.opcode != Opcode::Continuation) {
        message_kind_ = header.opcode;
        text_ = Utf8Check{};
    }
    return true;
}

Result<void, CloseFault> FrameReader::check_header(const Header& header) const {
    if (is_control(header.opcode)) {
        if (!header.last) return broken("a control frame is in pieces");
        if (header.length > kControlBytesMax) return broken("a control frame has more than 125 bytes");
        return {};
    }
    if (header.opcode == Opcode::Continuation && !message_kind_) return broken("nothing is there to be continued");
    if (header.opcode != Opcode::Continuation && message_kind_)
        return broken("a message begins before the last one has ended");
    if (header.length > limits_.message_bytes_max - message_.size())
        return Fail{CloseFault{1009, fmt::format("a message is larger than {} bytes", limits_.message_bytes_max)}};
    return {};
}

Result<void, CloseFault> FrameReader::take(ByteView bytes) {
    Bytes& into = is_control(frame_->opcode) ? control_ : message_;
    const std::size_t before = into.size();
    into.insert(into.end(), bytes.begin(), bytes.end());
    if (limits_.expect_masked)
        for (std::size_t i = 0; i < bytes.size(); ++i) into[before + i] ^= frame_->mask[(frame_at_ + i) & 3];
    frame_at_ += bytes.size();
    if (!is_control(frame_->opcode) && message_kind_ == Opcode::Text && !text_.add(ByteView{into}.subspan(before)))
        return Fail{CloseFault{1007, "a text is not UTF-8"}};
    return {};
}

Result<std::optional<FrameEvent>, CloseFault> FrameReader::finish_frame() {
    const Header header = *frame_;
    frame_.reset();
    if (is_control(header.opcode))
        return std::optional<FrameEvent>{FrameEvent{header.opcode, std::exchange(control_, {})}};
    if (!header.last) return std::optional<FrameEvent>{};
    if (message_kind_ == Opcode::Text && !text_.complete())
        return Fail{CloseFault{1007, "a text ends inside a character"}};
    const Opcode kind = *std::exchange(message_kind_, std::nullopt);
    return std::optional<FrameEvent>{FrameEvent{kind, std::exchange(message_, {})}};
}

Bytes make_frame(Opcode opcode, ByteView payload, bool last, std::optional<std::array<std::uint8_t, 4>> mask) {
    Bytes out;
    out.reserve(payload.size() + kHeaderBytesMax);
    out.push_back(static_cast<std::uint8_t>(static_cast<unsigned>(opcode) | (last ? 0x80u : 0u)));
    const unsigned bit = mask ? 0x80u : 0u;
    const std::uint64_t size = payload.size();
    if (size < 126) {
        out.push_back(static_cast<std::uint8_t>(size | bit));
    } else {
        const int wide = size < 65'536 ? 2 : 8;
        out.push_back(static_cast<std::uint8_t>((wide == 2 ? 126u : 127u) | bit));
        for (int i = wide - 1; i >= 0; --i) out.push_back(static_cast<std::uint8_t>(size >> (8 * i)));
    }
    if (mask) out.insert(out.end(), mask->begin(), mask->end());
    const std::size_t before = out.size();
    out.insert(out.end(), payload.begin(), payload.end());
    if (mask)
        for (std::size_t i = 0; i < payload.size(); ++i) out[before + i] ^= (*mask)[i & 3];
    return out;
}

Bytes close_payload(std::uint16_t code, std::string_view reason) {
    reason = reason.substr(0, kControlBytesMax - 2);
    while (!reason.empty()) {  // never cut inside a character
        Utf8Check check;
        if (check.add(as_bytes(reason)) && check.complete()) break;
        reason.remove_suffix(1);
    }
    Bytes out(2 + reason.size());
    out[0] = static_cast<std::uint8_t>(code >> 8);
    out[1] = static_cast<std::uint8_t>(code);
    std::copy(reason.begin(), reason.end(), out.begin() + 2);
    return out;
}

Result<CloseSaid, CloseFault> parse_close(ByteView payload) {
    if (payload.empty()) return CloseSaid{};
    if (payload.size() == 1) return broken("a close frame of one byte");
    CloseSaid said{static_cast<std::uint16_t>(payload[0] << 8 | payload[1]), std::string(as_text(payload.subspan(2)))};
    if (!is_close_code(said.code)) return broken(fmt::format("there is no close code {}", said.code));
    Utf8Check check;
    if (!check.add(as_bytes(said.reason)) || !check.complete())
        return Fail{CloseFault{1007, "the reason of a close frame is not UTF-8"}};
    return said;
}

}  // namespace rhizome::http::detail
