// SPDX-License-Identifier: Apache-2.0
#include "net/dbus_message.h"

#include <gtest/gtest.h>

namespace rhizome::net {
namespace {

DbusMessage sample() {
    DbusMessage message{.serial = 7,
                        .path = "/",
                        .interface = "org.freedesktop.Avahi.Server",
                        .member = "ResolveService",
                        .destination = "org.freedesktop.Avahi",
                        .signature = "iisu"};
    message.body = DbusWriter{}.i32(-1).i32(2).text("n1").u32(5).bytes();
    return message;
}

TEST(DbusMessages, AreReadBackAsTheyWereWritten) {
    for (const DbusKind kind : {DbusKind::Call, DbusKind::Return, DbusKind::Error, DbusKind::Signal}) {
        DbusMessage message = sample();
        message.kind = kind;
        message.reply_to = kind == DbusKind::Return ? 3 : 0;
        message.error = kind == DbusKind::Error ? "org.freedesktop.DBus.Error.Failed" : "";
        const Bytes bytes = encode(message);
        EXPECT_EQ(dbus_size(bytes).value(), bytes.size());
        const auto read = decode_dbus(bytes);
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(*read, message);
    }
}

/// The bytes of the specification's own layout, by hand: a call of Hello.
TEST(DbusMessages, HaveTheLayoutOfTheSpecification) {
    DbusMessage hello{.serial = 1, .path = "/a", .member = "Hi"};
    const Bytes expected{
        'l', 1, 2,   1, 0, 0, 0, 0, 1,   0,   0, 0, 27, 0, 0, 0,  // call, no auto start, no body, serial
        1,   1, 'o', 0, 2, 0, 0, 0, '/', 'a', 0, 0, 0,  0, 0, 0,  // path, filled up to eight
        3,   1, 's', 0, 2, 0, 0, 0, 'H', 'i', 0, 0, 0,  0, 0, 0};
    EXPECT_EQ(encode(hello), expected);
}

TEST(DbusMessages, CutShortOrWithOtherLengthsAreRefused) {
    const Bytes bytes = encode(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_FALSE(decode_dbus(ByteView{bytes}.first(size))) << size;
    for (const std::size_t place : {0u, 1u, 3u, 4u, 12u}) {
        Bytes changed = bytes;
        changed[place] = 0xff;
        EXPECT_FALSE(decode_dbus(changed)) << place;
    }
    Bytes unnumbered = bytes;
    unnumbered[8] = 0;
    EXPECT_FALSE(decode_dbus(unnumbered)) << "no serial number";
}

TEST(DbusMessages, ListsOfTextsAreBounded) {
    const std::vector<std::string> texts{"chain=00", "", "key=02"};
    const Bytes bytes = DbusWriter{}.byte(1).byte_arrays(texts).u16(9).bytes();
    DbusReader in{bytes};
    EXPECT_EQ(in.byte().value(), 1);
    EXPECT_EQ(in.byte_arrays(3).value(), texts);
    EXPECT_EQ(in.u16().value(), 9);
    EXPECT_TRUE(in.empty());
    DbusReader again{bytes};
    EXPECT_TRUE(again.byte());
    EXPECT_FALSE(again.byte_arrays(2)) << "more than are wanted";
}

}  // namespace
}  // namespace rhizome::net
