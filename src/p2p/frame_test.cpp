// SPDX-License-Identifier: Apache-2.0
#include "p2p/frame.h"

#include <vector>

#include <gtest/gtest.h>

#include "base/random.h"

namespace rhizome::p2p {
namespace {

/// Type 1 is small, type 2 large, there are no others.
std::size_t limit_of(std::uint8_t type) { return type == 1 ? 8 : type == 2 ? 1u << 20 : 0; }

Bytes payload(std::uint8_t type, std::size_t size) {
    Bytes bytes(size, static_cast<std::uint8_t>(size));
    bytes[0] = type;
    return bytes;
}

TEST(Frame, HasItsLengthInFront) { EXPECT_EQ(frame_of(payload(1, 2)), (Bytes{2, 0, 0, 0, 1, 2})); }

TEST(Frame, PayloadsComeOutWholeHoweverTheBytesCome) {
    const std::vector<Bytes> sent{payload(1, 1), payload(1, 8), payload(2, 100'000), payload(1, 3),
                                  payload(2, 1u << 20)};
    Bytes stream;
    for (const Bytes& one : sent) {
        const Bytes frame = frame_of(one);
        stream.insert(stream.end(), frame.begin(), frame.end());
    }
    for (const std::size_t piece_max : {1u, 7u, 4'096u, 1u << 22}) {
        Random random{piece_max};
        FrameReader reader{limit_of};
        std::vector<Bytes> got;
        for (ByteView rest{stream}; !rest.empty();) {
            ByteView piece = rest.first(std::min<std::size_t>(rest.size(), 1 + random.below(piece_max)));
            rest = rest.subspan(piece.size());
            while (true) {
                auto whole = reader.next(piece);
                ASSERT_TRUE(whole);
                if (!*whole) break;
                got.push_back(std::move(**whole));
            }
            EXPECT_TRUE(piece.empty());
        }
        EXPECT_EQ(got, sent);
        EXPECT_FALSE(reader.in_frame());
        EXPECT_EQ(reader.bytes_held(), 0u);
    }
}

TEST(Frame, IsRefusedByLengthAndTypeBeforeTheRestIsRead) {
    const struct {
        Bytes start;
        FrameFault fault;
    } rows[] = {
        {{0, 0, 0, 0}, FrameFault::Empty},
        {{9, 0, 0, 0, 1}, FrameFault::TooLarge},
        {{1, 0, 0, 0, 3}, FrameFault::UnknownType},
        {{1, 0, 0, 0, 0}, FrameFault::UnknownType},
        {{0xff, 0xff, 0xff, 0xff, 2}, FrameFault::TooLarge},
    };
    for (const auto& row : rows) {
        FrameReader reader{limit_of};
        ByteView input{row.start};
        const auto got = reader.next(input);
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error(), row.fault);
        const Bytes good = frame_of(payload(1, 1));
        ByteView more{good};
        EXPECT_FALSE(reader.next(more)) << "a fault is for good";
    }
}

TEST(Frame, SlowSendersHoldNoMoreThanTheySent) {
    FrameReader slow{limit_of};
    const Bytes frame = frame_of(payload(2, 1u << 20));
    ByteView start = ByteView{frame}.first(6);
    ASSERT_TRUE(slow.next(start));
    EXPECT_LE(slow.bytes_held(), 4'096u) << "a megabyte was announced";
    EXPECT_TRUE(slow.in_frame());
    ByteView more = ByteView{frame}.subspan(6, 10'000);
    ASSERT_TRUE(slow.next(more));
    EXPECT_LE(slow.bytes_held(), 2 * 10'006u);

    FrameReader other{limit_of};
    const Bytes small = frame_of(payload(1, 4));
    ByteView input{small};
    const auto got = other.next(input);
    EXPECT_TRUE(got && *got) << "another link does not wait for it";
}

}  // namespace
}  // namespace rhizome::p2p
