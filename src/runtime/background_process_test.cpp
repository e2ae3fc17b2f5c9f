// SPDX-License-Identifier: Apache-2.0
#include "runtime/background_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "runtime/files.h"
#include "support/temp_folder.h"

namespace rhizome::runtime {
namespace {

TEST(BackgroundProcess, BeginsWhenItIsToldToAndEndsBySignal) {
    const test::TempFolder temp;
    auto held = hold_process(
        {.program = "/bin/sh", .arguments = {"-c", "echo here; exec tail -f /dev/null"}, .output = temp / "said"});
    ASSERT_TRUE(held) << held.error().message;
    const ProcessId id = held->id();
    EXPECT_TRUE(is_running(id));
    EXPECT_EQ(find_process(id.pid), id);
    ASSERT_TRUE(held->begin());
    EXPECT_TRUE(is_running(id));
    EXPECT_FALSE(wait_for_end(id, milliseconds{1}));
    ASSERT_TRUE(send_signal(id, SIGKILL));
    EXPECT_TRUE(wait_for_end(id, seconds{180}));
    EXPECT_FALSE(is_running(id));
    EXPECT_EQ(send_signal(id, SIGKILL).error().kind, ErrorKind::NotFound);
}

TEST(BackgroundProcess, OneThatNobodyBeganEndsWithItsStarter) {
    ProcessId id;
    {
        auto held = hold_process({.program = "/usr/bin/tail", .arguments = {"-f", "/dev/null"}});
        ASSERT_TRUE(held);
        id = held->id();
    }
    EXPECT_TRUE(wait_for_end(id, seconds{180}));
}

TEST(BackgroundProcess, OneMayEndWithTheThreadThatStartedIt) {
    std::optional<ProcessId> id;
    std::thread{[&] {
        auto held =
            hold_process({.program = "/usr/bin/tail", .arguments = {"-f", "/dev/null"}, .ends_with_starter = true});
        ASSERT_TRUE(held && held->begin());
        EXPECT_TRUE(is_running(held->id()));
        id = held->id();
    }}.join();
    ASSERT_TRUE(id);
    EXPECT_TRUE(wait_for_end(*id, seconds{180}));
}

TEST(BackgroundProcess, AProgramThatIsNotThereIsAnError) {
    auto held = hold_process({.program = "/nowhere/program", .arguments = {}});
    ASSERT_TRUE(held);
    const auto begun = held->begin();
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().message, "cannot run /nowhere/program: No such file or directory");
    EXPECT_FALSE(is_running(held->id()));
}

TEST(BackgroundProcess, AStrangerWithTheSameNumberIsNotTouched) {
    auto held = hold_process({.program = "/usr/bin/tail", .arguments = {"-f", "/dev/null"}});
    ASSERT_TRUE(held && held->begin());
    const ProcessId other{.pid = held->id().pid, .started = held->id().started + 1};
    EXPECT_FALSE(is_running(other));
    EXPECT_FALSE(send_signal(other, SIGKILL));
    EXPECT_TRUE(is_running(held->id()));
    EXPECT_FALSE(is_running(ProcessId{}));
    ASSERT_TRUE(send_signal(held->id(), SIGKILL));
    EXPECT_TRUE(wait_for_end(held->id(), seconds{180}));
}

}  // namespace
}  // namespace rhizome::runtime
