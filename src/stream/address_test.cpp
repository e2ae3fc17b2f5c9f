// SPDX-License-Identifier: Apache-2.0
#include "stream/address.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace rhizome::stream {
namespace {

TEST(Address, ReadsWhatItWrites) {
    for (const char* text : {"127.0.0.1:80", "[::1]:443", "example.org:6443", "unix:/run/x.sock", "[2001:db8::1]:0"}) {
        const auto address = Address::parse(text);
        ASSERT_TRUE(address) << text;
        EXPECT_EQ(address->text(), text);
    }
}

TEST(Address, RefusesWhatIsNone) {
    for (const char* text : {"", "host", ":80", "host:", "host:65536", "host:-1", "::1:80", "host:8x", "unix:", "[]:1"})
        EXPECT_FALSE(Address::parse(text)) << text;
    EXPECT_FALSE(Address::parse(fmt::format("unix:/{:x<107}", "")));
    EXPECT_FALSE(Address::parse(fmt::format("{:x<254}:1", "")));
}

}  // namespace
}  // namespace rhizome::stream
