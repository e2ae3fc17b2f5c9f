// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Laying out text for people: how wide it looks, where to break it.
namespace rhizome::cli {

/// Columns that UTF-8 text takes on a terminal: two for East Asian wide letters and emoji, none for combining marks,
/// one for everything else (a broken byte included). Good enough to align tables; exact rendering depends on the font.
std::size_t display_width(std::string_view text);

/// `text` followed by blanks up to `width` columns; never cut.
std::string pad(std::string_view text, std::size_t width);

/// Lines of at most `width` columns, broken at blanks; a longer word stays whole. Newlines in the text stay, and lines
/// that begin with a blank are kept as they are (they are code or a drawing).
std::vector<std::string> wrap(std::string_view text, std::size_t width);

/// Every line with blanks in front.
std::string indent(const std::vector<std::string>& lines, std::size_t blanks);

/// `a, b or c`.
std::string join_or(const std::vector<std::string>& words);
std::string join(std::span<const std::string> words, std::string_view between);

/// The word as a shell reads it back: in quotes when it needs them.
std::string shell_word(std::string_view word);

/// Text that a stranger chose, made safe for a terminal: control characters (escape sequences above all) become `?`.
std::string printable(std::string_view text);

}  // namespace rhizome::cli
