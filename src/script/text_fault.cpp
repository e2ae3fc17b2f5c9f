// SPDX-License-Identifier: Apache-2.0
#include "script/text_fault.h"

#include <algorithm>
#include <vector>

#include <fmt/core.h>

namespace rhizome::script {
namespace {

constexpr std::size_t kLettersAround = 50;

/// The letters of UTF-8 text: a byte that continues a letter joins the one in front.
std::vector<std::string> letters_of(std::string_view line) {
    std::vector<std::string> letters;
    for (const char byte : line) {
        const auto value = static_cast<unsigned char>(byte);
        if ((value & 0xc0) == 0x80 && !letters.empty()) {
            letters.back() += byte;
        } else {
            letters.emplace_back(1, value < 0x20 || value == 0x7f ? (byte == '\t' ? ' ' : '?') : byte);
        }
    }
    return letters;
}

}  // namespace

Error to_error(const TextFault& fault) {
    std::string message = fmt::format("line {}, column {}: {}", fault.line, fault.column, fault.message);
    if (!fault.hint.empty()) message += "\n" + fault.hint;
    return {ErrorKind::Invalid, std::move(message)};
}

std::string point_at(std::string_view text, const TextFault& fault) {
    for (std::size_t line = 1; line < fault.line; ++line) {
        const std::size_t end = text.find('\n');
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    }
    const auto letters = letters_of(text.substr(0, text.find('\n')));
    const std::size_t at = std::max<std::size_t>(fault.column, 1) - 1;
    const std::size_t first = at > kLettersAround ? at - kLettersAround : 0;
    const std::size_t last = std::min(letters.size(), at + kLettersAround);
    std::string shown = first > 0 ? "…" : "";
    std::string carets(at - first + (first > 0 ? 1 : 0), ' ');
    for (std::size_t i = first; i < last; ++i) shown += letters[i];
    if (last < letters.size()) shown += "…";
    const std::size_t room = std::max<std::size_t>(last > at ? last - at : 1, 1);
    carets.append(std::clamp<std::size_t>(fault.length, 1, room), '^');
    return shown + "\n" + carets;
}

}  // namespace rhizome::script
