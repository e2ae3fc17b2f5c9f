// SPDX-License-Identifier: Apache-2.0
#include "runtime/clock.h"

#include <ctime>

namespace rhizome::runtime {

Time now() { return Time{std::chrono::floor<microseconds>(std::chrono::system_clock::now().time_since_epoch())}; }

Instant instant_now() { return std::chrono::steady_clock::now(); }

microseconds since_boot() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return seconds{now.tv_sec} + microseconds{now.tv_nsec / 1'000};
}

}  // namespace rhizome::runtime
