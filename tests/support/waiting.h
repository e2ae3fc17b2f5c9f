// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace rhizome::test {

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
        return changed_.wait_for(hold, std::chrono::seconds{60}, [&] { return done(value_); });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    T value_{};
};

}  // namespace rhizome::test
