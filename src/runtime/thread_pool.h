// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/parallel.h"

namespace rhizome::runtime {

/// Threads for heavy pure work: the `Parallel` of a real host.
///
/// A call is cut into ranges that shrink towards the end (half of an even share of what is left), so that one slow item
/// or one busy core delays the rest little. Whoever calls works too: a call never waits for a thread to become free,
/// and a pool without helpers is merely slower.
///
/// Several threads may call at once, and a piece may itself call `for_ranges` (on this pool or another): a thread that
/// waits only waits for pieces of its own call, and those depend on nothing but calls nested inside them.
///
/// A piece does not throw, nor does what runs `beside` pieces. One that does ends the process, since other threads are
/// still working on the same call. Helpers block all signals, so that handlers run on threads which expect them.
///
/// Outlive every call; the destructor waits for the helpers to end.
class ThreadPool final : public Parallel {
public:
    /// More threads than any host we place work on has cores; a wrong setting does not start thousands.
    static constexpr unsigned kWidthMax = 256;

    /// `width` pieces at once, the caller's included: starts `width` − 1 helpers. Values outside 1 … `kWidthMax` become
    /// the nearest of the two, and a host that refuses threads gives a narrower pool; `width()` says what came of it.
    explicit ThreadPool(unsigned width);
    ~ThreadPool() override;
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    /// The cores this process may use; at least 1.
    static unsigned host_width();

    [[nodiscard]] unsigned width() const override { return width_; }
    void for_ranges(std::size_t count, const std::function<void(std::size_t, std::size_t)>& piece) override;
    void beside(const std::function<void()>& first, std::size_t count,
                const std::function<void(std::size_t, std::size_t)>& piece) override;

private:
    struct Call;

    void help();
    void open(Call& call);
    void finish(Call& call);

    unsigned width_ = 1;
    std::mutex mutex_;
    std::condition_variable work_came_;    ///< for helpers: `open_` is not empty, or `stopping_`
    std::condition_variable helper_left_;  ///< for callers: a call has no helper inside any more
    std::vector<Call*> open_;  ///< calls with ranges left to take, oldest first; each lives on its caller's stack
    bool stopping_ = false;
    std::vector<std::thread> helpers_;
};

}  // namespace rhizome::runtime
