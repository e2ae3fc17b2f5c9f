// SPDX-License-Identifier: Apache-2.0
#include "runtime/interrupt.h"

#include <unistd.h>

#include <csignal>

#include <gtest/gtest.h>

namespace rhizome::runtime {
namespace {

void* handler_of(int signal) {
    struct sigaction now {};
    EXPECT_EQ(sigaction(signal, nullptr, &now), 0);
    return reinterpret_cast<void*>(now.sa_handler);
}

TEST(Interrupt, IsAskedOnceAndLeavesEverythingAsItWas) {
    for (const int signal : {SIGINT, SIGTERM}) {
        void* const before = handler_of(signal);
        {
            Interrupt interrupt;
            EXPECT_FALSE(interrupt.asked());
            EXPECT_NE(handler_of(signal), before);
            std::raise(signal);
            EXPECT_TRUE(interrupt.asked());
            EXPECT_EQ(handler_of(signal), reinterpret_cast<void*>(SIG_DFL)) << "a second one takes its usual effect";
        }
        EXPECT_EQ(handler_of(signal), before);
        Interrupt again;
        EXPECT_FALSE(again.asked()) << "what was asked of another is over";
    }
}

TEST(InterruptDeathTest, ASecondSignalEndsTheProcessWhicheverItIs) {
    for (const int first : {SIGINT, SIGTERM})
        for (const int second : {SIGINT, SIGTERM})
            EXPECT_EXIT(
                {
                    const Interrupt interrupt;
                    std::raise(first);
                    if (!interrupt.asked()) _exit(1);
                    std::raise(second);
                    _exit(2);
                },
                ::testing::KilledBySignal(second), "");
}

}  // namespace
}  // namespace rhizome::runtime
