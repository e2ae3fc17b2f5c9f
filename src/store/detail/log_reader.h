// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/result.h"
#include "store/detail/file.h"
#include "store/record.h"

namespace rhizome::store::detail {

/// The records of one segment, one after the other, read in large pieces. Borrows the file.
class LogReader {
public:
    /// `salt` is the one in the segment's head.
    LogReader(const File& file, std::uint64_t size, std::uint64_t offset, std::uint64_t salt = 0)
        : file_(file), size_(size), offset_(offset), salt_(salt) {}

    /// The record at `offset()`, good until the next call; moves on only behind a good one. The outer error is the
    /// disk's, the inner one what stands there instead.
    Result<Result<RecordView, RecordFault>> next();
    [[nodiscard]] std::uint64_t offset() const { return offset_; }

    /// Looks for a whole record at any later place, beginning with the next possible one after `offset()`, and stands
    /// behind it. False at the end of the segment.
    struct Found {
        std::uint64_t offset = 0;
        RecordHead head{};
    };
    Result<std::optional<Found>> find_later();

    /// The last byte from `offset()` on that is not zero: one past it, or `offset()` when there is none.
    Result<std::uint64_t> end_of_content();

private:
    Result<ByteView> window(std::uint64_t offset, std::uint64_t bytes);

    const File& file_;
    std::uint64_t size_;
    std::uint64_t offset_;
    std::uint64_t salt_;
    Bytes buffer_;
    std::uint64_t buffer_at_ = 0;
};

}  // namespace rhizome::store::detail
