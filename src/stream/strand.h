// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "base/ensure.h"
#include "base/time.h"

/// Where coroutines run. A `Task` runs on a `Strand`: never two at once on the same one, so what belongs to one
/// connection needs no lock. An `IoContext` owns the threads that carry all strands.
namespace rhizome::stream {

/// A coroutine that waits without holding a thread. It begins when it is awaited or spawned. Parameters are taken by
/// value; views among them must outlive the await.
template <class T = void>
using Task = boost::asio::awaitable<T>;

/// Runs what it is given one after another, on any thread of its context. A small value, copied freely; outlived by its
/// `IoContext`.
class Strand {
public:
    using Executor = boost::asio::any_io_executor;
    explicit Strand(Executor executor) : executor_(std::move(executor)) {}

    /// Runs `work` soon, never inside this call. From any thread. `work` does not throw.
    void post(std::function<void()> work) const;

    [[nodiscard]] const Executor& executor() const { return executor_; }
    friend bool operator==(const Strand&, const Strand&) = default;

private:
    Executor executor_;
};

/// Begins `task` on `strand` and lets it go; `done` is called there when it has ended. From any thread.
/// An exception that leaves a task stops the process: failures are values here, so it is a fault of ours.
void spawn(const Strand& strand, Task<void> task, std::function<void()> done = {});

/// The strand that the calling coroutine runs on.
inline Task<Strand> this_strand() {
    auto executor = co_await boost::asio::this_coro::executor;
    co_return Strand{std::move(executor)};
}

/// Runs `work` on the strand and returns when it has run. For the edges of a program: not from a task, nor on a context
/// without threads.
void run_on(const Strand& strand, const std::function<void()>& work);

/// Lets others on the same threads go first: for long computations cut into pieces.
Task<void> yield();

struct IoOptions {
    /// Threads that carry the strands. 0: none, whoever calls `run` is the one thread.
    unsigned threads = 1;
};

/// The threads, the timers and the sockets' event queue.
///
/// With at most one thread a strand costs nothing: the context is its own. Objects that live in tasks (servers,
/// connections) are ended before the context goes; tasks that still wait then are destroyed where they stand.
class IoContext {
public:
    /// More than any host has cores; a wrong setting does not start thousands.
    static constexpr unsigned kThreadsMax = 256;

    explicit IoContext(IoOptions options = {});
    ~IoContext();
    IoContext(const IoContext&) = delete;
    IoContext& operator=(const IoContext&) = delete;

    [[nodiscard]] Strand make_strand();

    /// Works on this thread until `stop`, beside the threads of its own. Needed when there are none.
    void run();
    /// Works on this thread as long as something can be done at once; how many handlers ran. For tests and fuzzing.
    std::size_t run_ready();
    /// Works on this thread until `finished` answers true. For `block_on`.
    void run_until(const std::function<bool()>& finished);

    /// Ends all threads soon; tasks stay where they are. From any thread.
    void stop();

    /// Whether this context has threads of its own.
    [[nodiscard]] bool has_threads() const;

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

namespace detail {
/// Waits for a task from a thread that is none of the context's.
void block_on_void(IoContext& context, const Strand& strand, Task<void> task);

template <class T>
Task<void> keep_result(Task<T> task, std::optional<T>* out) {
    out->emplace(co_await std::move(task));
}
}  // namespace detail

/// Runs `task` to its end and gives its result. For tests, tools and the edges of a program; never call it from a task,
/// which would wait for itself.
template <class T>
T block_on(IoContext& context, const Strand& strand, Task<T> task) {
    if constexpr (std::is_void_v<T>) {
        detail::block_on_void(context, strand, std::move(task));
    } else {
        std::optional<T> out;
        detail::block_on_void(context, strand, detail::keep_result<T>(std::move(task), &out));
        ensure(out.has_value(), "a task that was waited for has ended");
        return std::move(*out);
    }
}
template <class T>
T block_on(IoContext& context, Task<T> task) {
    return block_on<T>(context, context.make_strand(), std::move(task));
}

}  // namespace rhizome::stream
