// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>

/// The only place where tests wait (`tests/guards` looks): for a state, with an end that is far beyond what a busy
/// machine takes. A test that passes never waits that long, so nothing is won by a shorter one.
namespace rhizome::test {

/// When this is over, something must be broken.
inline constexpr std::chrono::seconds kTooLong{180};

/// Asks again until it holds; false when that takes too long.
template <class Holds>
[[nodiscard]] bool eventually(const Holds& holds) {
    const auto end = std::chrono::steady_clock::now() + kTooLong;
    for (;;) {
        if (holds()) return true;
        if (std::chrono::steady_clock::now() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
}

/// Lets time pass that is itself part of the test: the pace of a load, a moment to strike at, a silence that must
/// change nothing. Never a wait for somebody else, however quick: that is `eventually`. `why` says which it is.
template <class Rep, class Period>
void pass_time(std::chrono::duration<Rep, Period> span, [[maybe_unused]] std::string_view why) {
    if (span.count() > 0) std::this_thread::sleep_for(span);
}

/// A value that other threads change and a test waits on.
template <class T>
class Waited {
public:
    [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock{mutex_}; }
    /// Under the lock.
    T& value() { return value_; }
    void notify() { changed_.notify_all(); }

    [[nodiscard]] T copy() {
        const auto hold = lock();
        return value_;
    }
    /// Whether `done` came true before so long that something must be broken.
    template <class Done>
    [[nodiscard]] bool wait(const Done& done) {
        auto hold = lock();
        return changed_.wait_for(hold, kTooLong, [&] { return done(value_); });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    T value_{};
};

}  // namespace rhizome::test
