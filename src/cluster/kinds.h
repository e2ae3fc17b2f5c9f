// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/schema.h"

/// Which kinds of resources there are: their names, versions, scope, verbs, columns and schema.
namespace rhizome::cluster {

enum class Verb : std::uint8_t { Create, Delete, DeleteCollection, Get, List, Patch, Update, Watch };
inline constexpr std::size_t kVerbCount = 8;
/// As discovery spells it: `deletecollection`.
std::string_view name(Verb verb);

struct VerbSet {
    std::uint8_t bits = 0;
    [[nodiscard]] constexpr bool contains(Verb verb) const { return (bits >> static_cast<unsigned>(verb) & 1u) != 0; }
    [[nodiscard]] constexpr VerbSet with(Verb verb) const {
        return {static_cast<std::uint8_t>(bits | 1u << static_cast<unsigned>(verb))};
    }
    /// In the alphabetical order of discovery documents.
    [[nodiscard]] std::vector<std::string_view> names() const;
    friend constexpr bool operator==(const VerbSet&, const VerbSet&) = default;
};

/// A column of `kubectl get`.
struct Column {
    std::string_view name{};  ///< `Last Seen`; kubectl prints it in capitals
    std::string_view type{};  ///< of OpenAPI: `string`, `integer`, `date`
    std::string_view format{};
    std::string_view description{};
    std::uint8_t priority = 0;     ///< 0: always; more: only with `-o wide`
    std::string_view json_path{};  ///< custom kinds only: where the cell comes from
};

struct Subresource {
    std::string_view name{};  ///< `status`, `scale`, `log`
    std::string_view group{};
    std::string_view version{};
    std::string_view kind{};  ///< what is sent and answered, often not the resource's own kind
    VerbSet verbs{};
};

/// Where documents of a kind live.
enum class Keeping : std::uint8_t {
    Chain,
    Gossip,   ///< many and short-lived (events, leases): told to the other nodes with an expiry, off the chain
    Nowhere,  ///< answered and forgotten (reviews), or computed when asked for (component statuses)
};

struct CustomRules;        // custom_definition.h
struct ServedDefinitions;  // custom_definition.h

/// One kind in one version. Views point at constant data, or into what `Kinds` holds for a custom kind.
struct Kind {
    std::string_view group{};  ///< empty for the core group
    std::string_view version{};
    std::string_view kind{};
    std::string_view plural{};  ///< the resource: `pods`
    std::string_view singular{};
    std::string_view list_name{};  ///< kind of a list of it, where that is not the kind with `List` behind it
    std::string_view message{};    ///< protobuf; empty for custom kinds, which are sent as JSON only
    std::span<const std::string_view> short_names{};
    std::span<const std::string_view> categories{};  ///< `all`, `api-extensions`
    std::span<const Column> columns{};               ///< empty: Name and Age
    std::span<const Subresource> subresources{};
    std::span<const std::string_view> field_selectors{};  ///< sorted; `metadata.name` is always among them
    const Schema* schema = nullptr;                       ///< null: any object with metadata
    VerbSet verbs{};
    bool namespaced = false;
    bool preferred = true;  ///< the version that clients use when they name none
    bool custom = false;    ///< from a CustomResourceDefinition: no strategic merge patch, no protobuf
    Keeping keeping = Keeping::Chain;
    /// Something in Rhizome does what documents of this kind say. False: they are stored, checked, shown and watched,
    /// and nothing follows from them yet; the API warns whoever writes one.
    bool acted_on = false;
    /// Custom kinds: what else their definition says, structural schema and all. Null for Kubernetes' own.
    const CustomRules* rules = nullptr;
    /// CustomResourceDefinition itself: what became of each of them, for the status that is shown.
    const ServedDefinitions* served = nullptr;

    /// `apps/v1`, `v1`: as documents spell it.
    [[nodiscard]] std::string api_version() const;
    /// `deployments.apps`, `pods`: as errors of the API spell it.
    [[nodiscard]] std::string resource() const;
    [[nodiscard]] std::string list_kind() const {
        return list_name.empty() ? std::string(kind) + "List" : std::string(list_name);
    }
    [[nodiscard]] const Subresource* find_subresource(std::string_view subresource) const;
    [[nodiscard]] bool selects(std::string_view field) const;
};

/// A custom kind in one version, as somebody read it from its definition.
struct CustomKind {
    struct Cell {
        std::string name{};
        std::string type{};
        std::string format{};
        std::string description{};
        std::uint8_t priority = 0;
        std::string json_path{};
    };
    std::string group{};
    std::string version{};
    std::string kind{};
    std::string plural{};
    std::string singular{};
    std::string list_kind{};  ///< empty: the kind with `List` behind it
    std::vector<std::string> short_names{};
    std::vector<std::string> categories{};
    std::vector<Cell> columns{};
    std::vector<std::string> selectable_fields{};
    bool namespaced = true;
    bool preferred = true;
    bool status = false;  ///< has the subresource
    bool scale = false;
    std::shared_ptr<const Schema> schema{};  ///< null: anything goes
    std::shared_ptr<const CustomRules> rules{};
};
/// The kind with the texts that its views point at.
std::shared_ptr<const Kind> hold_kind(CustomKind custom);

/// The registry. A value: copies share the kinds, so a reader keeps the registry that it began with while another one
/// learns a definition. Pointers it gives out live as long as any copy that holds the kind.
class Kinds {
public:
    /// With Kubernetes' own kinds. Costs about 60 small allocations.
    Kinds();

    /// By the path of a request: `apps`, `v1`, `deployments`.
    [[nodiscard]] const Kind* find(std::string_view group, std::string_view version, std::string_view plural) const;
    /// By the words of a document: `apps`, `v1`, `Deployment`.
    [[nodiscard]] const Kind* find_kind(std::string_view group, std::string_view version, std::string_view kind) const;
    /// The preferred version of what a path of the state names; null when nothing is known of it.
    [[nodiscard]] const Kind* preferred(std::string_view group, std::string_view kind) const;

    /// Sorted by group, plural, then the preferred version first.
    [[nodiscard]] std::span<const std::shared_ptr<const Kind>> all() const { return kinds_; }
    /// The groups there are, the core group first, the others by name.
    [[nodiscard]] std::vector<std::string_view> groups() const;
    /// The versions of a group, the preferred one first.
    [[nodiscard]] std::vector<std::string_view> versions(std::string_view group) const;
    [[nodiscard]] std::vector<const Kind*> of_version(std::string_view group, std::string_view version) const;

    /// Adds a kind, or changes the custom one of the same group, version and plural. Refuses what would take a name
    /// from another kind of its group.
    Result<void> add(const CustomKind& kind) { return add(hold_kind(kind)); }
    /// The same for one that is held already, so that what points at it stays good from registry to registry.
    Result<void> add(std::shared_ptr<const Kind> custom);
    /// Takes all versions of a custom kind out; false when there was none.
    bool remove(std::string_view group, std::string_view plural);

    /// From now on CustomResourceDefinitions are shown with this as their status.
    void show_served(std::shared_ptr<const ServedDefinitions> served);

    /// Grows with every change: for caches of what is made from the registry, and their ETag.
    [[nodiscard]] std::uint64_t revision() const { return revision_; }

private:
    std::vector<std::shared_ptr<const Kind>> kinds_;
    std::uint64_t revision_ = 0;
};

/// `apps/v1` into group and version, `v1` into the core group's; nothing when it has two slashes or no version.
struct GroupVersion {
    std::string_view group{};
    std::string_view version{};
    friend bool operator==(const GroupVersion&, const GroupVersion&) = default;
};
std::optional<GroupVersion> parse_api_version(std::string_view text);

/// The version that Kubernetes' rule calls the greater one: v2 > v1 > v1beta2 > v1beta1 > v1alpha1 > anything else.
bool version_before(std::string_view left, std::string_view right);

}  // namespace rhizome::cluster
