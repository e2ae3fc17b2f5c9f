// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

/// Where documents stand. A key is a row of components, each followed by a zero byte; order is that of the bytes, and a
/// resource's key is a proper prefix of its descendants' keys and of no others.
///
///     text for people                            key (· is a zero byte)
///     /                                          cluster·
///     /nodes/n1            /nodes/n1/report      cluster·nodes·n1·          cluster·nodes·n1·report·
///     /jointokens/t1                             cluster·jointokens·t1·
///     /namespaces/default                        cluster·namespaces·default·
///     /namespaces/default/apps/Deployment/web    cluster·namespaces·default·apps·Deployment·web·
///     /global/storage.k8s.io/StorageClass/fast   cluster·global·storage.k8s.io·StorageClass·fast·
///     /chain/voters                              chain·voters·
///
/// Kubernetes' group without a name is written `core`.
namespace rhizome::state {

enum class PathFault : unsigned char {
    Empty,         ///< a component is empty
    TooLong,       ///< a component, or the whole key, is longer than its bound
    TooMany,       ///< more components than a chain path may have
    BadByte,       ///< a control character, a zero byte or a slash inside a component
    Dots,          ///< a component is `.` or `..`, which tools take for a direction
    BadShape,      ///< not one of the shapes above
    ReservedKind,  ///< a kind with a place of its own (Node, Namespace, …) asked for as an ordinary one
    NotAbsolute,   ///< the text does not begin with a slash
};
std::string_view name(PathFault fault);
Error to_error(PathFault fault);

/// Names and groups are DNS subdomains, namespaces DNS labels, kinds fit a label too: Kubernetes' own bounds.
inline constexpr std::size_t kNameBytesMax = 253;
inline constexpr std::size_t kNamespaceBytesMax = 63;
inline constexpr std::size_t kGroupBytesMax = 253;
inline constexpr std::size_t kKindBytesMax = 63;
inline constexpr std::size_t kChainPartsMax = 8;
/// cluster· namespaces· and four components with their zero bytes come to 8 + 11 + 64 + 254 + 64 + 254 = 655; the rest
/// is room for chain paths. Below 8,192 bits, so a bit position fits 13.
inline constexpr std::size_t kPathBytesMax = 1023;

/// All keys that begin with some whole components: what is listed, counted and cut off together. An own type, so that a
/// path is not cut off by mistake.
class Prefix {
public:
    static Prefix everything() { return Prefix{std::string{}}; }
    /// The Cluster and all documents below it; not what the chain keeps for itself.
    static Prefix documents();
    static Prefix nodes();
    static Prefix join_tokens();
    static Prefix namespaces();
    static Result<Prefix, PathFault> in_namespace(std::string_view namespace_name);
    static Result<Prefix, PathFault> kind_in_namespace(std::string_view namespace_name, std::string_view group,
                                                       std::string_view kind);
    static Result<Prefix, PathFault> cluster_scoped_kind(std::string_view group, std::string_view kind);
    /// Below `/chain/`; no parts: all of it.
    static Result<Prefix, PathFault> chain(std::initializer_list<std::string_view> parts);
    /// Any row of whole components, as another machine sent it.
    static Result<Prefix, PathFault> from_key(ByteView key);

    [[nodiscard]] const std::string& key() const { return key_; }
    [[nodiscard]] bool covers(std::string_view key) const { return key.starts_with(key_); }

    friend auto operator<=>(const Prefix&, const Prefix&) = default;
    friend bool operator==(const Prefix&, const Prefix&) = default;

private:
    friend class Path;
    explicit Prefix(std::string key) : key_(std::move(key)) {}
    std::string key_;
};

class Path {
public:
    /// What stands at a path. `Namespaced` and `ClusterScoped` are all kinds without a place of their own.
    enum class Shape : unsigned char {
        Cluster,
        Node,
        NodeReport,
        JoinToken,
        Namespace,
        Namespaced,
        ClusterScoped,
        Chain
    };

    static Path cluster();
    static Result<Path, PathFault> node(std::string_view name);
    static Result<Path, PathFault> node_report(std::string_view node);
    static Result<Path, PathFault> join_token(std::string_view name);
    static Result<Path, PathFault> namespace_(std::string_view name);  // NOLINT(readability-identifier-naming): keyword
    static Result<Path, PathFault> namespaced(std::string_view namespace_name, std::string_view group,
                                              std::string_view kind, std::string_view name);
    static Result<Path, PathFault> cluster_scoped(std::string_view group, std::string_view kind, std::string_view name);
    static Result<Path, PathFault> chain(std::initializer_list<std::string_view> parts);

    /// The one path of a resource by its identity; `namespace_name` empty for what has none. Finds the kinds that have
    /// a place of their own, so no resource can have two paths. There is one Cluster, whatever it calls itself.
    static Result<Path, PathFault> of(std::string_view group, std::string_view kind, std::string_view namespace_name,
                                      std::string_view name);

    /// What a person typed.
    static Result<Path, PathFault> parse(std::string_view text);
    /// A key that another machine or an old file holds.
    static Result<Path, PathFault> from_key(ByteView key);
    /// A key that was checked when it came in.
    static Path from_checked_key(std::string_view key) { return Path{std::string{key}}; }

    [[nodiscard]] std::string text() const;
    [[nodiscard]] const std::string& key() const { return key_; }

    [[nodiscard]] Shape shape() const;
    /// Identity as the document spells it: the group is empty for the core group. All empty for chain paths; the
    /// Cluster's name is not part of its path and comes back empty.
    [[nodiscard]] std::string_view group() const;
    [[nodiscard]] std::string_view kind() const;
    [[nodiscard]] std::string_view namespace_name() const;
    [[nodiscard]] std::string_view name() const;

    /// Whose authority covers this one: nothing for the Cluster and for chain paths.
    [[nodiscard]] std::optional<Path> parent() const;
    /// Its key, which is a prefix of this one's; empty when there is no parent.
    [[nodiscard]] std::string_view parent_key() const;
    /// Nearest first; the last one is the Cluster.
    [[nodiscard]] std::vector<Path> ancestors() const;
    [[nodiscard]] bool is_ancestor_of(const Path& other) const;
    /// Steps below the Cluster: 0 for it and for chain paths, at most 2.
    [[nodiscard]] unsigned depth() const;
    /// This path and all below it: what goes when the resource goes.
    [[nodiscard]] Prefix subtree() const { return Prefix{key_}; }

    friend auto operator<=>(const Path&, const Path&) = default;
    friend bool operator==(const Path&, const Path&) = default;

private:
    explicit Path(std::string key) : key_(std::move(key)) {}
    [[nodiscard]] std::string_view component(std::size_t index) const;
    std::string key_;
};

}  // namespace rhizome::state
