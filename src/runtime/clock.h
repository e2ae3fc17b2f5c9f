// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

#include "base/time.h"

/// The only place that asks what time it is. Deciding code is handed what comes from here.
namespace rhizome::runtime {

/// The wall clock: for stamps that others read. It may jump when somebody sets the clock.
Time now();

/// A point on a clock that never jumps or goes back: for deadlines and measuring. Means nothing in another process.
using Instant = std::chrono::steady_clock::time_point;
Instant instant_now();

/// Since this machine was switched on: never set, never back, and it goes on while the machine sleeps.
microseconds since_boot();

}  // namespace rhizome::runtime
