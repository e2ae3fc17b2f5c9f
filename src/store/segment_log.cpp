// SPDX-License-Identifier: Apache-2.0
#include "store/segment_log.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "base/ensure.h"
#include "runtime/entropy.h"
#include "runtime/files.h"
#include "store/data_folder.h"
#include "store/detail/log_reader.h"

namespace rhizome::store {
namespace {

constexpr std::string_view kSuffix = ".log";
constexpr std::string_view kHalfMade = ".new";
constexpr std::size_t kSegmentsMax = 1'000'000;
constexpr std::uint64_t kSegmentBytesMax = 1u << 30;  ///< offsets have 32 bits

std::optional<std::uint32_t> number_of(std::string_view name) {
    if (!name.ends_with(kSuffix) || name.size() != 10 + kSuffix.size()) return std::nullopt;
    name.remove_suffix(kSuffix.size());
    std::uint32_t number = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (fault != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    return number;
}

Error damaged(const std::filesystem::path& file, std::uint64_t offset, std::string_view what) {
    return {
        ErrorKind::Corrupt,
        fmt::format("{} is damaged at offset {}: {}\nrestore a backup (rhizome chain restore), or start from another "
                    "node's snapshot: what was promised to be on this disk is not",
                    file.native(), offset, what)};
}

}  // namespace

std::filesystem::path SegmentLog::path_of(std::uint32_t number) const {
    return settings_.folder / fmt::format("{:010}{}", number, kSuffix);
}

Result<SegmentLog::SegmentPtr> SegmentLog::make_segment(std::uint32_t number, std::uint64_t bytes_min) const {
    // Made under another name and renamed when whole: a segment that can be seen has its head and its room.
    const std::filesystem::path path = path_of(number);
    std::filesystem::path half = path;
    half += kHalfMade;
    std::error_code ignored;
    std::filesystem::remove(half, ignored);
    auto segment = std::make_shared<Segment>();
    segment->number = number;
    segment->size = std::max(settings_.segment_bytes, bytes_min);
    segment->salt = runtime::random_number();
    ensure(segment->size <= kSegmentBytesMax, "a record is far smaller than the largest segment");
    TRY(segment->file, detail::File::open(half, detail::File::Mode::Create));
    const auto head =
        encode_head(SegmentHead{.schema = kSchema, .number = number, .chain = settings_.chain, .salt = segment->salt});
    const ByteView bytes{head};
    const auto written = [&]() -> Result<void> {
        TRY(segment->file.allocate(0, segment->size));
        TRY(segment->file.write(0, std::span{&bytes, 1}));
        TRY(segment->file.sync());
        TRY(detail::rename_file(half, path));
        TRY(segment->file, detail::File::open(path, detail::File::Mode::Write));  // under its own name in messages
        return detail::sync_folder(settings_.folder);
    }();
    if (!written) {
        std::filesystem::remove(half, ignored);
        return Fail{written.error()};
    }
    return SegmentPtr{std::move(segment)};
}

Result<std::unique_ptr<SegmentLog>> SegmentLog::create(Settings settings) {
    std::unique_ptr<SegmentLog> log{new SegmentLog{std::move(settings)}};
    log->end_.sequence = 1;
    TRY(auto first, log->make_segment(1, 0));
    TRY(log->begin_segment(std::move(first)));
    TRY(log->sync());
    return log;
}

Result<void> SegmentLog::begin_segment(SegmentPtr segment) {
    SegmentPtr before;
    LogPosition end_before;
    {
        const std::lock_guard lock{mutex_};
        segments_[segment->number] = segment;
        before = std::exchange(active_, segment);
        end_before = std::exchange(end_.position, LogPosition{.segment = segment->number, .offset = kSegmentHeadBytes});
    }
    const Bytes carry = settings_.carry();
    const ByteView payload{carry};
    if (const auto written = write_record(RecordKind::Carry, std::span{&payload, 1}); !written) {
        const std::lock_guard lock{mutex_};
        segments_.erase(segment->number);
        next_ = std::move(segment);  // begun again with the next record
        active_ = std::move(before);
        end_.position = end_before;
        return Fail{written.error()};
    }
    return {};
}

Error SegmentLog::give_up(Error error) {
    const std::lock_guard lock{mutex_};
    if (!failed_)
        failed_ =
            Error{ErrorKind::Failed,
                  fmt::format("the disk failed, and what it holds is no longer certain: {}\nstop the node, look at "
                              "the disk (dmesg), and start again: opening finds out what is there",
                              error.message)};
    return *failed_;
}

Result<SegmentLog::Appended> SegmentLog::write_record(RecordKind kind, std::span<const ByteView> payload) {
    // Only this thread moves the end, so it can be read without the lock.
    RecordHead head{.kind = kind, .sequence = end_.sequence, .durable = durable(), .link = end_.link};
    const auto head_bytes = encode_head(head, payload, active_->salt);
    static constexpr std::array<std::uint8_t, kRecordAlignment> kZeros{};
    const std::uint64_t size = record_bytes(head.length);
    std::vector<ByteView> parts{head_bytes};
    parts.insert(parts.end(), payload.begin(), payload.end());
    parts.push_back(ByteView{kZeros}.first(size - kRecordHeadBytes - head.length));
    if (const auto written = active_->file.write(end_.position.offset, parts); !written) {
        // Some file systems want room even to overwrite. A piece of the record may stand there now: the next one will
        // be written over it, and until then it is no record.
        if (written.error().kind == ErrorKind::Exhausted) return Fail{written.error()};
        return Fail{give_up(written.error())};
    }
    const Appended appended{.position = end_.position, .sequence = head.sequence};
    const std::lock_guard lock{mutex_};
    end_.position.offset += static_cast<std::uint32_t>(size);
    end_.sequence += 1;
    end_.link = head.checksum;
    return appended;
}

bool SegmentLog::fits(std::uint64_t payload_bytes) const {
    return end_.position.offset + record_bytes(payload_bytes) <= active_->size;
}

Result<SegmentLog::Appended> SegmentLog::append(RecordKind kind, std::span<const ByteView> payload) {
    {
        const std::lock_guard lock{mutex_};
        if (failed_) return Fail{*failed_};
    }
    std::uint64_t bytes = 0;
    for (const ByteView part : payload) bytes += part.size();
    if (bytes > kPayloadBytesMax)
        return fail(ErrorKind::Exhausted, fmt::format("a record of {} bytes is larger than the log takes", bytes));
    if (!fits(bytes)) TRY(roll(bytes));
    return write_record(kind, payload);
}

Result<void> SegmentLog::roll(std::uint64_t payload_bytes) {
    const std::lock_guard preparing{preparing_};
    const Bytes carry = settings_.carry();
    TRY(auto next, take_next(kSegmentHeadBytes + record_bytes(carry.size()) + record_bytes(payload_bytes)));
    // All of the old segment is durable before the new one says so: a gap at the end of a segment is always damage.
    TRY(sync());
    return begin_segment(std::move(next));
}

Result<SegmentLog::SegmentPtr> SegmentLog::take_next(std::uint64_t bytes_min) {
    SegmentPtr ready;
    {
        const std::lock_guard lock{mutex_};
        if (next_ && next_->size >= bytes_min) return std::exchange(next_, nullptr);
        ready = std::exchange(next_, nullptr);
    }
    if (ready) {  // too small for this record: its name is needed
        TRY(runtime::remove_file(ready->file.path()));
    }
    return make_segment(active_->number + 1, bytes_min);
}

Result<void> SegmentLog::prepare_next() {
    const std::lock_guard preparing{preparing_};
    std::uint32_t number = 0;
    {
        const std::lock_guard lock{mutex_};
        if (next_ || failed_) return {};
        number = active_->number + 1;
    }
    TRY(auto segment, make_segment(number, 0));
    const std::lock_guard lock{mutex_};
    next_ = std::move(segment);
    return {};
}

Result<std::uint64_t> SegmentLog::sync() {
    const auto written_now = [&]() -> Result<std::pair<SegmentPtr, std::uint64_t>> {
        const std::lock_guard lock{mutex_};
        if (failed_) return Fail{*failed_};
        return std::pair{active_, end_.sequence - 1};
    };
    TRY(const auto asked, written_now());
    // One at a time: the system tells a failed write-back to one of several callers only, and the others would promise
    // what is lost.
    const std::lock_guard syncing{syncing_};
    TRY(const auto now, written_now());
    if (asked.second <= durable()) return durable();  // the one before did it
    if (const auto synced = now.first->file.sync(); !synced) return Fail{give_up(synced.error())};
    durable_.store(now.second, std::memory_order_release);
    return now.second;
}

LogCursor SegmentLog::end() const {
    const std::lock_guard lock{mutex_};
    return end_;
}

SegmentLog::SegmentPtr SegmentLog::segment(std::uint32_t number) const {
    const std::lock_guard lock{mutex_};
    const auto found = segments_.find(number);
    return found == segments_.end() ? nullptr : found->second;
}

Result<std::pair<RecordKind, Bytes>> SegmentLog::read(LogPosition position) const {
    const SegmentPtr from = segment(position.segment);
    if (!from) return fail(ErrorKind::NotFound, fmt::format("segment {} of the log was pruned", position.segment));
    std::array<std::uint8_t, kRecordHeadBytes> head_bytes{};
    TRY(from->file.read(position.offset, head_bytes));
    const auto head = decode_head(head_bytes);
    if (!head) return Fail{damaged(from->file.path(), position.offset, name(head.error()))};
    Bytes bytes(record_bytes(head->length));
    TRY(from->file.read(position.offset, bytes));
    const auto record = decode_record(bytes, from->salt);
    if (!record) return Fail{damaged(from->file.path(), position.offset, name(record.error()))};
    const RecordKind kind = record->head.kind;
    const std::size_t length = record->head.length;
    bytes.erase(bytes.begin(), bytes.begin() + kRecordHeadBytes);
    bytes.resize(length);
    return std::pair{kind, std::move(bytes)};
}

Result<void> SegmentLog::scan_segment(std::uint32_t number,
                                      const std::function<Result<void>(const LogRecord&)>& each) const {
    const SegmentPtr from = segment(number);
    if (!from) return fail(ErrorKind::NotFound, fmt::format("segment {} of the log was pruned", number));
    const LogPosition end = this->end().position;
    detail::LogReader reader{from->file, from->size, kSegmentHeadBytes, from->salt};
    for (;;) {
        const LogPosition position{number, static_cast<std::uint32_t>(reader.offset())};
        if (position >= end) return {};
        TRY(auto record, reader.next());
        if (!record) {
            if (record.error() == RecordFault::Empty && number < end.segment) return {};
            return Fail{damaged(from->file.path(), position.offset, name(record.error()))};
        }
        TRY(each({.position = position, .head = record->head, .payload = record->payload}));
    }
}

Result<void> SegmentLog::scan(const std::function<Result<void>(const LogRecord&)>& each) const {
    const std::uint32_t last = active_segment();
    for (std::uint32_t number = first_segment(); number <= last; ++number) TRY(scan_segment(number, each));
    return {};
}

std::uint32_t SegmentLog::first_segment() const {
    const std::lock_guard lock{mutex_};
    return segments_.begin()->first;
}

std::uint32_t SegmentLog::active_segment() const {
    const std::lock_guard lock{mutex_};
    return active_->number;
}

Result<std::uint64_t> SegmentLog::drop_first_segment() {
    SegmentPtr oldest;
    {
        const std::lock_guard lock{mutex_};
        oldest = segments_.begin()->second;
        ensure(oldest != active_, "the active segment is never dropped");
        segments_.erase(segments_.begin());
    }
    TRY(runtime::remove_file(oldest->file.path()));
    return oldest->size;
}

std::uint64_t SegmentLog::bytes() const {
    const std::lock_guard lock{mutex_};
    std::uint64_t total = next_ ? next_->size : 0;
    for (const auto& [number, segment] : segments_) total += segment->size;
    return total;
}

// ---- opening --------------------------------------------------------------------------------------------------------

Result<std::unique_ptr<SegmentLog>> SegmentLog::open(Settings settings, std::optional<LogCursor> from,
                                                     std::uint64_t known_durable,
                                                     const std::function<Result<void>(const LogRecord&)>& each,
                                                     LogTail& tail) {
    std::unique_ptr<SegmentLog> log{new SegmentLog{std::move(settings)}};
    const auto no_log = [&] {
        return fail(ErrorKind::Corrupt,
                    fmt::format("there is no log in {}\nrestore a backup (rhizome chain restore), or "
                                "start from another node's snapshot",
                                log->settings_.folder.native()));
    };
    const auto names = runtime::list_folder(log->settings_.folder, kSegmentsMax);
    if (!names && names.error().kind == ErrorKind::NotFound) return no_log();
    if (!names) return Fail{names.error()};
    for (const std::string& name : *names) {
        const auto number = number_of(name);
        if (!number) {
            std::error_code ignored;
            if (name.ends_with(kHalfMade)) std::filesystem::remove(log->settings_.folder / name, ignored);
            continue;
        }
        auto segment = std::make_shared<Segment>();
        segment->number = *number;
        TRY(segment->file, detail::File::open(log->settings_.folder / name, detail::File::Mode::Write));
        TRY(segment->size, segment->file.size());
        std::array<std::uint8_t, kSegmentHeadBytes> bytes{};
        TRY(const std::size_t got, segment->file.read_some(0, bytes));
        const auto head = decode_segment_head(ByteView{bytes}.first(got));
        if (!head)
            return Fail{
                damaged(segment->file.path(), 0, "the head of the file: " + std::string{store::name(head.error())})};
        if (head->number != *number)
            return Fail{damaged(segment->file.path(), 12, fmt::format("the file says it is segment {}", head->number))};
        if (head->chain != log->settings_.chain)
            return Fail{damaged(segment->file.path(), 16,
                                fmt::format("the segment belongs to another chain ({}) than the file \"format\" names "
                                            "({})",
                                            to_hex(head->chain), to_hex(log->settings_.chain)))};
        if (!log->segments_.empty() && log->segments_.rbegin()->first + 1 != *number)
            return Fail{
                damaged(log->path_of(log->segments_.rbegin()->first + 1), 0, "this segment of the log is missing")};
        segment->salt = head->salt;
        log->segments_[*number] = std::move(segment);
    }
    if (log->segments_.empty()) return no_log();
    TRY(log->find_end(from, known_durable, each, tail));
    return log;
}

/// How the segment after `number` begins.
Result<SegmentLog::NextSegment> SegmentLog::look_at_next(std::uint32_t number) const {
    const auto found = segments_.find(number + 1);
    if (found == segments_.end()) return NextSegment{};
    detail::LogReader reader{found->second->file, found->second->size, kSegmentHeadBytes, found->second->salt};
    TRY(const auto record, reader.next());
    if (!record) {
        if (record.error() == RecordFault::Empty) return NextSegment{};  // prepared and not yet used
        return NextSegment{.fault = name(record.error())};
    }
    return NextSegment{.follows = record->head.sequence == end_.sequence && record->head.link == end_.link};
}

/// A whole record behind `from` that was written when `sequence` was known to be durable: then what cannot be read at
/// `from` was damaged afterwards.
Result<std::optional<LogPosition>> SegmentLog::find_witness(LogPosition from, std::uint64_t sequence) const {
    for (auto segment = segments_.find(from.segment); segment != segments_.end(); ++segment) {
        const bool first = segment->first == from.segment;
        detail::LogReader reader{segment->second->file, segment->second->size,
                                 first ? from.offset : kSegmentHeadBytes - kRecordAlignment, segment->second->salt};
        for (;;) {
            TRY(const auto found, reader.find_later());
            if (!found) break;
            if (found->head.durable >= sequence && found->head.sequence > sequence)
                return LogPosition{.segment = segment->first, .offset = static_cast<std::uint32_t>(found->offset)};
        }
    }
    return std::optional<LogPosition>{};
}

Result<void> SegmentLog::find_end(std::optional<LogCursor> from, std::uint64_t known_durable,
                                  const std::function<Result<void>(const LogRecord&)>& each, LogTail& tail) {
    end_ = from.value_or(LogCursor{.position = {.segment = segments_.begin()->first, .offset = kSegmentHeadBytes}});
    bool anything_fits = !from;  // without a place to go on from, the first record says where we are
    if (!segments_.contains(end_.position.segment))
        return Fail{damaged(path_of(end_.position.segment), 0, "this segment of the log is missing")};
    const std::uint32_t first_read = end_.position.segment;
    if (const SegmentPtr& segment = segments_.at(first_read); end_.position.offset > segment->size)
        return Fail{damaged(segment->file.path(), segment->size,
                            fmt::format("the file ends here, and was written up to offset {}", end_.position.offset))};
    for (;;) {
        const std::uint32_t number = end_.position.segment;
        active_ = segments_.at(number);
        const std::filesystem::path& path = active_->file.path();
        detail::LogReader reader{active_->file, active_->size, end_.position.offset, active_->salt};
        std::string_view fault;
        bool used_up = false;  // nothing more was written here, as far as one can see
        for (;;) {
            TRY(const auto record, reader.next());
            if (!record) {
                fault = name(record.error());
                used_up = record.error() == RecordFault::Empty;
                break;
            }
            const RecordHead& head = record->head;
            if (!anything_fits && (head.sequence != end_.sequence || head.link != end_.link)) {
                fault = "the record does not follow the one before";
                break;
            }
            if (anything_fits && head.kind != RecordKind::Carry)
                return Fail{damaged(path, end_.position.offset, "a segment begins with another record than it should")};
            anything_fits = false;
            if (const auto taken = each({.position = end_.position, .head = head, .payload = record->payload}); !taken)
                return Fail{damaged(path, end_.position.offset, taken.error().message)};
            end_ = {.position = {.segment = number, .offset = static_cast<std::uint32_t>(reader.offset())},
                    .sequence = head.sequence + 1,
                    .link = head.checksum};
        }
        if (anything_fits) return Fail{damaged(path, end_.position.offset, fault)};
        TRY(const NextSegment next, look_at_next(number));
        if (!next.follows) {
            TRY(const auto witness, find_witness(end_.position, end_.sequence));
            if (!witness && known_durable < end_.sequence) break;
            const auto lost = [&](const std::filesystem::path& file, std::uint64_t offset, std::string_view what) {
                return Fail{damaged(file, offset,
                                    fmt::format("{}, though record {} was on the disk once", what, end_.sequence))};
            };
            if (used_up && !next.fault.empty()) return lost(path_of(number + 1), kSegmentHeadBytes, next.fault);
            return lost(path, end_.position.offset, fault);
        }
        end_.position = {.segment = number + 1, .offset = kSegmentHeadBytes};
    }
    TRY(drop_rest(tail));
    // What was read may be in memory only: whoever acts on it must not lose it to the next power failure.
    for (auto segment = segments_.find(first_read); segment != segments_.end(); ++segment)
        TRY(segment->second->file.sync());
    durable_ = end_.sequence - 1;
    tail.end = end_;
    return {};
}

/// Makes everything behind the end zeros again, and removes the segments behind it.
Result<void> SegmentLog::drop_rest(LogTail& tail) {
    while (segments_.rbegin()->first > end_.position.segment) {
        const SegmentPtr last = segments_.rbegin()->second;
        detail::LogReader reader{last->file, last->size, kSegmentHeadBytes};
        TRY(const std::uint64_t content_end, reader.end_of_content());
        if (content_end > kSegmentHeadBytes) {
            tail.dropped_bytes += content_end - kSegmentHeadBytes;
            tail.dropped_file = last->file.path();
            tail.dropped_offset = kSegmentHeadBytes;
        }
        TRY(runtime::remove_file(last->file.path()));
        segments_.erase(last->number);
    }
    detail::LogReader reader{active_->file, active_->size, end_.position.offset, active_->salt};
    TRY(const std::uint64_t content_end, reader.end_of_content());
    if (content_end == end_.position.offset) return {};
    tail.dropped_bytes += content_end - end_.position.offset;
    tail.dropped_file = active_->file.path();
    tail.dropped_offset = end_.position.offset;
    const Bytes zeros(1u << 20);
    for (std::uint64_t at = end_.position.offset; at < content_end;) {
        const std::size_t size = std::min<std::uint64_t>(zeros.size(), content_end - at);
        const ByteView piece = ByteView{zeros}.first(size);
        TRY(active_->file.write(at, std::span{&piece, 1}));
        at += size;
    }
    return {};
}

}  // namespace rhizome::store
