// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rhizome::api::detail {

/// The parts between every `by`, empty ones too; at least one.
std::vector<std::string_view> split(std::string_view text, char by);
/// With the letters of ASCII made small, others as they are.
std::string lower(std::string_view text);

}  // namespace rhizome::api::detail
