// SPDX-License-Identifier: Apache-2.0
#include "base/codec.h"

#include <gtest/gtest.h>

namespace rhizome {
namespace {

Reader reader(const Bytes& bytes) { return Reader{bytes}; }

TEST(Codec, IntegersAreLittleEndian) {
    Writer out;
    out.u8(1).u16(0x0302).u32(0x07060504).u64(0x0f0e0d0c0b0a0908);
    EXPECT_EQ(to_hex(out.view()), "0102030405060708090a0b0c0d0e0f");
    Reader in{out.view()};
    EXPECT_EQ(*in.u8(), 1);
    EXPECT_EQ(*in.u16(), 0x0302);
    EXPECT_EQ(*in.u32(), 0x07060504u);
    EXPECT_EQ(in.position(), 7u);
    EXPECT_EQ(*in.u64(), 0x0f0e0d0c0b0a0908u);
    EXPECT_TRUE(in.finish());
}

TEST(Codec, TruncatedInputIsNamed) {
    const Bytes three{1, 2, 3};
    EXPECT_EQ(reader(three).u32().error(), DecodeFault::Truncated);
    EXPECT_EQ(reader(three).raw(4).error(), DecodeFault::Truncated);
    EXPECT_EQ(reader({4, 0, 0, 0, 1, 2, 3}).blob(100).error(), DecodeFault::Truncated);
    EXPECT_EQ(reader({}).varint().error(), DecodeFault::Truncated);
    EXPECT_EQ(reader({0x80}).varint().error(), DecodeFault::Truncated);
}

TEST(Codec, LengthsHaveBounds) {
    EXPECT_EQ(reader({5, 0, 0, 0, 1, 2, 3, 4, 5}).blob(4).error(), DecodeFault::TooLong);
    EXPECT_EQ(reader({0xff, 0xff, 0xff, 0xff}).blob(SIZE_MAX).error(), DecodeFault::Truncated);
    EXPECT_EQ(reader({1, 2, 3, 4}).bounded_count(5, 4, 1).error(), DecodeFault::TooLong);
    EXPECT_EQ(reader({1, 2, 3, 4}).bounded_count(3, 100, 2).error(), DecodeFault::Truncated);
    EXPECT_EQ(*reader({1, 2, 3, 4}).bounded_count(2, 100, 2), 2u);
}

TEST(Codec, OnlyOneEncodingIsAccepted) {
    EXPECT_EQ(*reader({0x80, 0x01}).varint(), 128u);
    EXPECT_EQ(reader({0x80, 0x00}).varint().error(), DecodeFault::NotCanonical);
    EXPECT_EQ(reader({2}).boolean().error(), DecodeFault::NotCanonical);
    const Bytes most{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01};
    EXPECT_EQ(*reader(most).varint(), UINT64_MAX);
    const Bytes too_long{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    EXPECT_EQ(reader(too_long).varint().error(), DecodeFault::TooLong);
}

TEST(Codec, TrailingBytesAreRefused) {
    const Bytes two{1, 2};
    Reader in{two};
    (void)in.u8();
    EXPECT_EQ(in.finish().error(), DecodeFault::Trailing);
}

TEST(Codec, EveryFaultHasANameAndASentence) {
    for (const auto fault : {DecodeFault::Truncated, DecodeFault::TooLong, DecodeFault::NotCanonical,
                             DecodeFault::Trailing, DecodeFault::BadValue}) {
        EXPECT_FALSE(name(fault).empty());
        EXPECT_EQ(to_error(fault).kind, ErrorKind::Invalid);
    }
}

}  // namespace
}  // namespace rhizome
