// SPDX-License-Identifier: Apache-2.0
#include "stream/address.h"

#include <charconv>

#include <fmt/core.h>

namespace rhizome::stream {
namespace {

/// What a socket path may take (sockaddr_un has room for 108 bytes with the zero at the end).
constexpr std::size_t kLocalPathMax = 107;
/// Longer names than DNS has (253) are no names.
constexpr std::size_t kHostMax = 253;
/// Keeps a stranger's text in an error readable.
constexpr std::size_t kShownMax = 80;

Fail<Error> bad(std::string_view text, std::string_view why) {
    return fail(ErrorKind::Invalid, fmt::format("\"{}\" is no address: {}; write host:port, [v6]:port or unix:/path",
                                                text.substr(0, kShownMax), why));
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
    if (text.starts_with("unix:")) {
        const std::string_view path = text.substr(5);
        if (path.empty() || path.size() > kLocalPathMax) return bad(text, "a socket's path has 1 to 107 bytes");
        return Address{std::string(path), 0, true};
    }
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return bad(text, "it has no port");
    std::string_view host = text.substr(0, colon);
    const std::string_view digits = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']') && host.size() > 2) {
        host = host.substr(1, host.size() - 2);
    } else if (host.find_first_of(":[]") != std::string_view::npos) {
        return bad(text, "an IPv6 number stands in brackets");
    }
    if (host.empty() || host.size() > kHostMax) return bad(text, "a host has 1 to 253 characters");
    Address address{std::string(host), 0, false};
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), address.port);
    if (failed != std::errc{} || end != digits.data() + digits.size()) return bad(text, "a port is 0 to 65535");
    return address;
}

std::string Address::text() const {
    if (is_local) return "unix:" + host;
    return host.find(':') != std::string::npos ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace rhizome::stream
