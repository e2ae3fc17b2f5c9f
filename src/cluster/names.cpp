// SPDX-License-Identifier: Apache-2.0
#include "cluster/names.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

#include "base/ensure.h"

namespace rhizome::cluster {
namespace {

constexpr std::size_t kLabelMax = 63;
constexpr std::size_t kSubdomainMax = 253;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
bool is_alphanumeric(char c) { return is_lower(c) || is_upper(c) || is_digit(c); }
template <class Test>
bool all(std::string_view text, Test test) {
    return std::all_of(text.begin(), text.end(), test);
}

std::string too_long(std::size_t bytes_max) { return fmt::format("must be no more than {} characters", bytes_max); }

bool is_label_form(std::string_view text) {
    return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
           all(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_subdomain_form(std::string_view text) {
    for (;;) {
        const std::size_t dot = text.find('.');
        if (!is_label_form(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

/// `[A-Za-z0-9]` at both ends, `-_.` between.
bool is_name_form(std::string_view text) {
    return !text.empty() && is_alphanumeric(text.front()) && is_alphanumeric(text.back()) &&
           all(text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

constexpr std::string_view kLabelWords =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainWords =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view k1035Words =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kNameWords =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueWords =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kConfigWords =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
    "'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
constexpr std::string_view kEnvironmentWords =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";

/// A number of at most three digits without a leading zero, as parts of an address are.
std::optional<unsigned> small_number(std::string_view text, unsigned most) {
    if (text.empty() || text.size() > 3 || !all(text, is_digit) || (text.size() > 1 && text.front() == '0'))
        return std::nullopt;
    unsigned number = 0;
    for (const char c : text) number = number * 10 + static_cast<unsigned>(c - '0');
    return number <= most ? std::optional(number) : std::nullopt;
}

bool is_ipv4(std::string_view text) {
    for (int part = 0; part < 4; ++part) {
        const std::size_t dot = part < 3 ? text.find('.') : text.size();
        if (dot == std::string_view::npos || !small_number(text.substr(0, dot), 255)) return false;
        text.remove_prefix(std::min(text.size(), dot + 1));
    }
    return true;
}

bool is_group(std::string_view text) {
    return !text.empty() && text.size() <= 4 &&
           all(text, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); });
}

/// How many 16-bit groups a run of `a:b:c` has, an IPv4 tail counting for two; nothing when it is malformed.
std::optional<int> count_groups(std::string_view text, bool tail_may_be_ipv4) {
    int groups = 0;
    while (!text.empty()) {
        const std::size_t colon = text.find(':');
        const std::string_view part = text.substr(0, colon);
        const bool last = colon == std::string_view::npos;
        if (last && tail_may_be_ipv4 && is_ipv4(part)) return groups + 2;
        if (!is_group(part)) return std::nullopt;
        ++groups;
        if (last) return groups;
        text.remove_prefix(colon + 1);
        if (text.empty()) return std::nullopt;
    }
    return groups;
}

bool is_ipv6(std::string_view text) {
    const std::size_t gap = text.find("::");
    if (gap == std::string_view::npos) return count_groups(text, true) == 8;
    const auto before = count_groups(text.substr(0, gap), false);
    const auto after = count_groups(text.substr(gap + 2), true);
    return before && after && *before + *after <= 7;
}

}  // namespace

Complaints check_dns_label(std::string_view text) {
    Complaints found;
    if (text.size() > kLabelMax) found.push_back(too_long(kLabelMax));
    if (!is_label_form(text)) found.emplace_back(kLabelWords);
    return found;
}

Complaints check_dns_subdomain(std::string_view text) {
    Complaints found;
    if (text.size() > kSubdomainMax) found.push_back(too_long(kSubdomainMax));
    if (!is_subdomain_form(text)) found.emplace_back(kSubdomainWords);
    return found;
}

Complaints check_dns_1035_label(std::string_view text) {
    Complaints found;
    if (text.size() > kLabelMax) found.push_back(too_long(kLabelMax));
    if (!is_label_form(text) || !is_lower(text.front())) found.emplace_back(k1035Words);
    return found;
}

Complaints check_qualified_name(std::string_view text) {
    Complaints found;
    const std::size_t slash = text.find('/');
    if (slash != std::string_view::npos && text.find('/', slash + 1) != std::string_view::npos)
        return {
            fmt::format("a qualified name {} with an optional DNS subdomain prefix and '/' (e.g. "
                        "'example.com/MyName')",
                        kNameWords)};
    if (slash != std::string_view::npos) {
        const std::string_view prefix = text.substr(0, slash);
        if (prefix.empty())
            found.emplace_back("prefix part must be non-empty");
        else
            for (const std::string& complaint : check_dns_subdomain(prefix))
                found.push_back("prefix part " + complaint);
    }
    const std::string_view name = slash == std::string_view::npos ? text : text.substr(slash + 1);
    if (name.empty())
        found.emplace_back("name part must be non-empty");
    else if (name.size() > kLabelMax)
        found.push_back("name part " + too_long(kLabelMax));
    if (!is_name_form(name)) found.push_back(fmt::format("name part {}", kNameWords));
    return found;
}

Complaints check_label_value(std::string_view text) {
    Complaints found;
    if (text.size() > kLabelMax) found.push_back(too_long(kLabelMax));
    if (!text.empty() && !is_name_form(text)) found.emplace_back(kValueWords);
    return found;
}

Complaints check_path_segment(std::string_view text) {
    Complaints found;
    if (text == "." || text == "..") return {fmt::format("may not be '{}'", text)};
    for (const char bad : {'/', '%'})
        if (text.find(bad) != std::string_view::npos) found.push_back(fmt::format("may not contain '{}'", bad));
    return found;
}

Complaints check_config_key(std::string_view text) {
    Complaints found;
    if (text.size() > kSubdomainMax) found.push_back(too_long(kSubdomainMax));
    if (text.empty() || !all(text, [](char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }))
        found.emplace_back(kConfigWords);
    if (text == "." || text == "..")
        found.push_back(fmt::format("must not be '{}'", text));
    else if (text.starts_with(".."))
        found.emplace_back("must not start with '..'");
    return found;
}

Complaints check_port_name(std::string_view text) {
    Complaints found;
    if (text.size() > 15) found.push_back(too_long(15));
    if (!all(text, [](char c) { return is_lower_or_digit(c) || c == '-'; }))
        found.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (std::none_of(text.begin(), text.end(), is_lower)) found.emplace_back("must contain at least one letter (a-z)");
    if (text.find("--") != std::string_view::npos) found.emplace_back("must not contain consecutive hyphens");
    if (text.starts_with('-') || text.ends_with('-')) found.emplace_back("must not begin or end with a hyphen");
    return found;
}

Complaints check_environment_name(std::string_view text) {
    if (text.empty() || !all(text, [](char c) { return c >= ' ' && c <= '~' && c != '='; }))
        return {std::string(kEnvironmentWords)};
    return {};
}

bool is_ip_address(std::string_view text) { return is_ipv4(text) || is_ipv6(text); }

bool is_cidr(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return false;
    const std::string_view address = text.substr(0, slash);
    const std::string_view bits = text.substr(slash + 1);
    return (is_ipv4(address) && small_number(bits, 32)) || (is_ipv6(address) && small_number(bits, 128));
}

std::string generated_name(std::string_view base, ByteView seed) {
    // Without vowels and the digits that look like letters, as Kubernetes does, so that no word is spelt by accident.
    static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
    constexpr std::size_t kSuffix = 5;
    ensure(seed.size() >= 8, "a name is made of at least 8 bytes of a hash");
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number = number << 8 | seed[i];
    std::string out(base.substr(0, kLabelMax - kSuffix));
    for (std::size_t i = 0; i < kSuffix; ++i) {
        out.push_back(kLetters[number % kLetters.size()]);
        number /= kLetters.size();
    }
    return out;
}

std::string uid_from(ByteView hash) {
    ensure(hash.size() >= 16, "a uid is made of 16 bytes of a hash");
    static constexpr std::string_view kHex = "0123456789abcdef";
    std::string out;
    for (std::size_t i = 0; i < 16; ++i) {
        unsigned byte = hash[i];
        if (i == 6) byte = (byte & 0x0fu) | 0x80u;  // version 8
        if (i == 8) byte = (byte & 0x3fu) | 0x80u;  // the variant of RFC 9562
        if (i == 4 || i == 6 || i == 8 || i == 10) out.push_back('-');
        out.push_back(kHex[byte >> 4]);
        out.push_back(kHex[byte & 15u]);
    }
    return out;
}

bool is_uid(std::string_view text) {
    if (text.size() != 36) return false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
        const char c = text[i];
        if (dash ? c != '-' : !(is_digit(c) || (c >= 'a' && c <= 'f'))) return false;
    }
    return true;
}

}  // namespace rhizome::cluster
