// SPDX-License-Identifier: Apache-2.0
#include "runtime/os_error.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace rhizome::runtime {
namespace {

TEST(OsError, NumbersBecomeKinds) {
    const std::pair<int, ErrorKind> rows[] = {
        {ENOENT, ErrorKind::NotFound},       {EACCES, ErrorKind::Denied},
        {EPERM, ErrorKind::Denied},          {EEXIST, ErrorKind::Conflict},
        {ENOSPC, ErrorKind::Exhausted},      {EMFILE, ErrorKind::Exhausted},
        {ETIMEDOUT, ErrorKind::Unavailable}, {EISDIR, ErrorKind::Invalid},
        {ENOSYS, ErrorKind::Unsupported},    {EIO, ErrorKind::Failed},
    };
    for (const auto& [number, kind] : rows) EXPECT_EQ(kind_of_errno(number), kind) << number;
}

TEST(OsError, SaysWhatWasTriedAndWhy) {
    EXPECT_EQ(os_error("read /x", ENOENT), (Error{ErrorKind::NotFound, "cannot read /x: No such file or directory"}));
}

}  // namespace
}  // namespace rhizome::runtime
