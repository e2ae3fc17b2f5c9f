// SPDX-License-Identifier: Apache-2.0
#include "cli/text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <fmt/core.h>

namespace rhizome::cli {
namespace {

struct Range {
    char32_t first;
    char32_t last;
};

// From Unicode's EastAsianWidth (W and F) and its emoji, in whole blocks: an unassigned letter in between does no harm.
constexpr std::array kWide{
    Range{0x1100, 0x115f},   Range{0x231a, 0x231b},   Range{0x23e9, 0x23ec},   Range{0x2614, 0x2615},
    Range{0x26a1, 0x26a1},   Range{0x2705, 0x2705},   Range{0x274c, 0x274c},   Range{0x2795, 0x2797},
    Range{0x2e80, 0x303e},   Range{0x3041, 0xa4cf},   Range{0xa960, 0xa97c},   Range{0xac00, 0xd7a3},
    Range{0xf900, 0xfaff},   Range{0xfe30, 0xfe6f},   Range{0xff00, 0xff60},   Range{0xffe0, 0xffe6},
    Range{0x1f300, 0x1f64f}, Range{0x1f680, 0x1f6ff}, Range{0x1f900, 0x1f9ff}, Range{0x20000, 0x3fffd},
};
// Combining marks of the common scripts, zero-width spaces and joiners, variation selectors.
constexpr std::array kZero{
    Range{0x0300, 0x036f}, Range{0x0483, 0x0489}, Range{0x0591, 0x05bd}, Range{0x064b, 0x065f},
    Range{0x0e34, 0x0e3a}, Range{0x0e47, 0x0e4e}, Range{0x1ab0, 0x1aff}, Range{0x1dc0, 0x1dff},
    Range{0x200b, 0x200f}, Range{0x20d0, 0x20ff}, Range{0xfe00, 0xfe0f}, Range{0xfe20, 0xfe2f},
};

template <class Ranges>
bool within(const Ranges& ranges, char32_t letter) {
    for (const auto& range : ranges) {
        if (letter >= range.first && letter <= range.last) return true;
    }
    return false;
}

/// Takes one letter off the front; a broken byte counts as one letter.
char32_t next_letter(std::string_view& text) {
    const auto first = static_cast<std::uint8_t>(text.front());
    const std::size_t length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    char32_t letter = length == 1 ? first : first & (0x7fu >> length);
    std::size_t used = 1;
    while (used < length && used < text.size() && (static_cast<std::uint8_t>(text[used]) & 0xc0) == 0x80) {
        letter = (letter << 6) | (static_cast<std::uint8_t>(text[used]) & 0x3fu);
        ++used;
    }
    text.remove_prefix(used);
    return used == length ? letter : 0xfffd;
}

void wrap_line(std::string_view line, std::size_t width, std::vector<std::string>& out) {
    if (line.empty() || line.front() == ' ') {
        out.emplace_back(line);
        return;
    }
    std::string current;
    std::size_t columns = 0;
    while (!line.empty()) {
        const auto blank = line.find(' ');
        const auto word = line.substr(0, blank);
        line = blank == std::string_view::npos ? std::string_view{} : line.substr(blank + 1);
        if (word.empty()) continue;
        const auto wide = display_width(word);
        if (columns > 0 && columns + 1 + wide > width) {
            out.push_back(std::move(current));
            current.clear();
            columns = 0;
        }
        if (columns > 0) {
            current += ' ';
            ++columns;
        }
        current += word;
        columns += wide;
    }
    out.push_back(std::move(current));
}

}  // namespace

std::size_t display_width(std::string_view text) {
    std::size_t columns = 0;
    while (!text.empty()) {
        const auto letter = next_letter(text);
        columns += within(kZero, letter) ? 0 : within(kWide, letter) ? 2 : 1;
    }
    return columns;
}

std::string pad(std::string_view text, std::size_t width) {
    std::string out{text};
    if (const auto wide = display_width(text); wide < width) out.append(width - wide, ' ');
    return out;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const auto newline = text.find('\n');
        wrap_line(text.substr(0, newline), width, lines);
        text = newline == std::string_view::npos ? std::string_view{} : text.substr(newline + 1);
    }
    return lines;
}

std::string indent(const std::vector<std::string>& lines, std::size_t blanks) {
    std::string out;
    for (const auto& line : lines) {
        if (!line.empty()) out.append(blanks, ' ') += line;
        out += '\n';
    }
    return out;
}

std::string join(std::span<const std::string> words, std::string_view between) {
    std::string out;
    for (const auto& word : words) {
        if (!out.empty()) out += between;
        out += word;
    }
    return out;
}

std::string join_or(const std::vector<std::string>& words) {
    if (words.size() < 2) return words.empty() ? "" : words.front();
    const std::span<const std::string> all{words};
    return join(all.first(words.size() - 1), ", ") + " or " + words.back();
}

std::string shell_word(std::string_view word) {
    constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=:@%,";
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) return std::string{word};
    std::string quoted = "'";
    for (const char letter : word) {
        if (letter == '\'') {
            quoted += "'\\''";
        } else {
            quoted += letter;
        }
    }
    return quoted + "'";
}

std::string printable(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto before = text;
        const auto letter = next_letter(text);
        const bool control = letter < 0x20 || (letter >= 0x7f && letter < 0xa0) || letter == 0xfffd ||
                             (letter >= 0x202a && letter <= 0x202e) || (letter >= 0x2066 && letter <= 0x2069);
        if (control) {
            out += '?';
        } else {
            out += before.substr(0, before.size() - text.size());
        }
    }
    return out;
}

}  // namespace rhizome::cli
