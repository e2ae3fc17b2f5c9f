// SPDX-License-Identifier: Apache-2.0
#include "stream/strand.h"

#include <atomic>

#include <gtest/gtest.h>

#include "stream/timers.h"

namespace rhizome::stream {
namespace {

Task<int> add(int left, int right) {
    co_await yield();
    co_return left + right;
}

TEST(Strand, BlockOnGivesTheResultWithAndWithoutThreads) {
    for (const unsigned threads : {0u, 1u, 3u}) {
        IoContext context{{.threads = threads}};
        EXPECT_EQ(block_on(context, add(2, 3)), 5) << threads;
    }
}

Task<void> count(int* counter, std::atomic<int>* inside, bool* overlapped) {
    for (int i = 0; i < 100; ++i) {
        if (inside->fetch_add(1) != 0) *overlapped = true;
        ++*counter;
        inside->fetch_sub(1);
        co_await yield();
    }
}

TEST(Strand, TasksOfOneStrandNeverOverlap) {
    int counter = 0;
    std::atomic<int> inside{0};
    std::atomic<int> ended{0};
    bool overlapped = false;
    {
        IoContext context{{.threads = 4}};
        const Strand strand = context.make_strand();
        std::vector<std::unique_ptr<Event>> events;
        for (int i = 0; i < 8; ++i) spawn(strand, count(&counter, &inside, &overlapped), [&] { ++ended; });
        while (ended < 8) block_on(context, add(1, 1));
    }
    EXPECT_EQ(counter, 800);
    EXPECT_FALSE(overlapped);
}

Task<bool> wait_for(Event* event, Deadline deadline) { co_return co_await event->wait_until(deadline); }
Task<void> note(Event* event, int* woken) {
    co_await event->wait();
    ++*woken;
}

TEST(Event, WakesAllWhoWaitAndThoseWhoComeLater) {
    IoContext context{{.threads = 0}};
    const Strand strand = context.make_strand();
    Event event{strand};
    int woken = 0;
    spawn(strand, note(&event, &woken));
    spawn(strand, note(&event, &woken));
    context.run_ready();
    EXPECT_EQ(woken, 0);
    event.set();
    context.run_ready();
    EXPECT_EQ(woken, 2);
    EXPECT_TRUE(block_on(context, strand, wait_for(&event, kNever)));
    event.reset();
    EXPECT_FALSE(block_on(context, strand, wait_for(&event, after(milliseconds{1}))));
    EXPECT_FALSE(block_on(context, strand, wait_for(&event, Clock::now())));
}

TEST(Timer, FiresOnceAtTheLastDeadlineSet) {
    IoContext context{{.threads = 0}};
    const Strand strand = context.make_strand();
    int fired = 0;
    Event done{strand};
    Timer timer{strand, [&] {
                    ++fired;
                    done.set();
                }};
    const Deadline late = after(milliseconds{20});
    timer.set(after(milliseconds{1}));
    timer.set(late);
    EXPECT_TRUE(block_on(context, strand, wait_for(&done, kNever)));
    EXPECT_GE(Clock::now(), late);
    EXPECT_EQ(fired, 1);
    done.reset();
    timer.set(after(milliseconds{1}));
    timer.cancel();
    EXPECT_FALSE(block_on(context, strand, wait_for(&done, after(milliseconds{5}))));
    EXPECT_EQ(fired, 1);
}

TEST(Timers, AfterNeverOverflows) {
    EXPECT_EQ(after(std::chrono::nanoseconds::max()), kNever);
    EXPECT_FALSE(passed(kNever));
    EXPECT_TRUE(passed(after(seconds{-5})));
}

}  // namespace
}  // namespace rhizome::stream
