// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "store/detail/file.h"
#include "store/record.h"

namespace rhizome::store {

/// Where a record begins.
struct LogPosition {
    std::uint32_t segment = 0;
    std::uint32_t offset = 0;
    friend auto operator<=>(const LogPosition&, const LogPosition&) = default;
    friend bool operator==(const LogPosition&, const LogPosition&) = default;
};

/// A place in the log to read on from: what comes there must fit.
struct LogCursor {
    LogPosition position{};
    std::uint64_t sequence = 0;  ///< of the record that comes next
    std::uint64_t link = 0;      ///< checksum of the one before
    friend bool operator==(const LogCursor&, const LogCursor&) = default;
};

/// A record as reading finds it. The payload is good during the call.
struct LogRecord {
    LogPosition position{};
    RecordHead head{};
    ByteView payload{};
};

/// What reading the end of the log found there.
struct LogTail {
    LogCursor end{};
    /// Bytes behind the last good record that were never promised to anybody, and are gone now.
    std::uint64_t dropped_bytes = 0;
    std::filesystem::path dropped_file{};
    std::uint64_t dropped_offset = 0;
};

/// Records one behind the other in files of fixed size (`log/0000000001.log` …) that get their room on the disk before
/// they are needed: appending changes no metadata, so a sync writes the bytes and little else.
///
/// `append` is for one thread, `sync` for any, `read` for any. Each segment begins with a Carry record that says what
/// older segments said, so that those can be deleted.
class SegmentLog {
public:
    struct Settings {
        std::filesystem::path folder{};
        std::array<std::uint8_t, 32> chain{};
        std::uint64_t segment_bytes = 0;
        /// Asked for when a segment begins.
        std::function<Bytes()> carry{};
    };

    /// An empty log whose first record is a Carry. The folder exists.
    static Result<std::unique_ptr<SegmentLog>> create(Settings settings);

    /// Reads the log from `from` to its end, calling `each` for every good record, then makes the end ready to be
    /// appended to. Nothing for `from` means the first record there is; `each` may refuse a record's content, which is
    /// damage.
    ///
    /// `known_durable` is what somebody else (the index) knows to have been durable. What cannot be read although it
    /// was durable is Corrupt, with file and offset. What was not is dropped and told in `tail`.
    static Result<std::unique_ptr<SegmentLog>> open(Settings settings, std::optional<LogCursor> from,
                                                    std::uint64_t known_durable,
                                                    const std::function<Result<void>(const LogRecord&)>& each,
                                                    LogTail& tail);

    struct Appended {
        LogPosition position{};
        std::uint64_t sequence = 0;
    };
    /// Hands a record to the operating system. Exhausted, with nothing changed, when the disk is full: mostly because a
    /// new segment is needed and there is no room for one. A failed write or sync ends all writing.
    Result<Appended> append(RecordKind kind, std::span<const ByteView> payload);
    /// Makes durable all that was appended when it was called, and says up to where that is.
    Result<std::uint64_t> sync();
    [[nodiscard]] std::uint64_t durable() const { return durable_.load(std::memory_order_acquire); }
    /// Whether the next record of that size needs room for a new segment.
    [[nodiscard]] bool fits(std::uint64_t payload_bytes) const;

    /// Where the next record will stand.
    [[nodiscard]] LogCursor end() const;

    /// One record, checked. Corrupt with file and offset.
    [[nodiscard]] Result<std::pair<RecordKind, Bytes>> read(LogPosition position) const;
    /// All records, checked, one after the other.
    Result<void> scan(const std::function<Result<void>(const LogRecord&)>& each) const;
    /// The same for one segment.
    Result<void> scan_segment(std::uint32_t number, const std::function<Result<void>(const LogRecord&)>& each) const;

    /// Prepares the next segment if none is ready: for a thread that has time, any. Failing is no harm.
    Result<void> prepare_next();

    [[nodiscard]] std::uint32_t first_segment() const;
    [[nodiscard]] std::uint32_t active_segment() const;
    /// Deletes a segment, the first one only and never the active one; says how many bytes that gave back.
    Result<std::uint64_t> drop_first_segment();
    [[nodiscard]] std::uint64_t bytes() const;

private:
    struct Segment {
        std::uint32_t number = 0;
        std::uint64_t size = 0;
        std::uint64_t salt = 0;
        detail::File file;
    };
    using SegmentPtr = std::shared_ptr<const Segment>;

    explicit SegmentLog(Settings settings) : settings_(std::move(settings)) {}
    [[nodiscard]] std::filesystem::path path_of(std::uint32_t number) const;
    Result<SegmentPtr> make_segment(std::uint32_t number, std::uint64_t bytes_min) const;
    Result<SegmentPtr> take_next(std::uint64_t bytes_min);
    Result<void> begin_segment(SegmentPtr segment);
    Result<Appended> write_record(RecordKind kind, std::span<const ByteView> payload);
    Result<void> roll(std::uint64_t payload_bytes);
    Error give_up(Error error);
    Result<void> find_end(std::optional<LogCursor> from, std::uint64_t known_durable,
                          const std::function<Result<void>(const LogRecord&)>& each, LogTail& tail);
    struct NextSegment {
        bool follows = false;      ///< it begins with the record that comes next
        std::string_view fault{};  ///< something else is there, and cannot be read
    };
    Result<NextSegment> look_at_next(std::uint32_t number) const;
    Result<std::optional<LogPosition>> find_witness(LogPosition from, std::uint64_t sequence) const;
    Result<void> drop_rest(LogTail& tail);
    [[nodiscard]] SegmentPtr segment(std::uint32_t number) const;

    Settings settings_;
    std::mutex syncing_;        ///< held during a sync of the log
    std::mutex preparing_;      ///< held while a segment is made: by whoever is first, and the other waits
    mutable std::mutex mutex_;  ///< segments, end and failure; never held during a sync
    std::map<std::uint32_t, SegmentPtr> segments_;
    SegmentPtr active_;
    SegmentPtr next_;  ///< made ahead
    LogCursor end_{};
    std::atomic<std::uint64_t> durable_{0};
    std::optional<Error> failed_;
};

}  // namespace rhizome::store
