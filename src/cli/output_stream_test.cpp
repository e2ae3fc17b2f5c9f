// SPDX-License-Identifier: Apache-2.0
#include "cli/output_stream.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "runtime/descriptor.h"
#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::cli {
namespace {

using runtime::Descriptor;

TEST(OutputStream, WritesEverything) {
    test::TempFolder folder;
    const Descriptor file{::open((folder / "out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    const std::string large(100'000, 'x');
    {
        OutputStream out{file.get()};
        out << "a" << large << '\n' << large;
        EXPECT_EQ(out.problem(), 0);
    }
    EXPECT_EQ(runtime::read_file(folder / "out", 1u << 20).value(), "a" + large + "\n" + large);
}

TEST(OutputStream, RemembersWhyWritingFailed) {
    const Descriptor full{::open("/dev/full", O_WRONLY | O_CLOEXEC)};
    if (full) {
        OutputStream out{full.get()};
        out << "x" << std::flush;
        EXPECT_EQ(out.problem(), ENOSPC);
        EXPECT_FALSE(out);
    }
    const auto before = std::signal(SIGPIPE, SIG_IGN);
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ::close(ends[0]);
    const Descriptor broken{ends[1]};
    OutputStream out{broken.get()};
    out << std::string(100'000, 'x') << std::flush;
    EXPECT_EQ(out.problem(), EPIPE);
    std::signal(SIGPIPE, before);
}

}  // namespace
}  // namespace rhizome::cli
