// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "cluster/field_error.h"
#include "cluster/schema.h"
#include "cluster/text_pattern.h"

/// The schema of a custom kind: Kubernetes' structural schemas (OpenAPI v3 with its `x-kubernetes-` members), read once
/// from a CustomResourceDefinition, then used for every document: what is unknown is cut out, what is missing filled
/// in, what is wrong named.
namespace rhizome::cluster {

enum class SchemaType : std::uint8_t { None, Object, Array, String, Integer, Number, Boolean };
/// `integer`; empty for None.
std::string_view name(SchemaType type);

/// One place. Below `allOf`, `anyOf`, `oneOf` and `not` it only has what judges values.
struct StructuralSchema {
    struct Property {
        std::string name{};
        std::unique_ptr<const StructuralSchema> schema{};  ///< never null
    };
    using Node = std::unique_ptr<const StructuralSchema>;

    // What documents are made of.
    SchemaType type = SchemaType::None;
    bool nullable = false;
    bool int_or_string = false;
    bool preserves_unknown = false;
    bool embedded = false;    ///< a whole object of Kubernetes with apiVersion, kind and metadata
    bool map_atomic = false;  ///< objects: server-side apply owns it as a whole
    bool any_member = false;  ///< `additionalProperties: true`
    ListType list_type = ListType::Atomic;
    std::vector<std::string> list_keys{};
    std::vector<Property> properties{};  ///< sorted by name
    Node additional{};                   ///< of members that `properties` does not name
    Node items{};
    std::optional<json::Value> fallback{};  ///< `default`

    // What judges values.
    std::string format{};
    std::optional<json::Number> minimum{};
    std::optional<json::Number> maximum{};
    bool above_minimum = false;  ///< `exclusiveMinimum`
    bool below_maximum = false;
    std::optional<json::Number> multiple_of{};
    std::optional<std::int64_t> length_min{};
    std::optional<std::int64_t> length_max{};
    std::optional<std::int64_t> items_min{};
    std::optional<std::int64_t> items_max{};
    std::optional<std::int64_t> members_min{};
    std::optional<std::int64_t> members_max{};
    std::optional<TextPattern> pattern{};
    std::vector<json::Value> values{};  ///< `enum`
    std::vector<std::string> required{};
    std::vector<Node> all_of{};
    std::vector<Node> any_of{};
    std::vector<Node> one_of{};
    Node negated{};
    bool has_rules = false;  ///< `x-kubernetes-validations`, which are kept and not enforced

    /// The schema of a member that `properties` names; null when there is none.
    [[nodiscard]] const StructuralSchema* find(std::string_view property) const;
    /// Of any member: by name, else what `additionalProperties` says; null when nothing is said.
    [[nodiscard]] const StructuralSchema* member(std::string_view property) const {
        const StructuralSchema* known = find(property);
        return known != nullptr ? known : additional.get();
    }
};

/// Places in a schema, all together. Kubernetes has no such bound but that of a request's body (3 MiB).
inline constexpr std::size_t kSchemaNodesMax = 100'000;
/// Places inside each other.
inline constexpr std::size_t kSchemaDepthMax = 50;

/// Reads `openAPIV3Schema`, which stands at `where`. Adds what is wrong to `errors`, with Kubernetes' causes: what it
/// does not support (`$ref`, so no schema refers to itself), what is no structural schema, patterns that do not
/// compile, defaults that their own schema refuses. Null when something was added.
std::shared_ptr<const StructuralSchema> read_structural(const json::Value& schema, const Where& where,
                                                        FieldErrors& errors);

/// Whether some place has `x-kubernetes-validations`.
bool has_rules(const StructuralSchema& schema);
/// Whether some place has a default.
bool has_defaults(const StructuralSchema& schema);

/// The same as nodes of `schema.h`, which server-side apply and field ownership read: types, list keys, atomic places.
/// Shares nothing with `schema`. `metadata` is Kubernetes' own.
std::shared_ptr<const Schema> schema_nodes(const StructuralSchema& schema);

namespace detail {
/// Whether a schema that was read is structural (Kubernetes' invariants).
void check_structural(const StructuralSchema& root, const json::Value& written, const Where& where,
                      FieldErrors& errors);
}  // namespace detail

}  // namespace rhizome::cluster
