// SPDX-License-Identifier: Apache-2.0
#include "stream/strand.h"

#include <signal.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rhizome::stream {

namespace asio = boost::asio;

void Strand::post(std::function<void()> work) const { asio::post(executor_, std::move(work)); }

namespace {

[[noreturn]] void escaped(const std::exception_ptr& exception) {
    std::string what = "of an unknown kind";
    try {
        std::rethrow_exception(exception);
    } catch (const std::exception& error) {
        what = error.what();
    } catch (...) {  // NOLINT(bugprone-empty-catch): said above
    }
    ensure(false, "an exception left a task: " + what);
    std::terminate();
}

}  // namespace

void spawn(const Strand& strand, Task<void> task, std::function<void()> done) {
    asio::co_spawn(strand.executor(), std::move(task), [done = std::move(done)](const std::exception_ptr& exception) {
        if (exception) escaped(exception);
        if (done) done();
    });
}

void run_on(const Strand& strand, const std::function<void()>& work) {
    std::mutex mutex;
    std::condition_variable done;
    bool is_done = false;
    strand.post([&] {
        work();
        // Under the lock, since all of this goes away once the other thread has seen it.
        const std::lock_guard hold{mutex};
        is_done = true;
        done.notify_one();
    });
    std::unique_lock hold{mutex};
    done.wait(hold, [&] { return is_done; });
}

Task<void> yield() {
    const auto executor = co_await asio::this_coro::executor;
    co_await asio::post(executor, asio::use_awaitable);
}

struct IoContext::Inside {
    explicit Inside(unsigned threads_in)
        : width(threads_in),
          context(threads_in <= 1 ? 1 : static_cast<int>(threads_in)),
          work(context.get_executor()) {}

    unsigned width;
    asio::io_context context;
    asio::executor_work_guard<asio::io_context::executor_type> work;
    std::vector<std::thread> threads;
};

IoContext::IoContext(IoOptions options) : inside_(std::make_unique<Inside>(std::min(options.threads, kThreadsMax))) {
    // Helpers block all signals, so that handlers run on threads which expect them.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (unsigned i = 0; i < inside_->width; ++i) {
        try {
            inside_->threads.emplace_back([context = &inside_->context] { context->run(); });
        } catch (const std::system_error&) {
            ensure(i > 0, "a host has room for one thread");
            break;  // narrower, but working
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

IoContext::~IoContext() {
    stop();
    for (std::thread& thread : inside_->threads) thread.join();
}

Strand IoContext::make_strand() {
    if (inside_->width <= 1) return Strand{inside_->context.get_executor()};
    return Strand{asio::make_strand(inside_->context)};
}

void IoContext::run() { inside_->context.run(); }

std::size_t IoContext::run_ready() { return inside_->context.poll(); }

void IoContext::run_until(const std::function<bool()>& finished) {
    while (!finished() && !inside_->context.stopped()) inside_->context.run_one();
}

void IoContext::stop() { inside_->context.stop(); }

bool IoContext::has_threads() const { return !inside_->threads.empty(); }

namespace detail {

void block_on_void(IoContext& context, const Strand& strand, Task<void> task) {
    struct Ended {
        std::mutex mutex;
        std::condition_variable came;
        bool yes = false;
    };
    const auto ended = std::make_shared<Ended>();
    spawn(strand, std::move(task), [ended] {
        const std::lock_guard lock{ended->mutex};
        ended->yes = true;
        ended->came.notify_all();
    });
    if (!context.has_threads()) {
        context.run_until([&] { return ended->yes; });
        return;
    }
    std::unique_lock lock{ended->mutex};
    ended->came.wait(lock, [&] { return ended->yes; });
}

}  // namespace detail
}  // namespace rhizome::stream
