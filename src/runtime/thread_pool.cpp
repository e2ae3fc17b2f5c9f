// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include <csignal>

#include <algorithm>
#include <atomic>
#include <system_error>

namespace rhizome::runtime {
namespace {

/// Threads inherit the mask of the thread that starts them.
class BlockedSignals {
public:
    BlockedSignals() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    BlockedSignals(const BlockedSignals&) = delete;
    BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
    sigset_t before_;
};

}  // namespace

struct ThreadPool::Call {
    const std::function<void(std::size_t, std::size_t)>& piece;
    const std::size_t count;
    const std::size_t share;           ///< what is left is divided by this for the next range
    std::atomic<std::size_t> next{0};  ///< first item that nobody has taken
    unsigned helpers_inside = 0;       ///< guarded by the pool's mutex

    /// Takes ranges and does them until none is left. What pieces write reaches the caller through the pool's mutex,
    /// which every helper takes after its last range and the caller before it returns.
    void work() noexcept {
        std::size_t begin = next.load(std::memory_order_relaxed);
        while (begin < count) {
            const std::size_t end = begin + std::max<std::size_t>(1, (count - begin) / share);
            if (!next.compare_exchange_weak(begin, end, std::memory_order_relaxed)) continue;
            piece(begin, end);
            begin = next.load(std::memory_order_relaxed);
        }
    }
};

ThreadPool::ThreadPool(unsigned width) {
    const unsigned wanted = std::clamp(width, 1u, kWidthMax);
    helpers_.reserve(wanted - 1);
    const BlockedSignals blocked;
    try {
        while (width_ < wanted) {
            helpers_.emplace_back([this] { help(); });
            ++width_;
        }
    } catch (const std::system_error&) {
        // No more threads on this host: those that started are the pool.
    }
}

ThreadPool::~ThreadPool() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
    }
    work_came_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
}

unsigned ThreadPool::host_width() { return std::max(1u, std::thread::hardware_concurrency()); }

void ThreadPool::for_ranges(std::size_t count, const std::function<void(std::size_t, std::size_t)>& piece) {
    if (count == 0) return;
    const bool alone = helpers_.empty() || count == 1;
    Call call{piece, count, alone ? 1 : std::size_t{2} * width_};
    if (alone) {
        call.work();
        return;
    }
    open(call);
    finish(call);
}

void ThreadPool::beside(const std::function<void()>& first, std::size_t count,
                        const std::function<void(std::size_t, std::size_t)>& piece) {
    if (helpers_.empty() || count == 0) {
        first();
        for_ranges(count, piece);
        return;
    }
    Call call{piece, count, std::size_t{2} * width_};
    open(call);
    [&]() noexcept { first(); }();
    finish(call);
}

/// Shows helpers a call.
void ThreadPool::open(Call& call) {
    {
        const std::lock_guard lock{mutex_};
        open_.push_back(&call);
    }
    work_came_.notify_all();
}

/// Works on a call until nothing is left, then waits for the helpers that are inside.
void ThreadPool::finish(Call& call) {
    call.work();
    std::unique_lock lock{mutex_};
    std::erase(open_, &call);  // no helper enters from here on
    helper_left_.wait(lock, [&] { return call.helpers_inside == 0; });
}

void ThreadPool::help() {
    std::unique_lock lock{mutex_};
    for (;;) {
        work_came_.wait(lock, [&] { return stopping_ || !open_.empty(); });
        if (stopping_) return;
        Call& call = *open_.front();
        ++call.helpers_inside;
        lock.unlock();
        call.work();
        lock.lock();
        std::erase(open_, &call);  // it has nothing left to take; the next call is at the front now
        if (--call.helpers_inside == 0) helper_left_.notify_all();
    }
}

}  // namespace rhizome::runtime
