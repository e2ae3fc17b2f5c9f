// SPDX-License-Identifier: Apache-2.0
#include "api/proxied.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/core.h>

#include "api/detail/text.h"
#include "api/service_address.h"
#include "cluster/names.h"

namespace rhizome::api {
namespace {

using Octets = std::array<std::uint8_t, 16>;

template <class Number>
std::optional<Number> number_of(std::string_view text, int base = 10) {
    Number number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

/// The bytes of `a:b:c` behind one another, an IPv4 tail as four.
std::vector<std::uint8_t> octets_of_groups(std::string_view groups) {
    std::vector<std::uint8_t> out;
    if (groups.empty()) return out;
    for (const std::string_view group : detail::split(groups, ':')) {
        if (group.find('.') == std::string_view::npos) {
            const auto number = number_of<std::uint16_t>(group, 16).value_or(0);
            out.push_back(static_cast<std::uint8_t>(number >> 8));
            out.push_back(static_cast<std::uint8_t>(number & 0xff));
            continue;
        }
        for (const std::string_view part : detail::split(group, '.'))
            out.push_back(number_of<std::uint8_t>(part).value_or(0));
    }
    return out;
}

/// An address in numbers, IPv4 as the part of IPv6 that stands for it. Nothing for anything else.
std::optional<Octets> octets_of(std::string_view text) {
    if (!cluster::is_ip_address(text)) return std::nullopt;
    Octets octets{};
    if (text.find(':') == std::string_view::npos) {
        octets[10] = octets[11] = 0xff;
        const auto last = octets_of_groups(text);
        std::copy(last.begin(), last.end(), octets.begin() + 12);
        return octets;
    }
    const std::size_t gap = text.find("::");
    const auto before = octets_of_groups(text.substr(0, gap));
    std::copy(before.begin(), before.end(), octets.begin());
    if (gap != std::string_view::npos) {
        const auto after = octets_of_groups(text.substr(gap + 2));
        std::copy_backward(after.begin(), after.end(), octets.end());
    }
    return octets;
}

Status not_allowed(std::string_view address) { return bad_request(fmt::format("address not allowed: {}", address)); }

Result<std::uint16_t, Status> port_number(std::string_view text, std::string_view what, std::string_view name) {
    const auto number = number_of<std::uint16_t>(text);
    if (!number || *number == 0)
        return Fail{bad_request(fmt::format("invalid {} request \"{}:{}\"", what, name, text))};
    return *number;
}

const json::Array& array_at(const json::Value& object, std::initializer_list<std::string_view> keys) {
    static const json::Array kNone;
    const json::Value* found = object.find_path(keys);
    return found == nullptr || !found->is_array() ? kNone : *found->if_array();
}

bool equals_in_any_case(std::string_view left, std::string_view right) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

/// Of RFC 9110: what concerns one connection.
bool is_of_connection(std::string_view name, const std::vector<Header>& all) {
    constexpr std::array<std::string_view, 9> kAlways{
        "Connection", "Proxy-Connection",  "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "TE",
        "Trailer",    "Transfer-Encoding", "Upgrade"};
    const auto is = [name](std::string_view word) { return equals_in_any_case(name, word); };
    if (std::any_of(kAlways.begin(), kAlways.end(), is)) return true;
    for (const Header& field : all) {
        if (!equals_in_any_case(field.name, "Connection")) continue;
        for (std::string_view word : detail::split(field.value, ',')) {
            while (word.starts_with(' ') || word.starts_with('\t')) word.remove_prefix(1);
            while (word.ends_with(' ') || word.ends_with('\t')) word.remove_suffix(1);
            if (is(word)) return true;
        }
    }
    return false;
}

bool begins_in_any_case(std::string_view text, std::string_view with) {
    return text.size() >= with.size() && equals_in_any_case(text.substr(0, with.size()), with);
}

/// Who asks, and how this server knows; and what this server says of it itself.
bool is_for_this_server(std::string_view name) {
    constexpr std::array<std::string_view, 6> kWords{
        "Authorization", "Expect", "X-Forwarded-Uri", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For"};
    return std::any_of(kWords.begin(), kWords.end(),
                       [name](std::string_view word) { return equals_in_any_case(name, word); }) ||
           begins_in_any_case(name, "Impersonate-") || begins_in_any_case(name, "X-Remote-");
}

/// `Location` of an answer as the client would reach it. One that leads elsewhere, or is relative to where the client
/// is, stays.
std::string rewritten(std::string_view location, const ProxiedFrom& from, const ProxiedTo& to) {
    std::string_view left = location;
    bool is_whole = false;
    std::string_view host;
    if (const std::size_t scheme = left.find("://");
        scheme != std::string_view::npos && left.substr(0, scheme).find_first_of("/?#") == std::string_view::npos) {
        is_whole = true;
        left.remove_prefix(scheme + 3);
    } else if (left.starts_with("//")) {
        is_whole = true;
        left.remove_prefix(2);
    }
    if (is_whole) {
        host = left.substr(0, left.find_first_of("/?#"));
        left.remove_prefix(host.size());
    }
    const bool leads_elsewhere = !host.empty() && host != to.authority() && host != from.host &&
                                 !(host == to.host && to.port == (to.tls ? 443 : 80));
    if (leads_elsewhere || !left.starts_with('/')) return std::string{location};
    const std::string_view path = left.substr(0, left.find_first_of("?#"));
    const bool has_prefix =
        path.starts_with(from.prefix) && (path.size() == from.prefix.size() || path[from.prefix.size()] == '/');
    return fmt::format("{}{}{}{}", is_whole ? "https://" : "", is_whole ? from.host : "", has_prefix ? "" : from.prefix,
                       left);
}

}  // namespace

std::optional<ProxiedName> parse_proxied_name(std::string_view text) {
    const auto parts = detail::split(text, ':');
    if (parts.size() > 3) return std::nullopt;
    const std::string_view scheme = parts.size() == 3 ? parts[0] : "";
    ProxiedName out{.tls = scheme == "https",
                    .name = std::string{parts.size() == 3 ? parts[1] : parts[0]},
                    .port = std::string{parts.size() == 1 ? std::string_view{} : parts.back()}};
    if (out.name.empty() || (!scheme.empty() && scheme != "http" && scheme != "https")) return std::nullopt;
    return out;
}

bool may_be_dialled(std::string_view address, bool loopback_too) {
    const auto octets = octets_of(address);
    if (!octets) return false;
    const auto& all = *octets;
    const bool leading_zeros = std::all_of(all.begin(), all.begin() + 10, [](std::uint8_t one) { return one == 0; });
    if (leading_zeros && all[10] == 0xff && all[11] == 0xff) {
        if (all[12] == 127) return loopback_too;
        const bool link_local = all[12] == 169 && all[13] == 254;
        // 0/8 is this machine's too; from 224 on: multicast, reserved, broadcast.
        return all[12] != 0 && !link_local && all[12] < 224;
    }
    // `::`, `::1`, and the old form of IPv4 in IPv6.
    if (leading_zeros && all[10] == 0 && all[11] == 0)
        return loopback_too && all[15] == 1 && all[12] == 0 && all[13] == 0 && all[14] == 0;
    const bool link_local = all[0] == 0xfe && (all[1] & 0xc0) == 0x80;
    return all[0] != 0xff && !link_local;
}

std::string ProxiedTo::authority() const {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

Result<ProxiedTo, Status> proxied_service(const state::StateView& chain, std::string_view name_space,
                                          const ProxiedName& asked, std::size_t turn, bool loopback_too) {
    std::string port = asked.port;
    if (const auto number = number_of<std::int64_t>(asked.port)) {
        const auto known = port_name_of_service(chain, name_space, asked.name, *number);
        if (!known)
            return Fail{
                unavailable(fmt::format("no service port {} found for service \"{}\"", asked.port, asked.name))};
        port = *known;
    }
    const auto found = endpoints_of_service(chain, name_space, asked.name, port);
    if (found.empty()) return Fail{unavailable(fmt::format("no endpoints available for service \"{}\"", asked.name))};
    for (std::size_t i = 0; i < found.size(); ++i) {
        const ServiceAddress& one = found[(turn + i) % found.size()];
        if (may_be_dialled(one.host, loopback_too))
            return ProxiedTo{.tls = asked.tls, .host = one.host, .port = one.port};
    }
    return Fail{not_allowed(found.front().host)};
}

Result<ProxiedTo, Status> proxied_pod(const json::Value& pod, const ProxiedName& asked, bool loopback_too) {
    const std::string host{pod.text_at({"status", "podIP"})};
    if (host.empty())
        return Fail{unavailable(fmt::format("pod \"{}\" cannot be reached: no node runs it", asked.name))};
    if (!may_be_dialled(host, loopback_too)) return Fail{not_allowed(host)};
    ProxiedTo to{.tls = asked.tls, .host = host, .port = static_cast<std::uint16_t>(asked.tls ? 443 : 80)};
    if (!asked.port.empty()) {
        TRY(to.port, port_number(asked.port, "pod", asked.name));
        return to;
    }
    for (const json::Value& container : array_at(pod, {"spec", "containers"}))
        for (const json::Value& port : array_at(container, {"ports"})) {
            const json::Value* number = port.find("containerPort");
            const auto held = number == nullptr ? std::nullopt : number->if_int64();
            if (!held || *held <= 0 || *held > 65'535) continue;
            to.port = static_cast<std::uint16_t>(*held);
            return to;
        }
    return to;
}

Result<ProxiedTo, Status> proxied_node(const json::Value& node, const ProxiedName& asked, bool loopback_too) {
    std::string host;
    for (const json::Value& one : array_at(node, {"status", "addresses"}))
        if (host.empty() && one.text_at({"type"}) == "InternalIP") host = one.text_at({"address"});
    if (host.empty())
        return Fail{unavailable(fmt::format("node \"{}\" cannot be reached: it has told no address", asked.name))};
    if (!may_be_dialled(host, loopback_too)) return Fail{not_allowed(host)};
    ProxiedTo to{.tls = asked.tls, .host = host};
    if (!asked.port.empty()) {
        TRY(to.port, port_number(asked.port, "node", asked.name));
        return to;
    }
    const json::Value* agent = node.find_path({"status", "daemonEndpoints", "kubeletEndpoint", "Port"});
    const auto held = agent == nullptr ? std::nullopt : agent->if_int64();
    if (!held || *held <= 0 || *held > 65'535)
        return Fail{
            unavailable(fmt::format("node \"{}\" cannot be reached: it runs no agent yet; one of its ports is "
                                    "named nodes/{}:PORT/proxy",
                                    asked.name, asked.name))};
    to.tls = true;
    to.port = static_cast<std::uint16_t>(*held);
    return to;
}

HeaderFields fields_passed_on(const std::vector<Header>& asked, const ProxiedFrom& from) {
    HeaderFields out;
    std::string way;
    for (const Header& field : asked) {
        if (equals_in_any_case(field.name, "X-Forwarded-For")) way += fmt::format("{}, ", field.value);
        if (is_of_connection(field.name, asked) || is_for_this_server(field.name)) continue;
        out.emplace_back(field.name, field.value);
    }
    out.emplace_back("X-Forwarded-For", way + from.client);
    out.emplace_back("X-Forwarded-Host", from.host);
    out.emplace_back("X-Forwarded-Proto", "https");
    out.emplace_back("X-Forwarded-Uri", from.prefix + from.rest);
    return out;
}

HeaderFields fields_passed_back(const std::vector<Header>& answered, const ProxiedFrom& from, const ProxiedTo& to) {
    HeaderFields out;
    for (const Header& field : answered) {
        // Who else may read this server's answers in a browser is not for those behind it to say.
        if (is_of_connection(field.name, answered) || begins_in_any_case(field.name, "Access-Control-Allow-")) continue;
        const bool leads = equals_in_any_case(field.name, "Location");
        out.emplace_back(field.name, leads ? rewritten(field.value, from, to) : std::string{field.value});
    }
    return out;
}

}  // namespace rhizome::api
