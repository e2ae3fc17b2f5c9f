// SPDX-License-Identifier: Apache-2.0
// A structural schema as nodes of `schema.h`.
#include <algorithm>
#include <deque>
#include <span>

#include "cluster/structural_schema.h"

namespace rhizome::cluster {
namespace {

/// The nodes with all that their views point at. Addresses stay: nothing is ever moved.
struct Graph {
    std::deque<Schema> nodes{};
    std::deque<std::vector<Field>> fields{};
    std::deque<std::vector<std::string_view>> keys{};
    std::deque<std::string> texts{};
    /// Whatever is there: objects member by member, lists as wholes. Its element is itself.
    Schema any{.shape = Shape::Map};

    Graph() { any.element = &any; }
    Graph(const Graph&) = delete;
    Graph& operator=(const Graph&) = delete;

    std::string_view text(std::string_view of) { return texts.emplace_back(of); }

    const Schema* node(const StructuralSchema& schema, bool root) {
        Schema made;
        made.atomic = schema.map_atomic;
        switch (schema.type) {
            case SchemaType::Boolean: made.shape = Shape::Boolean; break;
            case SchemaType::String: made.shape = Shape::String; break;
            case SchemaType::Integer:
                made.shape = schema.format == "int32" ? Shape::Integer32 : Shape::Integer64;
                break;
            case SchemaType::Number: made.shape = Shape::Number; break;
            case SchemaType::Array:
                made.shape = Shape::List;
                made.list_type = schema.list_type;
                made.element = schema.items ? node(*schema.items, false) : &any;
                if (!schema.list_keys.empty()) {
                    auto& held = keys.emplace_back();
                    for (const std::string& key : schema.list_keys) held.push_back(text(key));
                    made.keys = held;
                }
                break;
            case SchemaType::None:
                if (!schema.int_or_string) return &any;
                made.shape = Shape::IntOrString;
                break;
            case SchemaType::Object:
                if (schema.properties.empty() && !schema.embedded && !root) {
                    made.shape = Shape::Map;
                    made.element = schema.additional ? node(*schema.additional, false) : &any;
                } else {
                    made.shape = Shape::Message;
                    made.fields = members(schema, root || schema.embedded);
                }
                break;
        }
        return &nodes.emplace_back(made);
    }

    std::span<const Field> members(const StructuralSchema& schema, bool whole) {
        std::vector<Field> list;
        for (const auto& property : schema.properties) {
            if (whole && (property.name == "metadata" || property.name == "apiVersion" || property.name == "kind"))
                continue;
            Field field{.name = text(property.name), .schema = node(*property.schema, false)};
            field.required =
                std::find(schema.required.begin(), schema.required.end(), property.name) != schema.required.end();
            if (property.schema->fallback) field.fallback = text(json::print(*property.schema->fallback));
            list.push_back(field);
        }
        if (whole) {
            static constexpr Schema kText{.shape = Shape::String};
            list.push_back({.name = "apiVersion", .schema = &kText});
            list.push_back({.name = "kind", .schema = &kText});
            list.push_back({.name = "metadata",
                            .schema = find_schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"),
                            .fallback = "{}"});
        }
        std::sort(list.begin(), list.end(),
                  [](const Field& left, const Field& right) { return left.name < right.name; });
        return fields.emplace_back(std::move(list));
    }
};

}  // namespace

std::shared_ptr<const Schema> schema_nodes(const StructuralSchema& schema) {
    auto graph = std::make_shared<Graph>();
    const Schema* root = graph->node(schema, true);
    return {std::move(graph), root};
}

}  // namespace rhizome::cluster
