// SPDX-License-Identifier: Apache-2.0
#include "http/message.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/json.h"

namespace rhizome::http {
namespace {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

std::string_view trimmed(std::string_view text) {
    const auto from = text.find_first_not_of(" \t");
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

/// Calls `each` with the comma-separated parts of `text` until it answers true; whether it did.
template <class Each>
bool any_part(std::string_view text, const Each& each) {
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        if (each(trimmed(text.substr(at, comma - at)))) return true;
        at = comma + 1;
    }
    return false;
}

int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (lower(c) >= 'a' && lower(c) <= 'f') return lower(c) - 'a' + 10;
    return -1;
}

struct Named {
    unsigned status;
    std::string_view reason;
};
constexpr Named kReasons[] = {
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Content"},
    {426, "Upgrade Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

}  // namespace

bool equals_ignoring_case(std::string_view left, std::string_view right) {
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
    for (const auto& [key, value] : fields_)
        if (equals_ignoring_case(key, name)) return value;
    return std::nullopt;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
    std::vector<std::string_view> found;
    for (const auto& [key, value] : fields_)
        if (equals_ignoring_case(key, name)) found.emplace_back(value);
    return found;
}

bool Headers::has_word(std::string_view name, std::string_view word) const {
    for (const auto& [key, value] : fields_)
        if (equals_ignoring_case(key, name) &&
            any_part(value, [&](std::string_view part) { return equals_ignoring_case(part, word); }))
            return true;
    return false;
}

void Headers::add(std::string_view name, std::string_view value) {
    fields_.emplace_back(std::string(name), std::string(value));
}

void Headers::set(std::string_view name, std::string_view value) {
    const auto same = [&](const Field& field) { return equals_ignoring_case(field.first, name); };
    const auto first = std::find_if(fields_.begin(), fields_.end(), same);
    if (first == fields_.end()) return add(name, value);
    first->second = value;
    fields_.erase(std::remove_if(first + 1, fields_.end(), same), fields_.end());
}

void Headers::remove(std::string_view name) {
    std::erase_if(fields_, [&](const Field& field) { return equals_ignoring_case(field.first, name); });
}

std::string_view Request::path() const {
    const std::string_view whole = target;
    const std::string_view path = whole.substr(0, whole.find('?'));
    return path.empty() ? std::string_view("/") : path;
}

std::string_view Request::query() const {
    const std::string_view whole = target;
    const std::size_t mark = whole.find('?');
    return mark == std::string_view::npos ? std::string_view{} : whole.substr(mark + 1);
}

std::string_view reason(unsigned status) {
    for (const Named& each : kReasons)
        if (each.status == status) return each.reason;
    return "Unknown";
}

std::optional<std::string> percent_decode(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = hex_value(text[i + 1]);
        const int low = hex_value(text[i + 2]);
        if (high < 0 || low < 0 || (high == 0 && low == 0)) return std::nullopt;
        out += static_cast<char>(high * 16 + low);
        i += 2;
    }
    return out;
}

std::string percent_encode(std::string_view text) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
        const bool plain = (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                           c == '_' || c == '~';
        if (plain) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
        }
    }
    return out;
}

std::optional<std::vector<std::pair<std::string, std::string>>> parse_query(std::string_view query) {
    std::vector<std::pair<std::string, std::string>> out;
    const auto decoded = [](std::string_view text) {
        std::string plain{text};
        std::replace(plain.begin(), plain.end(), '+', ' ');
        return percent_decode(plain);
    };
    for (std::size_t at = 0; at < query.size();) {
        const std::size_t end = std::min(query.find('&', at), query.size());
        const std::string_view pair = query.substr(at, end - at);
        at = end + 1;
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        auto name = decoded(pair.substr(0, equals));
        auto value = decoded(pair.substr(std::min(equals + 1, pair.size())));
        if (!name || !value || out.size() == kQueryPairsMax) return std::nullopt;
        out.emplace_back(std::move(*name), std::move(*value));
    }
    return out;
}

bool is_token(std::string_view text) {
    constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
        return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') ||
               kMarks.find(c) != std::string_view::npos;
    });
}

bool is_header_value(std::string_view text) {
    return std::none_of(text.begin(), text.end(),
                        [](char c) { return (static_cast<unsigned char>(c) < 32 && c != '\t') || c == 127; });
}

bool accepts(const Headers& headers, std::string_view name, std::string_view word) {
    bool any = false;
    bool found = false;
    bool welcome = false;
    for (const std::string_view field : headers.all(name)) {
        any_part(field, [&](std::string_view part) {
            const std::size_t mark = std::min(part.find(';'), part.size());
            const std::string_view what = trimmed(part.substr(0, mark));
            std::string_view weight = trimmed(part.substr(std::min(mark + 1, part.size())));
            // `q=0`, `q=0.0`, `q=0.000` mean no.
            const bool no = weight.starts_with("q=0") && weight.find_first_not_of("0.", 2) == std::string_view::npos;
            if (equals_ignoring_case(what, word)) {
                found = true;
                welcome = !no;
            } else if (what == "*" && !no) {
                any = true;
            }
            return false;
        });
    }
    return found ? welcome : any;
}

Response error_response(unsigned status, std::string_view message, const Headers* asked) {
    Response response{.status = status};
    bool wants_json = false;
    if (asked != nullptr)
        for (const std::string_view field : asked->all("Accept"))
            wants_json = wants_json || field.find("application/json") != std::string_view::npos;
    if (wants_json) {
        response.headers.add("Content-Type", "application/json");
        json::Value body = json::Object{};
        body["status"] = static_cast<std::int64_t>(status);
        body["reason"] = reason(status);
        body["message"] = message;
        response.body = json::print(body) + "\n";
    } else {
        response.headers.add("Content-Type", "text/plain; charset=utf-8");
        response.body = fmt::format("{} {}: {}\n", status, reason(status), message);
    }
    // A page that echoes a stranger's words must not be taken for a script.
    response.headers.add("X-Content-Type-Options", "nosniff");
    return response;
}

}  // namespace rhizome::http
