// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

/// Messages on a stream of bytes (docs/spec/p2p.md): a length of four bytes, then the payload, whose first byte is its
/// type.
namespace rhizome::p2p {

inline constexpr std::size_t kFrameHeadBytes = 4;

enum class FrameFault : std::uint8_t {
    Empty,        ///< a payload has at least its type
    UnknownType,  ///< nothing that this node speaks
    TooLarge,     ///< more than its type may have
};
std::string_view name(FrameFault fault);
Error to_error(FrameFault fault);

/// The most bytes that a payload of this type may have, type included; 0: there is no such type.
using FrameLimit = std::function<std::size_t(std::uint8_t type)>;

/// Takes one link's bytes apart. Holds at most one frame, no more of it than has come, and nothing between frames: a
/// thousand idle links, or links that announce much and send little, cost nothing. One for each link, so that one who
/// sends slowly delays nobody else.
class FrameReader {
public:
    explicit FrameReader(FrameLimit limit_of) : limit_of_(std::move(limit_of)) {}

    /// Takes bytes from the front of `input` until a payload is whole, and gives it; nothing when the input ends first.
    /// Called again until it gives nothing. A fault is for good: where the next frame begins is not known.
    Result<std::optional<Bytes>, FrameFault> next(ByteView& input);

    /// In the middle of a frame: whoever stays so for long is slow on purpose.
    [[nodiscard]] bool in_frame() const { return head_size_ > 0; }
    [[nodiscard]] std::size_t bytes_held() const { return payload_.capacity(); }

private:
    FrameLimit limit_of_;
    std::uint8_t head_[kFrameHeadBytes + 1]{};  ///< length, type
    std::size_t head_size_ = 0;
    std::size_t length_ = 0;
    Bytes payload_{};
    std::optional<FrameFault> broken_{};
};

/// The payload with its length in front; it has at least its type.
Bytes frame_of(ByteView payload);

}  // namespace rhizome::p2p
