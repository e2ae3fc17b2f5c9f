// SPDX-License-Identifier: Apache-2.0
#include "cluster/schema.h"

#include <algorithm>
#include <tuple>

#include "base/ensure.h"
#include "cluster/detail/tables.h"

namespace rhizome::cluster {

std::string_view name(Shape shape) {
    switch (shape) {
        case Shape::Any: return "any";
        case Shape::Boolean: return "boolean";
        case Shape::Integer32:
        case Shape::Integer64: return "integer";
        case Shape::Number: return "number";
        case Shape::String:
        case Shape::Bytes:
        case Shape::Time:
        case Shape::MicroTime: return "string";
        case Shape::Quantity: return "quantity";
        case Shape::IntOrString: return "integer or string";
        case Shape::Message:
        case Shape::Map: return "object";
        case Shape::List: return "array";
    }
    unreachable("a Shape has a name");
}

const Field* Schema::find(std::string_view field) const {
    const auto at = std::lower_bound(fields.begin(), fields.end(), field,
                                     [](const Field& each, std::string_view wanted) { return each.name < wanted; });
    return at != fields.end() && at->name == field ? &*at : nullptr;
}

const Schema* find_schema(std::string_view group, std::string_view version, std::string_view kind) {
    const auto rows = detail::kind_schemas();
    const auto wanted = std::tie(group, version, kind);
    const auto at = std::lower_bound(rows.begin(), rows.end(), wanted, [](const auto& row, const auto& key) {
        return std::tie(row.group, row.version, row.kind) < key;
    });
    if (at == rows.end() || std::tie(at->group, at->version, at->kind) != wanted) return nullptr;
    return at->schema;
}

const Schema* find_schema(std::string_view name) {
    const auto rows = detail::named_schemas();
    const auto at = std::lower_bound(rows.begin(), rows.end(), name,
                                     [](const auto& row, std::string_view wanted) { return row.name < wanted; });
    return at != rows.end() && at->name == name ? at->schema : nullptr;
}

std::span<const NamedSchema> all_schemas() { return detail::named_schemas(); }

std::string_view short_name(const Schema& schema) {
    return schema.name.substr(schema.name.rfind('.') + 1);  // the whole of it when there is no dot
}

std::string go_type(const Schema& schema) {
    switch (schema.shape) {
        case Shape::Boolean: return "bool";
        case Shape::Integer32: return "int32";
        case Shape::Integer64: return "int64";
        case Shape::Number: return "float64";
        case Shape::String: return "string";
        case Shape::Bytes: return "[]uint8";
        case Shape::Quantity: return "resource.Quantity";
        case Shape::IntOrString: return "intstr.IntOrString";
        case Shape::List: return "[]" + go_type(*schema.element);
        case Shape::Map: return "map[string]" + go_type(*schema.element);
        default: break;
    }
    // The package is the last part of the name before the type: `v1`.
    const std::size_t type = schema.name.rfind('.');
    if (type == std::string_view::npos) return "interface {}";
    const std::size_t package = schema.name.rfind('.', type - 1);
    return std::string(schema.name.substr(package + 1));
}

}  // namespace rhizome::cluster
