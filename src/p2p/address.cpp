// SPDX-License-Identifier: Apache-2.0
#include "p2p/address.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include <fmt/core.h>

namespace rhizome::p2p {
namespace {

constexpr std::array<std::uint8_t, 12> kV4Prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::size_t kWords = 8;

/// All of `text` as a number of at most `most`, without sign or superfluous zeros.
std::optional<std::uint32_t> number_of(std::string_view text, int base, std::uint32_t most) {
    std::uint32_t value = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (fault != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
    if (base == 10 && text.size() > 1 && text[0] == '0') return std::nullopt;  // some read 010 as 8
    return value;
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<std::array<std::uint8_t, 4>> parse_v4(std::string_view text) {
    const auto parts = split(text, '.');
    if (parts.size() != 4) return std::nullopt;
    std::array<std::uint8_t, 4> bytes{};
    for (std::size_t i = 0; i < 4; ++i) {
        const auto value = number_of(parts[i], 10, 255);
        if (!value) return std::nullopt;
        bytes[i] = static_cast<std::uint8_t>(*value);
    }
    return bytes;
}

/// The 16-bit words of one side of `::`. At the end of an address the last part may be IPv4 in dots.
std::optional<std::vector<std::uint16_t>> parse_words(std::string_view text, bool at_end) {
    std::vector<std::uint16_t> words;
    if (text.empty()) return words;
    const auto parts = split(text, ':');
    if (parts.size() > kWords) return std::nullopt;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (at_end && i + 1 == parts.size() && parts[i].find('.') != std::string_view::npos) {
            const auto v4 = parse_v4(parts[i]);
            if (!v4) return std::nullopt;
            words.push_back(static_cast<std::uint16_t>((*v4)[0] << 8 | (*v4)[1]));
            words.push_back(static_cast<std::uint16_t>((*v4)[2] << 8 | (*v4)[3]));
            continue;
        }
        if (parts[i].size() > 4) return std::nullopt;
        const auto value = number_of(parts[i], 16, 0xffff);
        if (!value) return std::nullopt;
        words.push_back(static_cast<std::uint16_t>(*value));
    }
    return words;
}

std::optional<std::array<std::uint8_t, 16>> parse_v6(std::string_view text) {
    const std::size_t gap = text.find("::");
    const bool has_gap = gap != std::string_view::npos;
    const auto front = parse_words(text.substr(0, gap), !has_gap);
    const auto back = parse_words(has_gap ? text.substr(gap + 2) : std::string_view{}, true);
    if (!front || !back) return std::nullopt;
    const std::size_t given = front->size() + back->size();
    if (has_gap ? given >= kWords : given != kWords) return std::nullopt;
    std::array<std::uint8_t, 16> ip{};
    const auto write = [&](std::size_t word, std::uint16_t value) {
        ip[2 * word] = static_cast<std::uint8_t>(value >> 8);
        ip[2 * word + 1] = static_cast<std::uint8_t>(value);
    };
    for (std::size_t i = 0; i < front->size(); ++i) write(i, (*front)[i]);
    for (std::size_t i = 0; i < back->size(); ++i) write(kWords - back->size() + i, (*back)[i]);
    return ip;
}

/// RFC 5952: the longest run of zero words, the first of several, becomes `::`.
std::string v6_text(const std::array<std::uint8_t, 16>& ip) {
    std::array<std::uint16_t, kWords> words{};
    for (std::size_t i = 0; i < kWords; ++i) words[i] = static_cast<std::uint16_t>(ip[2 * i] << 8 | ip[2 * i + 1]);
    std::size_t gap = kWords;
    std::size_t gap_size = 1;  // a single zero is written out
    for (std::size_t i = 0; i < kWords; ++i) {
        std::size_t size = 0;
        while (i + size < kWords && words[i + size] == 0) ++size;
        if (size > gap_size) {
            gap = i;
            gap_size = size;
        }
    }
    std::string text;
    for (std::size_t i = 0; i < kWords; ++i) {
        if (i == gap) {
            text += "::";
            i += gap_size - 1;
            continue;
        }
        if (!text.empty() && text.back() != ':') text += ':';
        text += fmt::format("{:x}", words[i]);
    }
    return text;
}

}  // namespace

Result<Address> Address::parse(std::string_view text) {
    const auto bad = [&] {
        return fail(ErrorKind::Invalid,
                    fmt::format("\"{}\" is no address: write 10.0.0.7:7700 or [fe80::1]:7700", text.substr(0, 64)));
    };
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return bad();
    const auto port = number_of(text.substr(colon + 1), 10, 65'535);
    if (!port || *port == 0) return bad();
    std::string_view host = text.substr(0, colon);
    Address address;
    if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
        const auto ip = parse_v6(host.substr(1, host.size() - 2));
        if (!ip) return bad();
        address.ip = *ip;
        address.port = static_cast<std::uint16_t>(*port);
        return address;
    }
    const auto ip = parse_v4(host);
    if (!ip) return bad();
    return v4((*ip)[0], (*ip)[1], (*ip)[2], (*ip)[3], static_cast<std::uint16_t>(*port));
}

Address Address::v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, std::uint16_t port) {
    Address address;
    std::copy(kV4Prefix.begin(), kV4Prefix.end(), address.ip.begin());
    address.ip[12] = a;
    address.ip[13] = b;
    address.ip[14] = c;
    address.ip[15] = d;
    address.port = port;
    return address;
}

bool Address::is_v4() const { return std::equal(kV4Prefix.begin(), kV4Prefix.end(), ip.begin()); }

bool Address::is_loopback() const {
    if (is_v4()) return ip[12] == 127;
    return std::all_of(ip.begin(), ip.end() - 1, [](std::uint8_t byte) { return byte == 0; }) && ip[15] == 1;
}

bool Address::is_routable() const {
    if (port == 0) return false;
    if (is_v4()) return ip[12] != 0 && ip[12] < 224;  // 0/8 "this network", 224/4 multicast, 240/4 reserved, broadcast
    if (ip[0] == 0xff) return false;
    return std::any_of(ip.begin(), ip.end(), [](std::uint8_t byte) { return byte != 0; });
}

Scope Address::scope() const {
    if (is_loopback()) return Scope::Host;
    const bool lan = is_v4() ? ip[12] == 10 || (ip[12] == 172 && (ip[13] & 0xf0) == 16) ||
                                   (ip[12] == 192 && ip[13] == 168) || (ip[12] == 169 && ip[13] == 254) ||
                                   (ip[12] == 100 && (ip[13] & 0xc0) == 64)
                             : (ip[0] & 0xfe) == 0xfc || (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80);
    return lan ? Scope::Lan : Scope::World;
}

AddressGroup Address::group() const {
    std::array<std::uint8_t, AddressGroup::kSize> bytes{};
    const Scope reach = scope();
    bytes[0] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(reach) + 1);
    const std::size_t prefix = reach != Scope::World ? ip.size() : is_v4() ? kV4Prefix.size() + 2 : 4;
    std::copy_n(ip.begin(), prefix, bytes.begin() + 1);
    if (reach == Scope::Host) {
        bytes[17] = static_cast<std::uint8_t>(port >> 8);
        bytes[18] = static_cast<std::uint8_t>(port);
    }
    return AddressGroup{bytes};
}

std::string to_text(const Address& address) {
    if (address.is_v4())
        return fmt::format("{}.{}.{}.{}:{}", address.ip[12], address.ip[13], address.ip[14], address.ip[15],
                           address.port);
    return fmt::format("[{}]:{}", v6_text(address.ip), address.port);
}

void put(Writer& out, const Address& address) { out.raw(address.ip).u16(address.port); }

Result<Address, DecodeFault> get_address(Reader& in) {
    Address address;
    TRY(address.ip, in.array<16>());
    TRY(address.port, in.u16());
    return address;
}

}  // namespace rhizome::p2p
