// SPDX-License-Identifier: Apache-2.0
#include "store/segment_log.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include <fmt/core.h>

#include "base/codec.h"
#include "support/crash_disk.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;

class Logs : public ::testing::Test {
protected:
    SegmentLog::Settings settings() {
        SegmentLog::Settings settings{.folder = temp.path(), .segment_bytes = 4096, .carry = [] { return Bytes{'c'}; }};
        settings.chain.fill(3);
        return settings;
    }
    void create() {
        auto made = SegmentLog::create(settings());
        ASSERT_TRUE(made) << made.error().message;
        log = *std::move(made);
    }
    /// A record of `size` bytes that all are `fill`.
    Result<SegmentLog::Appended> append(std::size_t size, std::uint8_t fill = 1) {
        const Bytes payload(size, fill);
        const ByteView view{payload};
        return log->append(RecordKind::Vote, std::span{&view, 1});
    }
    /// Opens what is there and remembers all its records.
    Result<void> open(std::optional<LogCursor> from = {}, std::uint64_t known_durable = 0) {
        log.reset();
        records.clear();
        tail = {};
        TRY(log, SegmentLog::open(
                     settings(), from, known_durable,
                     [&](const LogRecord& record) -> Result<void> {
                         records.emplace_back(record.head, Bytes{record.payload.begin(), record.payload.end()});
                         return {};
                     },
                     tail));
        return {};
    }
    void overwrite(std::uint32_t segment, std::uint64_t offset, ByteView bytes) {
        const auto path = temp / fmt::format("{:010}.log", segment);
        const auto file = detail::File::open(path, detail::File::Mode::Write).value();
        ASSERT_TRUE(file.write(offset, std::span{&bytes, 1}));
    }
    [[nodiscard]] std::size_t segments() const {
        std::size_t count = 0;
        for (const auto& entry : fs::directory_iterator(temp.path())) count += entry.path().extension() == ".log";
        return count;
    }

    TempFolder temp{test::fast_place()};
    std::unique_ptr<SegmentLog> log;
    std::vector<std::pair<RecordHead, Bytes>> records;
    LogTail tail;
};

TEST_F(Logs, GiveBackRecordsInTheirOrder) {
    create();
    std::vector<SegmentLog::Appended> places;
    for (std::uint8_t i = 0; i < 60; ++i) places.push_back(append(i * 7U, i).value());
    const LogCursor middle = log->end();
    ASSERT_TRUE(append(5, 200));
    ASSERT_TRUE(log->sync());
    for (std::uint8_t i = 0; i < 60; ++i) {
        const auto record = log->read(places[i].position);
        ASSERT_TRUE(record) << record.error().message;
        EXPECT_EQ(record->second, Bytes(i * 7U, i));
    }
    const LogCursor end = log->end();

    ASSERT_TRUE(open());
    EXPECT_EQ(log->end(), end);
    EXPECT_EQ(tail.dropped_bytes, 0U);
    EXPECT_EQ(log->durable(), end.sequence - 1);
    std::uint64_t sequence = 0;
    std::uint64_t link = 0;
    std::size_t votes = 0;
    for (const auto& [head, payload] : records) {
        EXPECT_EQ(head.sequence, ++sequence);
        EXPECT_EQ(head.link, link);
        link = head.checksum;
        votes += head.kind == RecordKind::Vote ? 1 : 0;
        EXPECT_TRUE(head.kind != RecordKind::Carry || payload == Bytes{'c'});
    }
    EXPECT_EQ(votes, 61U);
    EXPECT_EQ(records.size(), 61 + log->active_segment());  // each segment begins with a Carry

    ASSERT_TRUE(open(middle, middle.sequence - 1));
    ASSERT_EQ(records.size(), 1U);
    EXPECT_EQ(records[0].second, Bytes(5, 200));
}

TEST_F(Logs, GiveALargeRecordASegmentOfItsOwn) {
    create();
    ASSERT_TRUE(append(10));
    ASSERT_TRUE(log->prepare_next());  // one of the usual size is ready, and too small
    const auto large = append(100'000, 9);
    ASSERT_TRUE(large);
    EXPECT_EQ(large->position.segment, 2U);
    EXPECT_EQ(segments(), 2U);
    const auto small = append(10, 4);
    ASSERT_TRUE(small);
    EXPECT_EQ(small->position.segment, 3U);
    ASSERT_TRUE(log->sync());
    ASSERT_TRUE(open());
    EXPECT_EQ(log->read(large->position)->second, Bytes(100'000, 9));
    EXPECT_EQ(log->read(small->position)->second, Bytes(10, 4));
    EXPECT_EQ(append(kPayloadBytesMax + 1).error().kind, ErrorKind::Exhausted);
    EXPECT_TRUE(append(1));
}

TEST_F(Logs, FillASegmentToItsLastByte) {
    create();
    const std::uint64_t left = 4096 - log->end().position.offset;
    ASSERT_TRUE(log->fits(left - kRecordHeadBytes));
    ASSERT_FALSE(log->fits(left - kRecordHeadBytes + 1));
    EXPECT_EQ(append(left - kRecordHeadBytes)->position.segment, 1U);
    EXPECT_EQ(append(0)->position.segment, 2U);
    ASSERT_TRUE(log->sync());
    ASSERT_TRUE(open());
    EXPECT_EQ(records.size(), 4U);
    EXPECT_TRUE(log->scan([](const LogRecord&) -> Result<void> { return {}; }));
}

// A disk that was restored from a copy and written on has the same salts. A mirror that was away for a while can bring
// back sectors of what was there instead.
TEST_F(Logs, DoNotTakeARecordOfAnotherHistory) {
    create();
    ASSERT_TRUE(append(100, 1));
    ASSERT_TRUE(log->sync());
    const auto file = temp / "0000000001.log";
    log.reset();
    fs::copy_file(file, temp / "copy");
    const auto go_on = [&](std::uint8_t with) {
        ASSERT_TRUE(open());
        for (std::uint8_t i = 0; i < 3; ++i) {
            ASSERT_TRUE(append(100, static_cast<std::uint8_t>(with + i)));
            ASSERT_TRUE(log->sync());
        }
    };
    ASSERT_NO_FATAL_FAILURE(go_on(20));
    log.reset();
    Bytes other(fs::file_size(file));
    ASSERT_TRUE(detail::File::open(file, detail::File::Mode::Read)->read(0, other));
    fs::rename(temp / "copy", file);
    ASSERT_NO_FATAL_FAILURE(go_on(10));
    const std::uint64_t last = log->end().position.offset - record_bytes(100);
    const std::uint64_t last_but_one = last - record_bytes(100);

    overwrite(1, last, ByteView{other}.subspan(last, record_bytes(100)));
    const auto refused = open(std::nullopt, 5);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Corrupt);
    EXPECT_NE(refused.error().message.find("does not follow"), std::string::npos) << refused.error().message;
    overwrite(1, last_but_one, ByteView{other}.subspan(last_but_one, record_bytes(100)));
    ASSERT_FALSE(open());  // the last one says that the one before was durable

    overwrite(1, last, Bytes(record_bytes(100)));
    ASSERT_TRUE(open());  // nobody says so
    ASSERT_EQ(records.size(), 3U);
    EXPECT_EQ(records.back().second, Bytes(100, 10));
    EXPECT_GT(tail.dropped_bytes, 100U);
}

TEST_F(Logs, DropATornEndAndWhatStandsBehindIt) {
    create();
    ASSERT_TRUE(append(100, 1));
    ASSERT_TRUE(log->sync());
    const auto torn = append(600, 2).value();
    ASSERT_TRUE(append(100, 3));  // whole, but was never durable, nor was the one before
    const std::uint64_t end = log->end().position.offset;
    log.reset();
    overwrite(1, torn.position.offset + 512, Bytes(64));
    ASSERT_TRUE(open());
    EXPECT_EQ(records.size(), 2U);
    EXPECT_EQ(tail.dropped_offset, torn.position.offset);
    EXPECT_GT(tail.dropped_bytes, 600U);
    EXPECT_LE(tail.dropped_bytes, end - torn.position.offset);
    EXPECT_EQ(tail.dropped_file, temp / "0000000001.log");
    EXPECT_EQ(append(50, 4)->position, torn.position);
    ASSERT_TRUE(log->sync());
    ASSERT_TRUE(open());
    EXPECT_EQ(tail.dropped_bytes, 0U);
    EXPECT_EQ(records.back().second, Bytes(50, 4));
}

TEST_F(Logs, RefuseAnEndThatWasDurable) {
    create();
    const auto first = append(100, 1).value();
    ASSERT_TRUE(log->sync());
    ASSERT_TRUE(append(100, 2));  // says that the first one was durable
    log.reset();
    overwrite(1, first.position.offset + 60, Bytes(8));
    const auto refused = open();
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::Corrupt);
    EXPECT_NE(refused.error().message.find(fmt::format("offset {}", first.position.offset)), std::string::npos);
    overwrite(1, first.position.offset + 48, Bytes(256));  // the witness goes, too
    EXPECT_TRUE(open());
    overwrite(1, first.position.offset, Bytes(256));
    const auto known = open({}, first.sequence);  // but the index knows
    ASSERT_FALSE(known);
    EXPECT_EQ(known.error().kind, ErrorKind::Corrupt);
}

TEST_F(Logs, DoNotBelieveWhatATransactionPretends) {
    create();
    // A record that says everything was durable, as a stranger would write it into a transaction.
    RecordHead head{.kind = RecordKind::Vote, .sequence = 1'000, .durable = 999};
    const auto forged = encode_head(head, {});
    Writer payload;
    for (int i = 0; i < 64; ++i) payload.raw(forged);
    const ByteView view = payload.view();
    const auto appended = log->append(RecordKind::Append, std::span{&view, 1}).value();
    log.reset();
    overwrite(1, appended.position.offset, Bytes(48));  // its first sector did not reach the disk
    const auto opened = open();
    EXPECT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(records.size(), 1U);
    EXPECT_GT(tail.dropped_bytes, 0U);
}

TEST_F(Logs, ForgetTheirFirstSegments) {
    create();
    const auto early = append(100).value();
    while (log->active_segment() < 4) ASSERT_TRUE(append(500));
    EXPECT_EQ(log->drop_first_segment().value(), 4096U);
    EXPECT_EQ(log->read(early.position).error().kind, ErrorKind::NotFound);
    EXPECT_EQ(log->first_segment(), 2U);
    ASSERT_TRUE(log->sync());
    ASSERT_TRUE(open());
    EXPECT_EQ(records.front().first.kind, RecordKind::Carry);
    EXPECT_EQ(log->first_segment(), 2U);
    log.reset();
    fs::remove(temp / "0000000003.log");
    const auto gap = open();
    ASSERT_FALSE(gap);
    EXPECT_EQ(gap.error().kind, ErrorKind::Corrupt);
    EXPECT_NE(gap.error().message.find("0000000003.log"), std::string::npos);
}

// ---- several threads -----------------------------------------------------------------------------------------------

TEST_F(Logs, AreAppendedToSyncedPreparedAndReadAtTheSameTime) {
    create();
    constexpr std::uint64_t kRecords = 1'500;
    std::atomic<bool> done = false;
    std::atomic<std::uint64_t> newest = 0;  // position of the newest record, packed
    std::thread syncer{[&] {
        std::uint64_t before = 0;
        while (!done) {
            const auto synced = log->sync();
            ASSERT_TRUE(synced) << synced.error().message;
            ASSERT_GE(*synced, before);
            ASSERT_GE(log->durable(), *synced);
            before = *synced;
        }
    }};
    std::thread preparer{[&] {
        while (!done) ASSERT_TRUE(log->prepare_next());
    }};
    std::thread reader{[&] {
        while (!done) {
            const std::uint64_t packed = newest.load(std::memory_order_acquire);
            if (packed == 0) continue;
            const auto record = log->read(
                {.segment = static_cast<std::uint32_t>(packed >> 32), .offset = static_cast<std::uint32_t>(packed)});
            ASSERT_TRUE(record) << record.error().message;
            ASSERT_FALSE(record->second.empty());
            ASSERT_TRUE(log->scan_segment(static_cast<std::uint32_t>(packed >> 32),
                                          [](const LogRecord&) -> Result<void> { return {}; }));
            (void)log->bytes();
        }
    }};
    for (std::uint64_t i = 0; i < kRecords; ++i) {
        const auto appended = append(1 + i % 700 + (i % 200 == 0 ? 9'000 : 0), static_cast<std::uint8_t>(i));
        ASSERT_TRUE(appended) << appended.error().message;
        newest.store(std::uint64_t{appended->position.segment} << 32 | appended->position.offset,
                     std::memory_order_release);
        if (i % 10 == 0) {
            const auto synced = log->sync();
            ASSERT_TRUE(synced);
            ASSERT_GE(*synced, appended->sequence);
        }
    }
    ASSERT_TRUE(log->sync());
    done = true;
    syncer.join();
    preparer.join();
    reader.join();
    const LogCursor end = log->end();
    ASSERT_TRUE(open());
    EXPECT_EQ(log->end(), end);
    EXPECT_EQ(tail.dropped_bytes, 0U);
    std::uint64_t votes = 0;
    for (const auto& [head, payload] : records) {
        if (head.kind != RecordKind::Vote) continue;
        EXPECT_EQ(payload.front(), static_cast<std::uint8_t>(votes));
        ++votes;
    }
    EXPECT_EQ(votes, kRecords);
}

}  // namespace
}  // namespace rhizome::store
