// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "script/text_fault.h"

namespace rhizome::script::detail {

enum class WordKind : unsigned char {
    Bare,    ///< letters up to the next blank
    Quoted,  ///< 'text', without the quotes
    Angled,  ///< <text>, without the brackets and the blanks inside them
    Open,    ///< (
    Close,   ///< )
    End,     ///< behind the last word
};

/// One word of a script's text. Borrows the text.
struct Word {
    WordKind kind = WordKind::End;
    std::string_view text{};
    std::size_t line = 1;
    std::size_t column = 1;
    std::size_t length = 1;

    [[nodiscard]] TextFault fault(std::string message, std::string hint = {}) const {
        return {line, column, length, std::move(message), std::move(hint)};
    }
};

/// Longer texts are refused before anything else is done with them: room for the longest script (10,000 bytes, 24
/// letters each) and its comments.
inline constexpr std::size_t kTextBytesMax = 1'000'000;

/// The words of a text, without comments (`# …` and `// …` up to the end of the line). Ends with an `End` word.
Result<std::vector<Word>, TextFault> split_words(std::string_view text);

}  // namespace rhizome::script::detail
