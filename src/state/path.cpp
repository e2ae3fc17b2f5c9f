// SPDX-License-Identifier: Apache-2.0
#include "state/path.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/ensure.h"

namespace rhizome::state {
namespace {

constexpr std::string_view kCluster{"cluster\0", 8};
constexpr std::string_view kChain{"chain\0", 6};
constexpr std::string_view kCoreGroup = "core";
constexpr std::string_view kOurGroup = "rhizome.dev";

/// The row of a shape: fixed words and, in between, components with a bound.
struct Part {
    std::string_view word;  ///< empty: a component that somebody chose
    std::size_t bytes_max = 0;
};
constexpr std::size_t kComponentsMax = 5;
struct Row {
    Path::Shape shape;
    std::size_t count;
    std::array<Part, kComponentsMax> parts;
};
constexpr Row kRows[] = {
    {Path::Shape::Cluster, 0, {}},
    {Path::Shape::Node, 2, {{{"nodes"}, {{}, kNameBytesMax}}}},
    {Path::Shape::NodeReport, 3, {{{"nodes"}, {{}, kNameBytesMax}, {"report"}}}},
    {Path::Shape::JoinToken, 2, {{{"jointokens"}, {{}, kNameBytesMax}}}},
    {Path::Shape::Namespace, 2, {{{"namespaces"}, {{}, kNamespaceBytesMax}}}},
    {Path::Shape::Namespaced,
     5,
     {{{"namespaces"}, {{}, kNamespaceBytesMax}, {{}, kGroupBytesMax}, {{}, kKindBytesMax}, {{}, kNameBytesMax}}}},
    {Path::Shape::ClusterScoped, 4, {{{"global"}, {{}, kGroupBytesMax}, {{}, kKindBytesMax}, {{}, kNameBytesMax}}}},
};

/// Kinds that have a place of their own.
struct Placed {
    std::string_view group;
    std::string_view kind;
    Path::Shape shape;
};
constexpr Placed kPlaced[] = {
    {kOurGroup, "Cluster", Path::Shape::Cluster},       {"", "Node", Path::Shape::Node},
    {kOurGroup, "NodeReport", Path::Shape::NodeReport}, {kOurGroup, "JoinToken", Path::Shape::JoinToken},
    {"", "Namespace", Path::Shape::Namespace},
};

const Placed* placed(std::string_view group, std::string_view kind) {
    const auto* at = std::find_if(std::begin(kPlaced), std::end(kPlaced),
                                  [&](const Placed& row) { return row.group == group && row.kind == kind; });
    return at == std::end(kPlaced) ? nullptr : at;
}

const Placed* placed(Path::Shape shape) {
    const auto* at =
        std::find_if(std::begin(kPlaced), std::end(kPlaced), [&](const Placed& row) { return row.shape == shape; });
    return at == std::end(kPlaced) ? nullptr : at;
}

Result<void, PathFault> check_component(std::string_view text, std::size_t bytes_max) {
    if (text.empty()) return Fail{PathFault::Empty};
    if (text.size() > bytes_max) return Fail{PathFault::TooLong};
    for (const char byte : text) {
        const auto value = static_cast<unsigned char>(byte);
        if (value < 0x20 || value == 0x7f || byte == '/') return Fail{PathFault::BadByte};
    }
    if (text == "." || text == "..") return Fail{PathFault::Dots};
    return {};
}

/// The written form of a group. `core` itself is no group of Kubernetes', so two groups never share a form.
Result<std::string_view, PathFault> group_component(std::string_view group) {
    if (group == kCoreGroup) return Fail{PathFault::BadShape};
    return group.empty() ? kCoreGroup : group;
}

/// The component at the front of `rest`, which moves behind it.
std::string_view take_component(std::string_view& rest) {
    const std::size_t end = rest.find('\0');
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return part;
}

std::string join(std::string_view root, std::span<const std::string_view> parts) {
    std::size_t size = root.size();
    for (const std::string_view part : parts) size += part.size() + 1;
    std::string key;
    key.reserve(size);
    key += root;
    for (const std::string_view part : parts) (key += part) += '\0';
    return key;
}
std::string join(std::string_view root, std::initializer_list<std::string_view> parts) {
    return join(root, std::span{parts.begin(), parts.size()});
}

bool fits_words(const Row& row, std::span<const std::string_view> parts) {
    if (row.count != parts.size()) return false;
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (!row.parts[i].word.empty() && row.parts[i].word != parts[i]) return false;
    return true;
}

/// Checks components below the Cluster against the shapes; no two shapes fit the same row.
Result<void, PathFault> check_document(std::span<const std::string_view> parts) {
    const auto* row =
        std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return fits_words(r, parts); });
    if (row == std::end(kRows)) return Fail{PathFault::BadShape};
    for (std::size_t i = 0; i < parts.size(); ++i)
        if (row->parts[i].word.empty()) TRY(check_component(parts[i], row->parts[i].bytes_max));
    if (row->shape == Path::Shape::Namespaced || row->shape == Path::Shape::ClusterScoped) {
        const std::string_view group = parts[parts.size() - 3], kind = parts[parts.size() - 2];
        if (placed(group == kCoreGroup ? "" : group, kind) != nullptr) return Fail{PathFault::ReservedKind};
    }
    return {};
}

Result<void, PathFault> check_chain(std::span<const std::string_view> parts) {
    if (parts.empty()) return Fail{PathFault::BadShape};
    if (parts.size() > kChainPartsMax) return Fail{PathFault::TooMany};
    for (const std::string_view part : parts) TRY(check_component(part, kNameBytesMax));
    return {};
}

/// The components of a stranger's key, each checked on its own.
Result<std::vector<std::string_view>, PathFault> components_of(std::string_view key) {
    if (key.size() > kPathBytesMax) return Fail{PathFault::TooLong};
    if (!key.empty() && key.back() != '\0') return Fail{PathFault::BadShape};
    std::vector<std::string_view> parts;
    while (!key.empty()) {
        parts.push_back(take_component(key));
        TRY(check_component(parts.back(), kNameBytesMax));
    }
    return parts;
}

Result<std::string, PathFault> document_key(std::initializer_list<std::string_view> parts) {
    TRY(check_document(std::span{parts.begin(), parts.size()}));
    return join(kCluster, parts);
}

}  // namespace

std::string_view name(PathFault fault) {
    switch (fault) {
        case PathFault::Empty: return "Empty";
        case PathFault::TooLong: return "TooLong";
        case PathFault::TooMany: return "TooMany";
        case PathFault::BadByte: return "BadByte";
        case PathFault::Dots: return "Dots";
        case PathFault::BadShape: return "BadShape";
        case PathFault::ReservedKind: return "ReservedKind";
        case PathFault::NotAbsolute: return "NotAbsolute";
    }
    unreachable("all path faults are named");
}

Error to_error(PathFault fault) {
    const auto sentence = [&]() -> std::string_view {
        switch (fault) {
            case PathFault::Empty: return "a part of the path is empty";
            case PathFault::TooLong: return "a part of the path, or the whole, is too long";
            case PathFault::TooMany: return "the path has too many parts";
            case PathFault::BadByte: return "a part of the path holds a control character or a slash";
            case PathFault::Dots: return "a part of the path is \".\" or \"..\"";
            case PathFault::BadShape:
                return "no resource has such a path; paths look like /namespaces/default/apps/Deployment/web";
            case PathFault::ReservedKind: return "this kind has a path of its own, like /nodes/n1";
            case PathFault::NotAbsolute: return "a path begins with a slash";
        }
        unreachable("all path faults have a sentence");
    };
    return {ErrorKind::Invalid, std::string{sentence()}};
}

// ---- prefixes -----------------------------------------------------------------------------------------------------

Prefix Prefix::documents() { return Prefix{std::string{kCluster}}; }
Prefix Prefix::nodes() { return Prefix{join(kCluster, {"nodes"})}; }
Prefix Prefix::join_tokens() { return Prefix{join(kCluster, {"jointokens"})}; }
Prefix Prefix::namespaces() { return Prefix{join(kCluster, {"namespaces"})}; }

Result<Prefix, PathFault> Prefix::in_namespace(std::string_view namespace_name) {
    TRY(const Path path, Path::namespace_(namespace_name));
    return path.subtree();
}

Result<Prefix, PathFault> Prefix::kind_in_namespace(std::string_view namespace_name, std::string_view group,
                                                    std::string_view kind) {
    TRY(const std::string_view written, group_component(group));
    TRY(check_component(namespace_name, kNamespaceBytesMax));
    TRY(check_component(written, kGroupBytesMax));
    TRY(check_component(kind, kKindBytesMax));
    return Prefix{join(kCluster, {"namespaces", namespace_name, written, kind})};
}

Result<Prefix, PathFault> Prefix::cluster_scoped_kind(std::string_view group, std::string_view kind) {
    TRY(const std::string_view written, group_component(group));
    TRY(check_component(written, kGroupBytesMax));
    TRY(check_component(kind, kKindBytesMax));
    return Prefix{join(kCluster, {"global", written, kind})};
}

Result<Prefix, PathFault> Prefix::chain(std::initializer_list<std::string_view> parts) {
    if (parts.size() > 0) TRY(check_chain(std::span{parts.begin(), parts.size()}));
    std::string key = join(kChain, parts);
    if (key.size() > kPathBytesMax) return Fail{PathFault::TooLong};
    return Prefix{std::move(key)};
}

Result<Prefix, PathFault> Prefix::from_key(ByteView key) {
    TRY(components_of(as_text(key)));
    return Prefix{std::string{as_text(key)}};
}

// ---- making paths -------------------------------------------------------------------------------------------------

Path Path::cluster() { return Path{std::string{kCluster}}; }

Result<Path, PathFault> Path::node(std::string_view name) {
    TRY(auto key, document_key({"nodes", name}));
    return Path{std::move(key)};
}
Result<Path, PathFault> Path::node_report(std::string_view node) {
    TRY(auto key, document_key({"nodes", node, "report"}));
    return Path{std::move(key)};
}
Result<Path, PathFault> Path::join_token(std::string_view name) {
    TRY(auto key, document_key({"jointokens", name}));
    return Path{std::move(key)};
}
Result<Path, PathFault> Path::namespace_(std::string_view name) {
    TRY(auto key, document_key({"namespaces", name}));
    return Path{std::move(key)};
}
Result<Path, PathFault> Path::namespaced(std::string_view namespace_name, std::string_view group, std::string_view kind,
                                         std::string_view name) {
    TRY(const std::string_view written, group_component(group));
    TRY(auto key, document_key({"namespaces", namespace_name, written, kind, name}));
    return Path{std::move(key)};
}
Result<Path, PathFault> Path::cluster_scoped(std::string_view group, std::string_view kind, std::string_view name) {
    TRY(const std::string_view written, group_component(group));
    TRY(auto key, document_key({"global", written, kind, name}));
    return Path{std::move(key)};
}
Result<Path, PathFault> Path::chain(std::initializer_list<std::string_view> parts) {
    TRY(check_chain(std::span{parts.begin(), parts.size()}));
    std::string key = join(kChain, parts);
    if (key.size() > kPathBytesMax) return Fail{PathFault::TooLong};
    return Path{std::move(key)};
}

Result<Path, PathFault> Path::of(std::string_view group, std::string_view kind, std::string_view namespace_name,
                                 std::string_view name) {
    const Placed* place = placed(group, kind);
    if (place == nullptr)
        return namespace_name.empty() ? cluster_scoped(group, kind, name)
                                      : namespaced(namespace_name, group, kind, name);
    if (!namespace_name.empty()) return Fail{PathFault::BadShape};
    switch (place->shape) {
        case Shape::Cluster: return cluster();
        case Shape::Node: return node(name);
        case Shape::NodeReport: return node_report(name);
        case Shape::JoinToken: return join_token(name);
        case Shape::Namespace: return namespace_(name);
        case Shape::Namespaced:
        case Shape::ClusterScoped:
        case Shape::Chain: break;
    }
    unreachable("only kinds with a place of their own are in the table");
}

Result<Path, PathFault> Path::parse(std::string_view text) {
    if (!text.starts_with('/')) return Fail{PathFault::NotAbsolute};
    if (text.size() > kPathBytesMax) return Fail{PathFault::TooLong};
    if (text == "/") return cluster();
    text.remove_prefix(1);
    std::string key{text};
    if (key.find('\0') != std::string::npos) return Fail{PathFault::BadByte};
    std::replace(key.begin(), key.end(), '/', '\0');
    key += '\0';
    if (!key.starts_with(kChain)) key.insert(0, kCluster);
    return from_key(as_bytes(key));
}

Result<Path, PathFault> Path::from_key(ByteView bytes) {
    const std::string_view key = as_text(bytes);
    TRY(const auto parts, components_of(key));
    if (key.starts_with(kCluster))
        TRY(check_document(std::span{parts}.subspan(1)));
    else if (key.starts_with(kChain))
        TRY(check_chain(std::span{parts}.subspan(1)));
    else
        return Fail{PathFault::BadShape};
    return Path{std::string{key}};
}

// ---- looking at paths ---------------------------------------------------------------------------------------------

std::string Path::text() const {
    if (key_ == kCluster) return "/";
    std::string text = "/";
    text += key_.starts_with(kCluster) ? std::string_view{key_}.substr(kCluster.size()) : std::string_view{key_};
    text.pop_back();
    std::replace(text.begin(), text.end(), '\0', '/');
    return text;
}

Path::Shape Path::shape() const {
    if (key_.starts_with(kChain)) return Shape::Chain;
    // Asked of every transaction several times over, so nothing is allocated.
    std::array<std::string_view, kComponentsMax> parts;
    std::size_t count = 0;
    for (std::string_view rest = std::string_view{key_}.substr(kCluster.size()); !rest.empty(); ++count) {
        ensure(count < kComponentsMax, "a document's path has at most five components below the Cluster");
        parts[count] = take_component(rest);
    }
    for (const Row& row : kRows)
        if (fits_words(row, std::span{parts}.first(count))) return row.shape;
    unreachable("a path has one of the shapes");
}

std::string_view Path::component(std::size_t index) const {
    std::string_view rest = key_;
    for (; index > 0; --index) rest.remove_prefix(rest.find('\0') + 1);
    return rest.substr(0, rest.find('\0'));
}

std::string_view Path::group() const {
    const Shape here = shape();
    if (here == Shape::Chain) return {};
    if (const Placed* place = placed(here)) return place->group;
    const std::string_view written = component(here == Shape::Namespaced ? 3 : 2);
    return written == kCoreGroup ? std::string_view{} : written;
}

std::string_view Path::kind() const {
    const Shape here = shape();
    if (here == Shape::Chain) return {};
    if (const Placed* place = placed(here)) return place->kind;
    return component(here == Shape::Namespaced ? 4 : 3);
}

std::string_view Path::namespace_name() const {
    return shape() == Shape::Namespaced ? component(2) : std::string_view{};
}

std::string_view Path::name() const {
    switch (shape()) {
        case Shape::Cluster:
        case Shape::Chain: return {};
        case Shape::Node:
        case Shape::NodeReport:
        case Shape::JoinToken:
        case Shape::Namespace: return component(2);
        case Shape::Namespaced: return component(5);
        case Shape::ClusterScoped: return component(4);
    }
    unreachable("all shapes have a name or none");
}

std::string_view Path::parent_key() const {
    const std::string_view key = key_;
    switch (shape()) {
        case Shape::Cluster:
        case Shape::Chain: return {};
        case Shape::NodeReport:
        case Shape::Namespaced: {
            std::size_t end = 0;
            for (int i = 0; i < 3; ++i) end = key.find('\0', end) + 1;  // cluster· nodes· n1·
            return key.substr(0, end);
        }
        case Shape::Node:
        case Shape::JoinToken:
        case Shape::Namespace:
        case Shape::ClusterScoped: return key.substr(0, kCluster.size());
    }
    unreachable("all shapes have a parent or none");
}

std::optional<Path> Path::parent() const {
    const std::string_view key = parent_key();
    if (key.empty()) return std::nullopt;
    return Path{std::string{key}};
}

std::vector<Path> Path::ancestors() const {
    std::vector<Path> found;
    found.reserve(2);
    for (std::optional<Path> up = parent(); up; up = found.back().parent()) found.push_back(*up);
    return found;
}

bool Path::is_ancestor_of(const Path& other) const {
    // Chain paths have no ancestors, though their keys may be prefixes of one another.
    return other.key_.size() > key_.size() && other.key_.starts_with(key_) && key_.starts_with(kCluster);
}

unsigned Path::depth() const {
    switch (shape()) {
        case Shape::Cluster:
        case Shape::Chain: return 0;
        case Shape::Node:
        case Shape::JoinToken:
        case Shape::Namespace:
        case Shape::ClusterScoped: return 1;
        case Shape::NodeReport:
        case Shape::Namespaced: return 2;
    }
    unreachable("all shapes have a depth");
}

}  // namespace rhizome::state
