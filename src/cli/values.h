// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "cli/invocation.h"

/// Option values that are more than a text.
namespace rhizome::cli {

/// A whole number from 0 to `most`; Usage for anything else.
Result<std::uint64_t> whole_number(const Invocation& call, std::string_view option, std::uint64_t most);

/// A number, a date, or (for the option `sequence`) a waiting time such as 5d.
Result<std::uint32_t> lock_number(const Invocation& call, std::string_view option);

}  // namespace rhizome::cli
