// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string_view>

#include "base/json.h"

/// Numbers of JSON by what they mean, exactly: `1`, `1.0` and `10e-1` are one number, however they are written.
namespace rhizome::cluster {

/// All texts are JSON numbers, of any exponent.
bool same_number(std::string_view left, std::string_view right);
std::strong_ordering compare_numbers(std::string_view left, std::string_view right);
/// Nothing behind the point: `1`, `1.0`, `1e3`.
bool is_whole(std::string_view number);
/// Whether `number` is a whole multiple of `factor`, which is above 0. Of numbers whose digits are further apart than
/// `kMultipleDigitsMax` it says no.
bool is_multiple(std::string_view number, std::string_view factor);
inline constexpr std::size_t kMultipleDigitsMax = 400;  ///< a double has an exponent of 308 at most

/// Deeply; the order of members does not count.
bool same_value(const json::Value& left, const json::Value& right);

}  // namespace rhizome::cluster
