// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "stream/stream.h"

namespace rhizome::stream {

/// Two streams joined in memory: what one writes the other reads. Each way holds at most `capacity` bytes; a writer
/// waits for room. For tests, fuzzing, and joining parts of one process. Both ends live on `strand`.
std::pair<std::unique_ptr<Stream>, std::unique_ptr<Stream>> make_pipe(const Strand& strand,
                                                                      std::size_t capacity = 64 * 1024);

}  // namespace rhizome::stream
