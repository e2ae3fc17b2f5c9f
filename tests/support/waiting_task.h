// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "stream/timers.h"

/// Waiting inside tasks (see support/waiting.h).
namespace rhizome::test {

/// A moment, until a task of a test's own server looks again at what the test has changed. Nothing that is tested
/// depends on how long it is.
inline stream::Task<void> until_next_look() { return stream::sleep_for(std::chrono::milliseconds{10}); }

}  // namespace rhizome::test
