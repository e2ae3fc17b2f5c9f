// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rhizome {

/// Prints where and why on stderr and aborts. What the program believed about itself was wrong, so going on could write
/// wrong bytes to a chain that others must follow.
[[noreturn]] void broken(std::string_view why, const char* file, int line, const char* function) noexcept;

/// States what our own code guarantees. Stays on in release builds and stops the process; it never judges input (that
/// is `Result`'s work).
///
/// The place comes from compiler builtins: clang 14, which builds the fuzz targets, has no `std::source_location`.
inline void ensure(bool holds, std::string_view why, const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                   const char* function = __builtin_FUNCTION()) noexcept {
    if (!holds) [[unlikely]]
        broken(why, file, line, function);
}

/// Marks a place that no input can reach, for instance after a `switch` over all values of an enum.
[[noreturn]] inline void unreachable(std::string_view why, const char* file = __builtin_FILE(),
                                     int line = __builtin_LINE(),
                                     const char* function = __builtin_FUNCTION()) noexcept {
    broken(why, file, line, function);
}

}  // namespace rhizome
