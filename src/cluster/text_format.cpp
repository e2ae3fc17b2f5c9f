// SPDX-License-Identifier: Apache-2.0
// The formats of texts that Kubernetes checks; any text is of a format that it does not know.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/ensure.h"
#include "base/time.h"
#include "cluster/names.h"
#include "cluster/structural_values.h"

namespace rhizome::cluster {
namespace {

bool is_base64(std::string_view text) {
    if (text.size() % 4 != 0) return false;
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    return std::all_of(text.begin(), text.end() - static_cast<std::ptrdiff_t>(padding), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
    });
}

bool is_date(std::string_view text) {
    return text.size() == 10 && from_rfc3339(fmt::format("{}T00:00:00Z", text)).has_value();
}

/// One digit for each place, with spaces and dashes left out; nothing where something else stands.
std::optional<std::vector<int>> digits_of(std::string_view text) {
    std::vector<int> found;
    for (const char c : text) {
        if (c == ' ' || c == '-') continue;
        if (c == 'X' && found.size() == 9)
            found.push_back(10);
        else if (c >= '0' && c <= '9')
            found.push_back(c - '0');
        else
            return std::nullopt;
    }
    return found;
}

bool is_isbn(std::string_view text, std::size_t length) {
    const auto digits = digits_of(text);
    if (!digits || digits->size() != length) return false;
    int sum = 0;
    for (std::size_t i = 0; i < length; ++i)
        sum += (*digits)[i] * (length == 10 ? static_cast<int>(i + 1) : i % 2 == 0 ? 1 : 3);
    return sum % (length == 10 ? 11 : 10) == 0;
}

/// The sum of Luhn.
bool is_card(std::string_view text) {
    const auto digits = digits_of(text);
    if (!digits || digits->size() < 12 || digits->size() > 19) return false;
    int sum = 0;
    for (std::size_t back = 0; back < digits->size(); ++back) {
        int digit = (*digits)[digits->size() - 1 - back];
        if (digit > 9) return false;
        if (back % 2 == 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
        sum += digit;
    }
    return sum % 10 == 0;
}

struct Form {
    std::string_view format;
    std::string_view pattern;
};
constexpr std::array kForms{
    Form{"bsonobjectid", "^[0-9a-fA-F]{24}$"},
    Form{
        "duration",
        R"(^\d+$|^[-+]?(\d+(\.\d*)?|\.\d+)\s*(ns|us|µs|μs|ms|s|m|h|d|w|nanos?|micros?|millis?|sec(ond)?s?|min(ute)?s?|hrs?|hours?|days?|weeks?|wks?)((\d+(\.\d*)?|\.\d+)\s*(ns|us|µs|μs|ms|s|m|h))*$)"},
    Form{"email", R"(^[^\s@<>(),;:"\[\]]+@[^\s@<>(),;:"]+$)"},
    Form{"hexcolor", "^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$"},
    Form{"hostname",
         R"(^[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$)"},
    Form{"mac",
         "^([0-9a-fA-F]{2}[:-]){5}([0-9a-fA-F]{2}[:-]){0,2}[0-9a-fA-F]{2}$|^([0-9a-fA-F]{4}\\.){2,3}[0-9a-fA-F]{4}$"},
    Form{"rgbcolor",
         R"(^rgb\(\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*(,\s*(0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*){2}\)$)"},
    Form{"ssn", R"(^\d{3}[- ]?\d{2}[- ]?\d{4}$)"},
    Form{"uri", R"(^([A-Za-z][A-Za-z0-9+.\-]*:[^\s\x00-\x1f]*|/[^\s\x00-\x1f]*)$)"},
    Form{"uuid", "^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
    Form{"uuid3", "^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$"},
    Form{"uuid4", "^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"},
    Form{"uuid5", "^(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$"},
};

const TextPattern* form_of(std::string_view format) {
    static const auto kPatterns = [] {
        std::vector<TextPattern> compiled;
        for (const Form& form : kForms) {
            auto pattern = TextPattern::compile(form.pattern);
            ensure(pattern.has_value(), "a pattern of our own compiles");
            compiled.push_back(*std::move(pattern));
        }
        return compiled;
    }();
    const auto at = std::find_if(kForms.begin(), kForms.end(), [&](const Form& each) { return each.format == format; });
    return at == kForms.end() ? nullptr : &kPatterns[static_cast<std::size_t>(at - kForms.begin())];
}

}  // namespace

bool is_of_format(std::string_view text, std::string_view format) {
    if (format == "date-time" || format == "datetime") return from_rfc3339(text).has_value();
    if (format == "date") return is_date(text);
    if (format == "byte") return is_base64(text);
    if (format == "ipv4") return is_ip_address(text) && text.find(':') == std::string_view::npos;
    if (format == "ipv6") return is_ip_address(text) && text.find(':') != std::string_view::npos;
    if (format == "cidr") return is_cidr(text);
    if (format == "isbn") return is_isbn(text, 10) || is_isbn(text, 13);
    if (format == "isbn10") return is_isbn(text, 10);
    if (format == "isbn13") return is_isbn(text, 13);
    if (format == "creditcard") return is_card(text);
    const TextPattern* form = form_of(format);
    return form == nullptr || form->matches(text);
}

}  // namespace rhizome::cluster
