// SPDX-License-Identifier: Apache-2.0
#include "store/detail/log_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace rhizome::store::detail {
namespace {

constexpr std::uint64_t kPieceBytes = 1u << 20;
constexpr std::uint64_t kHoleBytes = 64u << 10;  ///< how often to ask whether there is anything ahead

/// One past the last byte that is not zero, 0 where there is none. Most of a segment that is written to is zeros, which
/// a start reads: a cache line at a time.
std::size_t content_bytes(ByteView bytes) {
    std::size_t end = bytes.size();
    std::array<std::uint64_t, 8> line{};
    while (end >= sizeof line) {
        std::memcpy(line.data(), bytes.data() + end - sizeof line, sizeof line);
        std::uint64_t any = 0;
        for (const std::uint64_t word : line) any |= word;
        if (any != 0) break;
        end -= sizeof line;
    }
    while (end > 0 && bytes[end - 1] == 0) --end;
    return end;
}

}  // namespace

/// At least `bytes` from `offset` on, or all there is.
Result<ByteView> LogReader::window(std::uint64_t offset, std::uint64_t bytes) {
    bytes = std::min(bytes, size_ - std::min(size_, offset));
    if (offset < buffer_at_ || offset + bytes > buffer_at_ + buffer_.size()) {
        buffer_.resize(std::min(std::max(bytes, kPieceBytes), size_ - offset));
        TRY(const std::size_t got, file_.read_some(offset, buffer_));
        buffer_.resize(got);
        buffer_at_ = offset;
    }
    return ByteView{buffer_}.subspan(offset - buffer_at_);
}

Result<Result<RecordView, RecordFault>> LogReader::next() {
    using Inner = Result<RecordView, RecordFault>;
    TRY(ByteView bytes, window(offset_, kRecordHeadBytes));
    const auto head = decode_head(bytes);
    if (!head) return Inner{Fail{head.error()}};
    TRY(bytes, window(offset_, record_bytes(head->length)));
    auto record = decode_record(bytes, salt_);
    if (record) offset_ += record_bytes(record->head.length);
    return Inner{record};
}

Result<std::optional<LogReader::Found>> LogReader::find_later() {
    std::uint64_t content_until = 0;  // in front of it there is something
    for (std::uint64_t at = offset_ + kRecordAlignment; at + kRecordHeadBytes <= size_; at += kRecordAlignment) {
        if (at >= content_until) {  // there may be nothing but a hole or zeros ahead
            TRY(const auto content, file_.next_content(at));
            if (!content) break;
            // A record may begin in front of it with its zeros only if it is none: heads begin with their magic.
            if (*content > at) at = *content / kRecordAlignment * kRecordAlignment;
            TRY(const ByteView ahead, window(at, kHoleBytes));
            content_until = at + std::min<std::uint64_t>(ahead.size(), kHoleBytes);
            if (content_bytes(ahead.first(content_until - at)) == 0) {
                if (content_until < at + kHoleBytes) break;  // nor is there anything behind
                at = content_until - kRecordAlignment;
                continue;
            }
        }
        TRY(ByteView bytes, window(at, kRecordHeadBytes));
        const auto head = decode_head(bytes);
        if (!head) continue;
        TRY(bytes, window(at, record_bytes(head->length)));
        if (!decode_record(bytes, salt_)) continue;
        offset_ = at + record_bytes(head->length) - kRecordAlignment;  // the next search begins right behind it
        return Found{.offset = at, .head = *head};
    }
    offset_ = size_;
    return std::optional<Found>{};
}

Result<std::uint64_t> LogReader::end_of_content() {
    std::uint64_t end = offset_;
    for (std::uint64_t at = offset_; at < size_;) {
        TRY(const auto content, file_.next_content(at));
        if (!content || *content >= size_) break;
        at = std::max(at, *content);
        TRY(const ByteView bytes, window(at, kHoleBytes));
        if (bytes.empty()) break;
        if (const std::size_t content_end = content_bytes(bytes); content_end > 0) end = at + content_end;
        at += bytes.size();
    }
    return end;
}

}  // namespace rhizome::store::detail
