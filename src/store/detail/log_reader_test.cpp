// SPDX-License-Identifier: Apache-2.0
// What lies behind a log's last good record: found wherever it stands among zeros, and nothing else is.
#include "store/detail/log_reader.h"

#include <array>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/crash_disk.h"
#include "support/temp_folder.h"

namespace rhizome::store::detail {
namespace {

constexpr std::uint64_t kSegment = (2u << 20) + 4'096;
constexpr std::uint64_t kFrom = kSegmentHeadBytes;

/// The room in front of what was written: never written to, or written with zeros.
enum class Room : std::uint8_t { Hole, Zeros };

class LogReaders : public testing::TestWithParam<Room> {
protected:
    void SetUp() override { begin(); }
    /// A segment with nothing in it.
    void begin() {
        auto opened = File::open(folder_ / fmt::format("segment-{}", segments_++), File::Mode::Create);
        ASSERT_TRUE(opened);
        file_ = *std::move(opened);
        ASSERT_TRUE(file_->allocate(0, kSegment));
        if (GetParam() == Room::Hole) return;
        const Bytes zeros(kSegment);
        ASSERT_TRUE(file_->write(0, std::array<ByteView, 1>{zeros}));
    }
    /// Where it ends, without what fills it up.
    std::uint64_t put(std::uint64_t offset, std::uint64_t sequence) {
        const Bytes payload(21, 0x7a);
        const std::array<ByteView, 1> content{payload};
        RecordHead head{.length = static_cast<std::uint32_t>(payload.size()), .sequence = sequence};
        const auto front = encode_head(head, content);
        const std::array<ByteView, 2> parts{ByteView{front}, ByteView{payload}};
        EXPECT_TRUE(file_->write(offset, parts));
        return offset + front.size() + payload.size();
    }

    test::TempFolder folder_{test::fast_place()};
    std::optional<File> file_{};
    int segments_ = 0;
};

TEST_P(LogReaders, FindARecordWhereverItStands) {
    const std::uint64_t last = kSegment - record_bytes(21);
    std::vector<std::uint64_t> places{kFrom + kRecordAlignment, 4'096, last, last - kRecordAlignment};
    for (const std::uint64_t edge : {64u << 10, 128u << 10, 1u << 20, 2u << 20})  // where it reads and looks ahead anew
        for (const int steps : {-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6})
            places.push_back(edge + static_cast<std::uint64_t>(steps * static_cast<int>(kRecordAlignment)));
    for (const std::uint64_t place : places) {
        SCOPED_TRACE(fmt::format("at {}", place));
        ASSERT_NO_FATAL_FAILURE(begin());
        const std::uint64_t end = put(place, 7);
        LogReader reader{*file_, kSegment, kFrom};
        ASSERT_EQ(reader.end_of_content().value(), end);
        const auto found = reader.find_later();
        ASSERT_TRUE(found);
        ASSERT_TRUE(*found);
        ASSERT_EQ((*found)->offset, place);
        ASSERT_EQ((*found)->head.sequence, 7U);
        ASSERT_FALSE(reader.find_later().value());
    }
}

TEST_P(LogReaders, FindAllThatStandFarFromEachOther) {
    const std::vector<std::uint64_t> places{1'024, 70'000 / 16 * 16, 1'200'000, kSegment - 96};
    std::uint64_t end = 0;
    for (std::size_t i = 0; i < places.size(); ++i) end = put(places[i], i + 1);
    LogReader reader{*file_, kSegment, kFrom};
    EXPECT_EQ(reader.end_of_content().value(), end);
    for (const std::uint64_t place : places) {
        const auto found = reader.find_later().value();
        ASSERT_TRUE(found);
        EXPECT_EQ(found->offset, place);
    }
    EXPECT_FALSE(reader.find_later().value());
}

TEST_P(LogReaders, FindNothingInAnEmptySegment) {
    LogReader reader{*file_, kSegment, kFrom};
    EXPECT_EQ(reader.end_of_content().value(), kFrom);
    EXPECT_FALSE(reader.find_later().value());
    LogReader at_the_end{*file_, kSegment, kSegment};
    EXPECT_EQ(at_the_end.end_of_content().value(), kSegment);
    EXPECT_FALSE(at_the_end.find_later().value());
}

TEST_P(LogReaders, SeeASingleByteAtTheVeryEnd) {
    const Bytes one(1, 1);
    const std::array<ByteView, 1> parts{one};
    for (const std::uint64_t at : {kSegment - 1, kSegment - 64, kSegment - 65, kFrom, kFrom + 1}) {
        ASSERT_NO_FATAL_FAILURE(begin());
        ASSERT_TRUE(file_->write(at, parts));
        LogReader reader{*file_, kSegment, kFrom};
        EXPECT_EQ(reader.end_of_content().value(), at + 1) << at;
        EXPECT_FALSE(reader.find_later().value());
    }
}

INSTANTIATE_TEST_SUITE_P(InHolesAndZeros, LogReaders, testing::Values(Room::Hole, Room::Zeros),
                         [](const auto& room) { return room.param == Room::Hole ? "Hole" : "Zeros"; });

}  // namespace
}  // namespace rhizome::store::detail
