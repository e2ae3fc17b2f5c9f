// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "stream/strand.h"

/// Waiting for time to pass and for each other.
namespace rhizome::stream {

/// Deadlines are moments of a clock that never jumps; `kNever` is none.
using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
constexpr Deadline kNever = Deadline::max();

/// That far from now; a negative or zero span is now, one too large to add is `kNever`.
inline Deadline after(std::chrono::nanoseconds span) {
    const Deadline now = Clock::now();
    if (span.count() <= 0) return now;
    return span > kNever - now ? kNever : now + std::chrono::duration_cast<Clock::duration>(span);
}
inline bool passed(Deadline deadline) { return deadline != kNever && Clock::now() >= deadline; }

/// Waits until the moment has come.
Task<void> sleep_until(Deadline deadline);
inline Task<void> sleep_for(std::chrono::nanoseconds span) { return sleep_until(after(span)); }

/// Something that happens: tasks wait until it is set. Confined to its strand (others `post` to it); outlives those who
/// wait for it.
class Event {
public:
    explicit Event(const Strand& strand);
    ~Event();
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;

    /// Wakes all who wait; who comes later does not wait at all.
    void set();
    /// From now on they wait again.
    void reset() { set_ = false; }
    [[nodiscard]] bool is_set() const { return set_; }

    Task<void> wait();
    /// Whether it was set before the deadline.
    Task<bool> wait_until(Deadline deadline);

private:
    struct Inside;
    bool set_ = false;
    std::shared_ptr<Inside> inside_;  ///< made when the first one waits
    Strand strand_;
};

/// Calls a function on its strand once a deadline has come. Setting it again replaces the deadline, moving a deadline
/// back costs nothing until the old one fires; destroying it cancels. Confined to its strand.
class Timer {
public:
    Timer(const Strand& strand, std::function<void()> fire);
    ~Timer();
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

    void set(Deadline deadline);
    void cancel() { set(kNever); }

private:
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::stream
