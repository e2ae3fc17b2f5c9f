// SPDX-License-Identifier: Apache-2.0
#include "p2p/address.h"

#include <gtest/gtest.h>

namespace rhizome::p2p {
namespace {

Address at(std::string_view text) { return Address::parse(text).value(); }

TEST(Address, IsReadAndPrintedInOneForm) {
    const struct {
        const char* text;
        const char* printed;
    } rows[] = {
        {"10.0.0.7:7700", "10.0.0.7:7700"},
        {"255.255.255.255:1", "255.255.255.255:1"},
        {"[fe80::1]:7700", "[fe80::1]:7700"},
        {"[::]:1", "[::]:1"},
        {"[::1]:65535", "[::1]:65535"},
        {"[2001:DB8:0:0:1:0:0:1]:80", "[2001:db8::1:0:0:1]:80"},
        {"[1:2:3:4:5:6:7:8]:80", "[1:2:3:4:5:6:7:8]:80"},
        {"[1:0:3:4:5:6:7:8]:80", "[1:0:3:4:5:6:7:8]:80"},
        {"[1::]:80", "[1::]:80"},
        {"[::ffff:10.0.0.7]:7700", "10.0.0.7:7700"},
        {"[::ffff:a00:7]:7700", "10.0.0.7:7700"},
    };
    for (const auto& row : rows) {
        const auto address = Address::parse(row.text);
        ASSERT_TRUE(address) << row.text;
        EXPECT_EQ(to_text(*address), row.printed);
        EXPECT_EQ(at(to_text(*address)), *address);
    }
}

TEST(Address, OtherTextsAreNone) {
    for (const char* text : {"",
                             ":",
                             "10.0.0.7",
                             "10.0.0.7:",
                             "10.0.0.7:0",
                             "10.0.0.7:65536",
                             "10.0.0.7:+1",
                             "10.0.0.7:07",
                             "10.0.0:1",
                             "10.0.0.256:1",
                             "10.0.0.07:1",
                             "10.0.0.7.1:1",
                             "host:1",
                             "[]:1",
                             "[:]:1",
                             "[:::]:1",
                             "[1::2::3]:1",
                             "[1]:1",
                             "[1:2:3:4:5:6:7]:1",
                             "[1:2:3:4:5:6:7:8:9]:1",
                             "[1:2:3:4:5:6:7::8]:1",
                             "[12345::]:1",
                             "[g::]:1",
                             "[fe80::1%0]:1",
                             "fe80::1:7700",
                             "[::1.2.3]:1",
                             "[1.2.3.4::]:1",
                             "[10.0.0.7]:1",
                             "[::1:1",
                             " 10.0.0.7:1"})
        EXPECT_FALSE(Address::parse(text)) << text;
}

TEST(Address, KnowsWhatCanListen) {
    for (const char* text : {"10.0.0.7:1", "127.0.0.1:1", "8.8.8.8:1", "[fe80::1]:1", "[::1]:1", "[2001:db8::]:1"})
        EXPECT_TRUE(at(text).is_routable()) << text;
    for (const char* text :
         {"0.0.0.0:1", "0.1.2.3:1", "224.0.0.1:1", "255.255.255.255:1", "240.0.0.1:1", "[::]:1", "[ff02::1]:1"})
        EXPECT_FALSE(at(text).is_routable()) << text;
    EXPECT_FALSE(Address::v4(10, 0, 0, 7, 0).is_routable());
}

TEST(Address, KnowsHowFarItReaches) {
    for (const char* text : {"127.0.0.1:1", "127.9.0.1:1", "[::1]:1"}) EXPECT_EQ(at(text).scope(), Scope::Host) << text;
    for (const char* text : {"10.0.0.7:1", "172.16.0.1:1", "172.31.0.1:1", "192.168.7.7:1", "169.254.0.1:1",
                             "100.64.0.1:1", "[fe80::1]:1", "[fd00::1]:1"})
        EXPECT_EQ(at(text).scope(), Scope::Lan) << text;
    for (const char* text : {"8.8.8.8:1", "172.32.0.1:1", "192.169.0.1:1", "100.128.0.1:1", "[2001:db8::1]:1"})
        EXPECT_EQ(at(text).scope(), Scope::World) << text;
}

TEST(Address, GroupsWhatOnePersonHolds) {
    const struct {
        const char* left;
        const char* right;
        bool same;
    } rows[] = {
        {"8.8.8.8:1", "8.8.4.4:2", true},
        {"8.8.8.8:1", "8.9.8.8:1", false},
        {"[2001:db8::1]:1", "[2001:db8:ffff::2]:2", true},
        {"[2001:db8::1]:1", "[2001:db9::1]:1", false},
        {"10.0.0.1:1", "10.0.0.1:2", true},
        {"10.0.0.1:1", "10.0.0.2:1", false},
        {"127.0.0.1:1", "127.0.0.1:2", false},
    };
    for (const auto& row : rows)
        EXPECT_EQ(at(row.left).group() == at(row.right).group(), row.same) << row.left << ' ' << row.right;
}

}  // namespace
}  // namespace rhizome::p2p
