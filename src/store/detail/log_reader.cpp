// SPDX-License-Identifier: Apache-2.0
#include "store/detail/log_reader.h"

#include <algorithm>

namespace rhizome::store::detail {
namespace {

constexpr std::uint64_t kPieceBytes = 1u << 20;
constexpr std::uint64_t kHoleBytes = 64u << 10;  ///< how often to ask whether there is anything ahead

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
    for (std::uint64_t at = offset_ + kRecordAlignment; at + kRecordHeadBytes <= size_; at += kRecordAlignment) {
        if ((at - offset_) % kHoleBytes == kRecordAlignment) {  // now and then: there may be nothing but a hole ahead
            TRY(const auto content, file_.next_content(at));
            if (!content) break;
            // A record may begin in front of it with its zeros only if it is none: heads begin with their magic.
            if (*content > at) at = *content / kRecordAlignment * kRecordAlignment;
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
        for (std::size_t i = bytes.size(); i > 0; --i) {
            if (bytes[i - 1] == 0) continue;
            end = at + i;
            break;
        }
        at += bytes.size();
    }
    return end;
}

}  // namespace rhizome::store::detail
