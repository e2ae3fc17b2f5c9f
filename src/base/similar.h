// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What somebody may have meant to type.
namespace rhizome {

/// Letters to insert, delete, replace, or swap with their neighbour to get from one word to the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The candidates closest to `word` that a typing mistake explains, best first and at most three; upper and lower case
/// are the same here. Empty when nothing comes near.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// `did you mean "a", "b" or "c"?`; empty for none.
std::string did_you_mean(const std::vector<std::string>& words);

}  // namespace rhizome
