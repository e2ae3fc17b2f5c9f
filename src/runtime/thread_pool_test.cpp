// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include <atomic>
#include <csignal>
#include <numeric>
#include <set>
#include <thread>

#include <gtest/gtest.h>

namespace rhizome::runtime {
namespace {

/// How often each item of [0, count) was visited. Plain numbers, not atomics: under the thread sanitizer this also
/// shows that ranges do not overlap and that the caller sees what helpers wrote.
std::vector<unsigned> visits(Parallel& parallel, std::size_t count) {
    std::vector<unsigned> seen(count, 0);
    parallel.for_ranges(count, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++seen.at(i);
    });
    return seen;
}

TEST(ThreadPool, VisitsEveryItemExactlyOnce) {
    for (const unsigned width : {1u, 2u, 3u, 8u}) {
        ThreadPool pool{width};
        for (const std::size_t count : {0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 10007}) {
            EXPECT_EQ(visits(pool, count), std::vector<unsigned>(count, 1)) << width << " wide, " << count << " items";
        }
    }
}

TEST(ThreadPool, HandsOutNoEmptyRange) {
    ThreadPool pool{3};
    std::atomic<unsigned> empty{0};
    for (std::size_t count = 0; count < 100; ++count) {
        pool.for_ranges(count, [&](std::size_t begin, std::size_t end) {
            if (begin >= end) ++empty;
        });
    }
    EXPECT_EQ(empty, 0u);
}

TEST(ThreadPool, WidthStaysInItsBounds) {
    EXPECT_EQ(ThreadPool{0}.width(), 1u);
    EXPECT_EQ(ThreadPool{1}.width(), 1u);
    EXPECT_EQ(ThreadPool{5}.width(), 5u);
    EXPECT_LE(ThreadPool{100'000}.width(), ThreadPool::kWidthMax);
    EXPECT_GE(ThreadPool::host_width(), 1u);
}

TEST(ThreadPool, AWidthOfOneWorksOnTheCallersThreadInOnePiece) {
    ThreadPool pool{1};
    std::vector<std::pair<std::size_t, std::size_t>> pieces;
    std::set<std::thread::id> threads;
    pool.for_ranges(100, [&](std::size_t begin, std::size_t end) {
        pieces.emplace_back(begin, end);
        threads.insert(std::this_thread::get_id());
    });
    EXPECT_EQ(pieces, (std::vector<std::pair<std::size_t, std::size_t>>{{0, 100}}));
    EXPECT_EQ(threads, std::set{std::this_thread::get_id()});
}

// Each piece waits until another has begun: with pieces on one thread only, this would never end.
TEST(ThreadPool, RunsPiecesAtTheSameTime) {
    ThreadPool pool{2};
    std::atomic<unsigned> begun{0};
    pool.for_ranges(2, [&](std::size_t, std::size_t) {
        ++begun;
        while (begun < 2) std::this_thread::yield();
    });
    EXPECT_EQ(begun, 2u);
}

TEST(ThreadPool, APieceMayCallThePoolAgain) {
    ThreadPool pool{4};
    constexpr std::size_t kOuter = 20, kMiddle = 15, kInner = 10;
    std::vector<unsigned> seen(kOuter * kMiddle * kInner, 0);
    pool.for_ranges(kOuter, [&](std::size_t outer, std::size_t outer_end) {
        for (; outer < outer_end; ++outer) {
            pool.for_ranges(kMiddle, [&, outer](std::size_t middle, std::size_t middle_end) {
                for (; middle < middle_end; ++middle) {
                    pool.for_ranges(kInner, [&, middle](std::size_t inner, std::size_t inner_end) {
                        for (; inner < inner_end; ++inner) ++seen.at((outer * kMiddle + middle) * kInner + inner);
                    });
                }
            });
        }
    });
    EXPECT_EQ(seen, std::vector<unsigned>(seen.size(), 1));
}

TEST(ThreadPool, WhatRunsBesidePiecesRunsOnTheCallersThreadAndTheyAllRunOnce) {
    for (const unsigned width : {1u, 2u, 3u, 8u}) {
        ThreadPool pool{width};
        for (const std::size_t count : {0, 1, 2, 3, 64, 1000}) {
            std::vector<unsigned> seen(count, 0);
            unsigned firsts = 0;
            std::thread::id first_on;
            pool.beside(
                [&] {
                    ++firsts;
                    first_on = std::this_thread::get_id();
                },
                count,
                [&](std::size_t begin, std::size_t end) {
                    for (std::size_t i = begin; i < end; ++i) ++seen.at(i);
                });
            EXPECT_EQ(seen, std::vector<unsigned>(count, 1)) << width << " wide, " << count << " items";
            EXPECT_EQ(firsts, 1u);
            EXPECT_EQ(first_on, std::this_thread::get_id());
        }
    }
}

// It waits until a piece has begun: with everything on one thread, this would never end.
TEST(ThreadPool, PiecesBeginWhileTheCallerIsStillBusyBesideThem) {
    ThreadPool pool{2};
    std::atomic<unsigned> begun{0};
    pool.beside(
        [&] {
            while (begun == 0) std::this_thread::yield();
        },
        1, [&](std::size_t, std::size_t) { ++begun; });
    EXPECT_EQ(begun, 1u);
}

TEST(ThreadPool, WhatRunsBesidePiecesMayCallThePoolAgain) {
    for (const unsigned width : {1u, 2u, 4u}) {
        ThreadPool pool{width};
        std::vector<unsigned> inner(500, 0);
        std::vector<unsigned> outer(300, 0);
        pool.beside([&] { inner = visits(pool, inner.size()); }, outer.size(),
                    [&](std::size_t begin, std::size_t end) {
                        for (std::size_t i = begin; i < end; ++i) ++outer.at(i);
                    });
        EXPECT_EQ(inner, std::vector<unsigned>(inner.size(), 1));
        EXPECT_EQ(outer, std::vector<unsigned>(outer.size(), 1));
    }
}

TEST(ThreadPool, SeveralThreadsMayCallAtOnce) {
    ThreadPool pool{3};
    constexpr std::size_t kCallers = 4;
    std::vector<std::size_t> wrong(kCallers, 0);
    std::vector<std::thread> callers;
    for (std::size_t caller = 0; caller < kCallers; ++caller) {
        callers.emplace_back([&, caller] {
            for (std::size_t round = 0; round < 200; ++round) {
                const std::size_t count = 1 + (round * 7 + caller * 13) % 97;
                if (visits(pool, count) != std::vector<unsigned>(count, 1)) ++wrong[caller];
            }
        });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, std::vector<std::size_t>(kCallers, 0));
}

TEST(ThreadPool, ManyShortCallsLeaveNothingBehind) {
    ThreadPool pool{2};
    std::size_t sum = 0;
    for (std::size_t round = 0; round < 5000; ++round) {
        const auto seen = visits(pool, 3);
        sum += std::accumulate(seen.begin(), seen.end(), std::size_t{0});
    }
    EXPECT_EQ(sum, 15000u);
}

TEST(ThreadPool, HelpersTakeNoSignals) {
    ThreadPool pool{2};
    const auto caller = std::this_thread::get_id();
    std::atomic<unsigned> begun{0};
    std::atomic<bool> helper_blocks{false};
    pool.for_ranges(2, [&](std::size_t, std::size_t) {
        ++begun;
        while (begun < 2) std::this_thread::yield();
        if (std::this_thread::get_id() == caller) return;
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        helper_blocks = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1;
    });
    EXPECT_TRUE(helper_blocks);
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    EXPECT_EQ(sigismember(&mine, SIGTERM), 0) << "the caller's own mask is as before";
}

TEST(ThreadPoolDeathTest, APieceThatThrowsEndsTheProcess) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            ThreadPool pool{2};
            pool.for_ranges(8, [](std::size_t, std::size_t) { throw 1; });
        },
        "");
}

TEST(ThreadPoolDeathTest, WhatThrowsBesidePiecesEndsTheProcess) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    EXPECT_DEATH(
        {
            ThreadPool pool{2};
            pool.beside([] { throw 1; }, 8, [](std::size_t, std::size_t) {});
        },
        "");
}

}  // namespace
}  // namespace rhizome::runtime
