// SPDX-License-Identifier: Apache-2.0
#include "cli/input_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <iterator>
#include <string>

#include "runtime/descriptor.h"

namespace rhizome::cli {
namespace {

TEST(InputStream, GivesAllBytesAndEndsWell) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    const runtime::Descriptor reader{ends[0]};
    runtime::Descriptor writer{ends[1]};
    const std::string sent = std::string(40'000, 'x') + std::string{"\0\xff\n", 3};  // more than the buffer holds
    ASSERT_EQ(::write(writer.get(), sent.data(), sent.size()), static_cast<ssize_t>(sent.size()));
    writer.close();
    InputStream in{reader.get()};
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>{in}, {}), sent);
    EXPECT_FALSE(in.bad());
}

TEST(InputStream, AFailedReadIsNotTheEnd) {
    const runtime::Descriptor folder{::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    ASSERT_TRUE(folder);
    InputStream in{folder.get()};
    std::array<char, 8> bytes{};
    in.read(bytes.data(), bytes.size());
    EXPECT_TRUE(in.bad());
    EXPECT_EQ(in.gcount(), 0);
}

}  // namespace
}  // namespace rhizome::cli
