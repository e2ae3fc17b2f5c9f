// SPDX-License-Identifier: Apache-2.0
#include "api/request.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/core.h>

#include "api/detail/text.h"

namespace rhizome::api {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// A segment with its escapes undone; nothing when one is broken, or gives a slash or a zero byte.
std::optional<std::string> segment(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (i + 2 >= text.size()) return std::nullopt;
        const int high = digit_of(text[i + 1]);
        const int low = digit_of(text[i + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        const char c = static_cast<char>(high * 16 + low);
        if (c == '/' || c == '\0') return std::nullopt;
        out += c;
        i += 2;
    }
    return out;
}

/// A media range with its parameters: `application/json;as=Table;v=v1;g=meta.k8s.io`.
struct Range {
    std::string_view type{};
    std::string_view as{};
    std::string_view version{};
    std::string_view group{};
};

std::vector<Range> ranges_of(std::string_view accept) {
    std::vector<Range> ranges;
    for (const std::string_view part : detail::split(accept, ',')) {
        const auto words = detail::split(part, ';');
        Range range{.type = trimmed(words.front())};
        if (range.type.empty()) continue;
        for (std::size_t i = 1; i < words.size(); ++i) {
            const std::string_view word = trimmed(words[i]);
            const std::size_t equals = word.find('=');
            if (equals == std::string_view::npos) continue;
            const std::string_view key = word.substr(0, equals);
            const std::string_view value = word.substr(equals + 1);
            if (key == "as") range.as = value;
            if (key == "v") range.version = value;
            if (key == "g") range.group = value;
        }
        ranges.push_back(range);
    }
    return ranges;
}

/// Where `proxy` ends in `api/v1/namespaces/NS/services/NAME/proxy…` or `api/v1/nodes/NAME/proxy…`; 0: there is none.
std::size_t end_of_proxy(std::string_view path) {
    const auto parts = detail::split(path, '/');
    const bool inside = parts.size() > 2 && parts[2] == "namespaces";
    const std::size_t at = inside ? 6 : 4;
    if (parts.size() <= at || parts[0] != "api" || parts[at] != "proxy") return 0;
    return static_cast<std::size_t>(parts[at].data() + parts[at].size() - path.data());
}

bool is_json(std::string_view type) { return type == "application/json" || type == "*/*" || type == "application/*"; }

}  // namespace

std::string_view name(Verb verb) {
    constexpr std::array<std::string_view, 8> kNames{"get",    "list",  "watch",  "create",
                                                     "update", "patch", "delete", "deletecollection"};
    return kNames[static_cast<std::size_t>(verb)];
}

std::optional<ResourcePath> parse_resource_path(std::string_view path) {
    if (!path.starts_with('/')) return std::nullopt;
    path.remove_prefix(1);
    ResourcePath out;
    // What is behind `proxy` is somebody else's path.
    if (const std::size_t end = end_of_proxy(path); end != 0) {
        out.rest = path.substr(end);
        path = path.substr(0, end);
    }
    if (path.ends_with('/')) path.remove_suffix(1);
    std::vector<std::string> parts;
    for (const std::string_view part : detail::split(path, '/')) {
        auto decoded = segment(part);
        if (!decoded || decoded->empty()) return std::nullopt;
        parts.push_back(*std::move(decoded));
    }
    std::size_t at = 0;
    if (parts.size() >= 3 && parts[0] == "api") {
        out.version = parts[1];
        at = 2;
    } else if (parts.size() >= 4 && parts[0] == "apis") {
        out.group = parts[1];
        out.version = parts[2];
        at = 3;
    } else {
        return std::nullopt;
    }
    // `namespaces/web` is the Namespace itself, `namespaces/web/status` a part of it; anything else is inside it.
    if (parts[at] == "namespaces" && parts.size() > at + 2 && parts[at + 2] != "status" &&
        parts[at + 2] != "finalize") {
        out.name_space = parts[at + 1];
        at += 2;
    }
    out.resource = parts[at++];
    if (at < parts.size()) out.name = parts[at++];
    if (at < parts.size()) out.subresource = parts[at++];
    if (at < parts.size()) return std::nullopt;
    return out;
}

std::string_view Query::text(std::string_view name) const {
    for (const auto& [key, value] : pairs_)
        if (key == name) return value;
    return {};
}

bool Query::has(std::string_view name) const {
    return std::any_of(pairs_.begin(), pairs_.end(), [&](const auto& pair) { return pair.first == name; });
}

bool Query::flag(std::string_view name) const {
    const std::string_view value = text(name);
    return value == "true" || value == "1" || value == "True" || value == "TRUE" || value == "t" || value == "T";
}

Result<std::optional<std::uint64_t>, Status> Query::number(std::string_view name) const {
    const std::string_view value = text(name);
    if (value.empty()) return std::optional<std::uint64_t>{};
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size())
        return Fail{bad_request(fmt::format("{} is no whole number", name))};
    return std::optional{number};
}

std::vector<std::string_view> Query::all(std::string_view name) const {
    std::vector<std::string_view> found;
    for (const auto& [key, value] : pairs_)
        if (key == name) found.push_back(value);
    return found;
}

std::optional<Verb> verb_of(std::string_view method, const ResourcePath& path, const Query& query) {
    const bool one = !path.name.empty();
    if (method == "GET" || method == "HEAD") {
        if (one) return Verb::Get;
        return query.flag("watch") ? Verb::Watch : Verb::List;
    }
    if (method == "POST") return Verb::Create;
    if (method == "PUT") return Verb::Update;
    if (method == "PATCH") return Verb::Patch;
    if (method == "DELETE") return one ? Verb::Delete : Verb::DeleteCollection;
    return std::nullopt;
}

std::optional<Form> form_wanted(std::string_view accept) {
    const auto ranges = ranges_of(accept);
    if (ranges.empty()) return Form::Object;
    for (const Range& range : ranges) {
        if (!is_json(range.type)) continue;
        if (range.as.empty()) return Form::Object;
        if (range.group != "meta.k8s.io" || range.version != "v1") continue;
        if (range.as == "Table") return Form::Table;
        if (range.as == "PartialObjectMetadata" || range.as == "PartialObjectMetadataList") return Form::Metadata;
    }
    return std::nullopt;
}

std::string_view aggregated_discovery_wanted(std::string_view accept) {
    for (const Range& range : ranges_of(accept)) {
        if (!is_json(range.type)) continue;
        if (range.as == "APIGroupDiscoveryList" && range.group == "apidiscovery.k8s.io" &&
            (range.version == "v2" || range.version == "v2beta1"))
            return range.version == "v2" ? "v2" : "v2beta1";
        if (range.as.empty()) return {};
    }
    return {};
}

}  // namespace rhizome::api
