// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Laying out text for people: how wide it looks, where to break it, what they may have meant to type.
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

/// Letters to insert, delete, replace, or swap with their neighbour to get from one word to the other.
std::size_t edit_distance(std::string_view from, std::string_view to);

/// The candidates closest to `word` that a typing mistake explains, best first and at most three; upper and lower case
/// are the same here. Empty when nothing comes near.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

/// `did you mean "a", "b" or "c"?`; empty for none.
std::string did_you_mean(const std::vector<std::string>& words);

/// `a, b or c`.
std::string join_or(const std::vector<std::string>& words);
std::string join(std::span<const std::string> words, std::string_view between);

/// The word as a shell reads it back: in quotes when it needs them.
std::string shell_word(std::string_view word);

/// Text that a stranger chose, made safe for a terminal: control characters (escape sequences above all) become `?`.
std::string printable(std::string_view text);

}  // namespace rhizome::cli
