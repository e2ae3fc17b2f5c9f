// SPDX-License-Identifier: Apache-2.0
#include "runtime/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace rhizome::runtime {
namespace {

TEST(Clock, AgreesWithTheSystem) {
    const auto before = static_cast<std::int64_t>(std::time(nullptr));
    const auto here = now();
    const auto after = static_cast<std::int64_t>(std::time(nullptr));
    // time() may lag the exact clock by one kernel tick, so a second of slack on the early side.
    EXPECT_GE(here.unix_seconds(), before);
    EXPECT_LE(here.unix_seconds(), after + 1);
}

TEST(Clock, InstantsNeverGoBack) {
    auto last = instant_now();
    for (int i = 0; i < 1000; ++i) {
        const auto next = instant_now();
        EXPECT_GE(next, last);
        last = next;
    }
}

}  // namespace
}  // namespace rhizome::runtime
