// SPDX-License-Identifier: Apache-2.0
#include "stream/timers.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace rhizome::stream {

namespace asio = boost::asio;

namespace {
constexpr auto kToken = asio::as_tuple(asio::use_awaitable);
}

Task<void> sleep_until(Deadline deadline) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer{executor, deadline};
    co_await timer.async_wait(kToken);
}

/// Shared with those who wait: when a context goes, tasks are destroyed where they stand, in any order.
struct Event::Inside {
    std::vector<asio::steady_timer*> waiting;
};

namespace {

/// One who waits, as long as its coroutine lives.
struct Waiter {
    Waiter(std::shared_ptr<std::vector<asio::steady_timer*>> among_in, const Strand& strand, Deadline deadline)
        : among(std::move(among_in)), timer(strand.executor(), deadline) {
        among->push_back(&timer);
    }
    ~Waiter() { std::erase(*among, &timer); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;

    std::shared_ptr<std::vector<asio::steady_timer*>> among;
    asio::steady_timer timer;
};

}  // namespace

Event::Event(const Strand& strand) : strand_(strand) {}
Event::~Event() = default;

void Event::set() {
    set_ = true;
    if (inside_)
        for (asio::steady_timer* timer : inside_->waiting) timer->cancel();
}

Task<void> Event::wait() { co_await wait_until(kNever); }

Task<bool> Event::wait_until(Deadline deadline) {
    if (set_) co_return true;
    if (passed(deadline)) co_return false;
    if (!inside_) inside_ = std::make_shared<Inside>();
    Waiter waiter{{inside_, &inside_->waiting}, strand_, deadline};
    co_await waiter.timer.async_wait(kToken);
    co_return set_;
}

struct Timer::Inside : std::enable_shared_from_this<Timer::Inside> {
    Inside(const Strand& strand, std::function<void()> fire_in) : fire(std::move(fire_in)), timer(strand.executor()) {}

    void arm() {
        if (armed && armed_for <= wanted) return;  // fires early and looks again
        armed = true;
        armed_for = wanted;
        timer.expires_at(wanted);
        timer.async_wait([weak = weak_from_this()](const boost::system::error_code& failed) {
            if (const auto self = weak.lock(); self && !failed) self->came();
        });
    }
    void came() {
        armed = false;
        if (wanted == kNever) return;
        if (Clock::now() < wanted) return arm();
        wanted = kNever;
        const auto keep = fire;  // it may destroy the timer
        keep();
    }

    std::function<void()> fire;
    asio::steady_timer timer;
    Deadline wanted = kNever;
    Deadline armed_for = kNever;
    bool armed = false;
};

Timer::Timer(const Strand& strand, std::function<void()> fire)
    : inside_(std::make_shared<Inside>(strand, std::move(fire))) {}
Timer::~Timer() = default;

void Timer::set(Deadline deadline) {
    inside_->wanted = deadline;
    if (deadline != kNever) inside_->arm();
}

}  // namespace rhizome::stream
