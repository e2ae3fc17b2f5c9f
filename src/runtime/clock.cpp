// SPDX-License-Identifier: Apache-2.0
#include "runtime/clock.h"

namespace rhizome::runtime {

Time now() { return Time{std::chrono::floor<microseconds>(std::chrono::system_clock::now().time_since_epoch())}; }

Instant instant_now() { return std::chrono::steady_clock::now(); }

}  // namespace rhizome::runtime
