// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <gtest/gtest.h>

#include "cli/testing.h"

namespace rhizome::cli {
namespace {

using namespace std::chrono_literals;

struct Clocked : testing::Harness {
    runtime::Instant time{};
    Clocked() {
        console.err_is_terminal = true;
        console.instant_now = [this] { return time; };
    }
};

TEST(Progress, DrawsABarAndCleansUp) {
    Clocked clocked;
    {
        Progress progress{clocked.console, "reading", 200};
        progress.advance(10);
        EXPECT_EQ(clocked.err.str(), "") << "quick work needs no bar";
        clocked.time += 500ms;
        progress.advance(90);
        EXPECT_EQ(clocked.err.str(), "\rreading [############............]  50%\x1b[K");
        progress.advance(100);
        EXPECT_EQ(clocked.err.str(), "\rreading [############............]  50%\x1b[K") << "not ten times a second";
        clocked.time += 100ms;
        clocked.err.str({});
        progress.advance(1'000);
        EXPECT_EQ(clocked.err.str(), "\rreading [########################] 100%\x1b[K") << "more than all is all";
        clocked.err.str({});
    }
    EXPECT_EQ(clocked.err.str(), "\r\x1b[K");
}

TEST(Progress, LargeTotalsDoNotOverflow) {
    Clocked clocked;
    Progress progress{clocked.console, "x", ~0ull};
    clocked.time += 1s;
    progress.advance(~0ull / 2);
    EXPECT_EQ(clocked.err.str(), "\rx [###########.............]  49%\x1b[K");
}

TEST(Progress, SaysHowLongTheRestTakesAndWhatToNote) {
    Clocked clocked;
    Progress progress{clocked.console, "x", 1'000};
    clocked.time += 10s;
    progress.note("2 failed");
    progress.advance(250);
    EXPECT_EQ(clocked.err.str(), "\rx [######..................]  25% 30s left, 2 failed\x1b[K");
    Progress large{clocked.console, "y", ~0ull};
    clocked.time += 1'000s;
    clocked.err.str({});
    large.advance(~0ull / 4);
    EXPECT_EQ(clocked.err.str(), "\ry [#####...................]  24% 50m left\x1b[K");
}

TEST(Progress, SpinsWhenTheTotalIsUnknown) {
    Clocked clocked;
    Progress progress{clocked.console, "waiting"};
    for (const auto* expected : {"\rwaiting | 1\x1b[K", "\rwaiting / 2\x1b[K", "\rwaiting - 3\x1b[K"}) {
        clocked.time += 500ms;
        clocked.err.str({});
        progress.advance();
        EXPECT_EQ(clocked.err.str(), expected);
    }
}

TEST(Progress, IsSilentWithoutATerminal) {
    Clocked clocked;
    clocked.console.err_is_terminal = false;
    {
        Progress progress{clocked.console, "x", 10};
        clocked.time += 10s;
        progress.advance(5);
    }
    EXPECT_EQ(clocked.err.str(), "");
}

}  // namespace
}  // namespace rhizome::cli
