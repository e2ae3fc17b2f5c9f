// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "guards/source_scan.h"

/// What our own headers cost the compiler: the lines of them that a file of a module pulls in, on average. More than
/// half of a file's time goes there, and it grows an include at a time.
namespace rhizome::guards {

struct HeaderCost {
    std::size_t mean = 0;  ///< lines of own headers for a file that is not a test, fuzz target or benchmark
    std::vector<std::string> dearest{};  ///< "lines × files path", most lines first
};

/// By module.
std::map<std::string, HeaderCost> header_costs(const std::vector<SourceFile>& files);

/// Modules whose mean is above their line in `bounds` ("module lines", `#` begins a comment) or that have none; lines
/// for no module; and bounds so far above that they bound nothing.
std::vector<std::string> header_cost_breaches(const std::vector<SourceFile>& files, std::string_view bounds);

}  // namespace rhizome::guards
