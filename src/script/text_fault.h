// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rhizome::script {

/// What is wrong with a text, and where. Lines and columns count from 1; columns count letters, not bytes.
struct TextFault {
    std::size_t line = 1;
    std::size_t column = 1;
    std::size_t length = 1;  ///< letters that the fault covers, on its line
    std::string message;     ///< what is wrong: lower case, no full stop
    std::string hint{};      ///< what to write instead, if there is an idea

    friend bool operator==(const TextFault&, const TextFault&) = default;
};

/// `line 2, column 5: "OP_DUPE" is no instruction`, then the hint on a line of its own.
Error to_error(const TextFault& fault);

/// The line of `text` that has the fault, and below it a caret under every letter that it covers. Long lines are cut to
/// the neighbourhood, and control characters become `?`.
std::string point_at(std::string_view text, const TextFault& fault);

}  // namespace rhizome::script
