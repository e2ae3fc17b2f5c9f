// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rhizome::script::detail {

/// The candidates that a typing mistake may have turned into `word`, at most three, best first; empty when none comes
/// near. Upper and lower case are the same here.
std::vector<std::string> similar_words(std::string_view word, std::span<const std::string_view> candidates);

/// `did you mean a, b or c?`; empty for none.
std::string did_you_mean(const std::vector<std::string>& words);

}  // namespace rhizome::script::detail
