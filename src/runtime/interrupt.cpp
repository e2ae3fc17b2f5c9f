// SPDX-License-Identifier: Apache-2.0
#include "runtime/interrupt.h"

#include <atomic>

#include "base/ensure.h"

namespace rhizome::runtime {
namespace {

// A handler reaches nothing else. Both are free of locks, as a handler needs.
std::atomic<bool> was_asked{false};
std::atomic<bool> listens{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int) {
    was_asked.store(true, std::memory_order_relaxed);
    // Whichever of the two comes next ends the process: somebody is in a hurry.
    struct sigaction end {};
    end.sa_handler = SIG_DFL;
    sigaction(SIGINT, &end, nullptr);
    sigaction(SIGTERM, &end, nullptr);
}

}  // namespace

Interrupt::Interrupt() {
    ensure(!listens.exchange(true), "one at a time listens for Ctrl-C");
    was_asked.store(false, std::memory_order_relaxed);
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &before_int_);
    sigaction(SIGTERM, &action, &before_term_);
}

Interrupt::~Interrupt() {
    sigaction(SIGINT, &before_int_, nullptr);
    sigaction(SIGTERM, &before_term_, nullptr);
    listens.store(false);
}

bool Interrupt::asked() const { return was_asked.load(std::memory_order_relaxed); }

}  // namespace rhizome::runtime
