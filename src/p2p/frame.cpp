// SPDX-License-Identifier: Apache-2.0
#include "p2p/frame.h"

#include <algorithm>

#include "base/codec.h"
#include "base/ensure.h"

namespace rhizome::p2p {
namespace {

/// Room made at once for a payload; more of it when more has come, so that a length alone costs the reader nothing.
constexpr std::size_t kFirstRoom = 4'096;

}  // namespace

std::string_view name(FrameFault fault) {
    switch (fault) {
        case FrameFault::Empty: return "empty";
        case FrameFault::UnknownType: return "unknown-type";
        case FrameFault::TooLarge: return "too-large";
    }
    return "unknown";
}

Error to_error(FrameFault fault) {
    switch (fault) {
        case FrameFault::Empty: return {ErrorKind::Invalid, "a frame without a payload"};
        case FrameFault::UnknownType: return {ErrorKind::Invalid, "a frame of an unknown type"};
        case FrameFault::TooLarge: return {ErrorKind::Invalid, "a frame larger than its type may be"};
    }
    unreachable("all faults are named");
}

Result<std::optional<Bytes>, FrameFault> FrameReader::next(ByteView& input) {
    const auto broken = [&](FrameFault fault) {
        broken_ = fault;
        payload_ = Bytes{};
        return Fail{fault};
    };
    if (broken_) return Fail{*broken_};
    while (head_size_ < sizeof head_) {
        if (input.empty()) return std::optional<Bytes>{};
        head_[head_size_++] = input[0];
        input = input.subspan(1);
        if (head_size_ == kFrameHeadBytes) {
            length_ = *Reader{ByteView{head_}}.u32();
            if (length_ == 0) return broken(FrameFault::Empty);
        }
        if (head_size_ == sizeof head_) {
            const std::size_t limit = limit_of_(head_[kFrameHeadBytes]);
            if (limit == 0) return broken(FrameFault::UnknownType);
            if (length_ > limit) return broken(FrameFault::TooLarge);
            payload_.reserve(std::min(length_, kFirstRoom));
            payload_.push_back(head_[kFrameHeadBytes]);
        }
    }
    const ByteView piece = input.first(std::min(input.size(), length_ - payload_.size()));
    if (payload_.capacity() < payload_.size() + piece.size())
        payload_.reserve(std::min(length_, std::max(2 * payload_.capacity(), payload_.size() + piece.size())));
    payload_.insert(payload_.end(), piece.begin(), piece.end());
    input = input.subspan(piece.size());
    if (payload_.size() < length_) return std::optional<Bytes>{};
    head_size_ = 0;
    std::optional<Bytes> whole{std::move(payload_)};
    payload_ = Bytes{};
    return whole;
}

Bytes frame_of(ByteView payload) {
    ensure(!payload.empty() && payload.size() <= UINT32_MAX, "a payload has a type, and a length of four bytes");
    Writer out{kFrameHeadBytes + payload.size()};
    out.blob(payload);
    return std::move(out).take();
}

}  // namespace rhizome::p2p
