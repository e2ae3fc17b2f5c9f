// SPDX-License-Identifier: Apache-2.0
#include "base/detail/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace rhizome::yaml::detail {
namespace {

using json::Number;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

/// `yes`, `Yes` or `YES`: YAML 1.1 knows no other mix of cases.
bool is_word(std::string_view text, std::initializer_list<std::string_view> words) {
    if (text.empty() || text.size() > 5) return false;
    std::string small, rest;
    for (const char c : text) small += lower(c);
    if (!one_of(small, words)) return false;
    const std::string_view tail = text.substr(1);
    const bool lowered = std::none_of(tail.begin(), tail.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
    const bool raised = std::none_of(text.begin(), text.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    return lowered || raised;
}

/// The digits of `text` in some base, when they are nothing else and fit.
std::optional<std::uint64_t> to_magnitude(std::string_view text, int base) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, failed] = std::from_chars(text.data(), end, value, base);
    if (text.empty() || stop != end || failed != std::errc{}) return std::nullopt;
    return value;
}

/// An integer in any of the notations of Go's `strconv.ParseInt` with base 0: `0x1f`, `0o17`, `017`, `0b11`, `+5`.
std::optional<Number> to_integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    const bool has_sign = negative || text.starts_with('+');
    if (has_sign) text.remove_prefix(1);
    int base = 10;
    if (text.size() > 2 && text[0] == '0' && !is_digit(text[1])) {
        switch (lower(text[1])) {
            case 'x': base = 16; break;
            case 'o': base = 8; break;
            case 'b': base = 2; break;
            default: return std::nullopt;
        }
        text.remove_prefix(2);
    } else if (text.size() > 1 && text[0] == '0') {
        base = 8;
        text.remove_prefix(1);
    }
    const auto magnitude = to_magnitude(text, base);
    if (!magnitude) return std::nullopt;
    constexpr std::uint64_t kInt64Max = INT64_MAX;
    if (negative) {
        if (*magnitude > kInt64Max + 1) return std::nullopt;
        return Number(static_cast<std::int64_t>(~*magnitude + 1));
    }
    if (has_sign && *magnitude > kInt64Max) return std::nullopt;  // as Go, which reads no sign before an unsigned
    return Number(*magnitude);
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, as a JSON number.
std::optional<Number> to_decimal(std::string_view text) {
    const auto take_digits = [&text] {
        std::size_t count = 0;
        while (count < text.size() && is_digit(text[count])) ++count;
        const std::string_view digits = text.substr(0, count);
        text.remove_prefix(count);
        return digits;
    };
    std::string out = text.starts_with('-') ? "-" : "";
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    std::string_view whole = take_digits();
    const bool has_whole = !whole.empty();
    while (whole.size() > 1 && whole.front() == '0') whole.remove_prefix(1);
    out += has_whole ? whole : "0";
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        const std::string_view fraction = take_digits();
        if (!has_whole && fraction.empty()) return std::nullopt;
        if (!fraction.empty()) out.append(".").append(fraction);
    } else if (!has_whole) {
        return std::nullopt;
    }
    out += text;  // nothing, an exponent as JSON writes it, or something that is no number
    return Number::from_text(out);
}

std::optional<Number> to_number(std::string_view text) {
    if (auto number = Number::from_text(text)) return number;
    std::string digits(text);
    std::erase(digits, '_');
    if (auto number = to_integer(digits)) return number;
    return to_decimal(digits);
}

/// `12:30`, `1:02:03.5`: numbers of base 60 in YAML 1.1.
bool is_sexagesimal(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
    return !text.empty() && is_digit(text[0]) && text.find(':') != std::string_view::npos &&
           std::all_of(text.begin(), text.end(),
                       [](char c) { return is_digit(c) || c == ':' || c == '.' || c == '_'; });
}

/// `2026-01-01`, alone or with a time behind it: timestamps in YAML 1.1.
bool is_timestamp(std::string_view text) {
    std::size_t at = 0;
    const auto digits = [&](std::size_t least, std::size_t most) {
        std::size_t count = 0;
        while (at < text.size() && count < most && is_digit(text[at])) ++at, ++count;
        return count >= least;
    };
    const auto dash = [&] { return at < text.size() && text[at++] == '-'; };
    if (!digits(4, 4) || !dash() || !digits(1, 2) || !dash() || !digits(1, 2)) return false;
    return at == text.size() || lower(text[at]) == 't' || text[at] == ' ' || text[at] == '\t';
}

}  // namespace

Resolved resolve_plain(std::string_view text) {
    if (text.empty()) return {};
    switch (text.front()) {
        case '~':
            if (text == "~") return {};
            break;
        case '<':
            if (text == "<<") return {Plain::Merge, {}};
            break;
        case 'y':
        case 'Y':
        case 'n':
        case 'N':
        case 't':
        case 'T':
        case 'f':
        case 'F':
        case 'o':
        case 'O':
            if (is_word(text, {"null"})) return {};
            if (is_word(text, {"y", "yes", "true", "on"})) return {Plain::Value, true};
            if (is_word(text, {"n", "no", "false", "off"})) return {Plain::Value, false};
            break;
        case '.':
        case '+':
        case '-':
        case '0':
        case '1':
        case '2':
        case '3':
        case '4':
        case '5':
        case '6':
        case '7':
        case '8':
        case '9': {
            if (one_of(text, {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf",
                              "-.Inf", "-.INF"})) {
                return {Plain::NotJson, {}};
            }
            if (auto number = to_number(text)) return {Plain::Value, std::move(*number)};
            break;
        }
        default: break;
    }
    return {Plain::Value, text};
}

bool is_ambiguous(std::string_view text) {
    if (text == "=" || is_sexagesimal(text) || is_timestamp(text)) return true;
    const Resolved resolved = resolve_plain(text);
    return resolved.plain != Plain::Value || !resolved.value.is_string();
}

}  // namespace rhizome::yaml::detail
