// SPDX-License-Identifier: Apache-2.0
#include "node/kube/revision_floor.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace rhizome::node {
namespace {

TEST(RevisionFloor, NumbersGoUpWhateverTheClockSays) {
    const test::TempFolder temp;
    std::filesystem::create_directory(temp.path() / "node");
    const Time now = Time::from_unix_seconds(1'790'000'000);
    const auto begin = [&](Time clock) { return begin_revisions(temp.path(), api::first_revision(clock, 7)).value(); };
    const api::Revision first = begin(now);
    EXPECT_EQ(first, api::first_revision(now, 7)) << "nothing was here before";
    const api::Revision set_back = begin(now - hours{24});
    EXPECT_GT(set_back, first + 1'000'000'000u);
    const api::Revision again = begin(now - hours{24});
    EXPECT_GT(again, set_back + 1'000'000'000u) << "started twice in one moment";
    EXPECT_EQ(begin(now + hours{1}), api::first_revision(now + hours{1}, 7)) << "a clock that is right leads";
}

TEST(RevisionFloor, WhatCannotBeReadCountsForNothing) {
    const test::TempFolder temp;
    std::filesystem::create_directory(temp.path() / "node");
    for (const char* text : {"", "x", "-5", "9223372036854775807", "18446744073709551615",
                             "1111111111111111111111111111111111111111111111111111111111111111111111"}) {
        std::ofstream{temp.path() / "node" / "revisions"} << text;
        EXPECT_EQ(begin_revisions(temp.path(), 1'000).value(), 1'000u) << text;
    }
    EXPECT_FALSE(begin_revisions(temp.path() / "none", 1'000)) << "a promise that is nowhere written is none";
}

}  // namespace
}  // namespace rhizome::node
