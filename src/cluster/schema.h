// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

/// What is known of the documents of each kind: fields, types, list and merge keys, defaults, protobuf numbers.
///
/// A schema is a graph of nodes: a `Message` has fields, each field has a node, a `List` or `Map` has the node of its
/// elements. The nodes of Kubernetes' own kinds are constant data (made at build time from docs/spec by
/// tools/kubernetes_tables.py): nothing is parsed or allocated for them, and any thread may read them. Nodes of custom
/// kinds are the same structs, owned by whoever read their definition. Nodes are compared and kept by address.
namespace rhizome::cluster {

/// What JSON may stand in a place.
enum class Shape : std::uint8_t {
    Any,  ///< whatever it is, kept as it is (FieldsV1, RawExtension, JSON, parts of JSON schemas)
    Boolean,
    Integer32,
    Integer64,
    Number,  ///< with a fraction
    String,
    Bytes,      ///< base64
    Time,       ///< RFC 3339, whole seconds
    MicroTime,  ///< RFC 3339, six digits of a second
    Quantity,   ///< see quantity.h; also written as a bare number
    IntOrString,
    Message,  ///< an object with the fields named here
    Map,      ///< an object with any keys
    List,
};
std::string_view name(Shape shape);

/// How two versions of a list are merged by server-side apply, and what owns its parts.
enum class ListType : std::uint8_t {
    Atomic,  ///< as a whole
    Set,     ///< of scalars, each there once
    Map,     ///< of objects with the keys that `Schema::keys` names
};

struct Field;

struct Schema {
    Shape shape = Shape::Any;
    ListType list_type = ListType::Atomic;
    bool merges = false;   ///< List: a strategic merge patch merges it (else it replaces it)
    bool retains = false;  ///< patches of it (Message) or of its elements (List) may carry `$retainKeys`
    bool atomic = false;   ///< Message or Map: server-side apply owns it as a whole
    /// List of objects: what a strategic merge patch knows elements by. Not always among `keys`: container ports
    /// are known by `containerPort` here and by port and protocol there.
    std::string_view merge_key{};
    std::string_view name{};                   ///< Message and named scalars: `io.k8s.api.core.v1.PodSpec`
    std::string_view message{};                ///< in protobuf: `k8s.io.api.core.v1.PodSpec`
    std::span<const Field> fields{};           ///< Message: sorted by name
    std::span<const std::string_view> keys{};  ///< List of type Map
    const Schema* element = nullptr;           ///< List and Map

    /// The field of this name; null when there is none, and for what has no fields.
    [[nodiscard]] const Field* find(std::string_view field) const;
    [[nodiscard]] bool is_scalar() const {
        return shape != Shape::Any && shape != Shape::Message && shape != Shape::Map && shape != Shape::List;
    }
};

struct Field {
    std::string_view name{};
    const Schema* schema = nullptr;  ///< never null
    std::uint16_t number = 0;        ///< in protobuf; 0 for `apiVersion` and `kind`, which stand in the envelope
    /// Numbers of the nested messages that the field sits in, outermost first, 0 for none: Kubernetes inlines some
    /// structs in JSON that protobuf nests.
    std::array<std::uint8_t, 2> inside{};
    bool required = false;
    /// What stands here when nothing was written, as JSON text; empty for nothing. `{}` for structs, `""`, `0` and
    /// `false` for fields that Kubernetes always prints.
    std::string_view fallback{};
};

/// The schema of documents of a kind, among Kubernetes' own (resources, and what is sent but never stored: Scale,
/// Eviction, Status, lists; DeleteOptions, which belong to every version, are found by name). Null when there is none.
const Schema* find_schema(std::string_view group, std::string_view version, std::string_view kind);

/// By its name, `io.k8s.api.core.v1.PodSpec`; null when there is none.
const Schema* find_schema(std::string_view name);

/// All of Kubernetes' own, sorted by name.
struct NamedSchema {
    std::string_view name{};
    const Schema* schema = nullptr;
};
std::span<const NamedSchema> all_schemas();

/// How errors of the API name a type, as users know them from Kubernetes, which is written in Go: `int32`,
/// `map[string]string`, `[]v1.Container`.
std::string go_type(const Schema& schema);
/// The last part of the name, `PodSpec`; empty for nodes without one.
std::string_view short_name(const Schema& schema);

}  // namespace rhizome::cluster
