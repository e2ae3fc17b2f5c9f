// SPDX-License-Identifier: Apache-2.0
#include "cluster/structural_schema.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/core.h>

#include "cluster/decimal.h"
#include "cluster/structural_values.h"

namespace rhizome::cluster {
namespace {

using Node = StructuralSchema::Node;

constexpr std::array<std::string_view, 7> kTypes{"", "object", "array", "string", "integer", "number", "boolean"};

/// Members of a JSON schema that Kubernetes does not take, with its sentences.
struct Refused {
    std::string_view member;
    std::string_view why;
};
constexpr Refused kRefused[] = {
    {"$ref", "$ref is not supported"},
    {"additionalItems", "additionalItems is not supported"},
    {"definitions", "definitions is not supported"},
    {"dependencies", "dependencies is not supported"},
    {"id", "id is not supported"},
    {"patternProperties", "patternProperties is not supported"},
};

class Reader {
public:
    explicit Reader(FieldErrors& errors) : errors_(errors) {}

    Node read(const json::Value& schema, const Where& where, std::size_t depth) {
        auto node = std::make_unique<StructuralSchema>();
        if (!schema.is_object()) {
            errors_.push_back(invalid(where, schema, "must be a schema: an object"));
            return node;
        }
        if (depth > kSchemaDepthMax || ++nodes_ > kSchemaNodesMax) {
            errors_.push_back({FieldError::Cause::TooMany, where.text(), nodes_,
                               fmt::format("a schema has at most {} places, {} inside each other", kSchemaNodesMax,
                                           kSchemaDepthMax)});
            return node;
        }
        for (const Refused& refused : kRefused)
            if (const json::Value* there = schema.find(refused.member); there != nullptr && !there->is_null())
                errors_.push_back(forbidden(where / refused.member, refused.why));
        read_type(schema, where, *node);
        read_extensions(schema, where, *node);
        read_values(schema, where, *node);
        read_inside(schema, where, *node, depth);
        read_junctors(schema, where, *node, depth);
        return node;
    }

private:
    bool flag(const json::Value& schema, const Where& where, std::string_view member) {
        const json::Value* there = schema.find(member);
        if (there == nullptr || there->is_null()) return false;
        const auto value = there->if_boolean();
        if (!value) errors_.push_back(invalid(where / member, *there, "must be true or false"));
        return value.value_or(false);
    }

    std::optional<json::Number> number(const json::Value& schema, const Where& where, std::string_view member) {
        const json::Value* there = schema.find(member);
        if (there == nullptr || there->is_null()) return std::nullopt;
        if (const json::Number* value = there->if_number()) return *value;
        errors_.push_back(invalid(where / member, *there, "must be a number"));
        return std::nullopt;
    }

    std::optional<std::int64_t> count(const json::Value& schema, const Where& where, std::string_view member) {
        const json::Value* there = schema.find(member);
        if (there == nullptr || there->is_null()) return std::nullopt;
        const auto value = there->if_int64();
        if (!value) errors_.push_back(invalid(where / member, *there, "must be a whole number"));
        return value;
    }

    std::vector<std::string> texts(const json::Value& schema, const Where& where, std::string_view member) {
        std::vector<std::string> found;
        const json::Value* there = schema.find(member);
        if (there == nullptr || there->is_null()) return found;
        const json::Array* list = there->if_array();
        if (list == nullptr) errors_.push_back(invalid(where / member, *there, "must be a list of names"));
        for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
            if (const std::string* text = (*list)[i].if_string())
                found.push_back(*text);
            else
                errors_.push_back(invalid(where / member / i, (*list)[i], "must be a text"));
        }
        return found;
    }

    void read_type(const json::Value& schema, const Where& where, StructuralSchema& node) {
        const json::Value* written = schema.find("type");
        const std::string_view type = schema.text_at({"type"});
        if (type == "null") {
            errors_.push_back(forbidden(where / "type", "type cannot be set to null, use nullable as an alternative"));
        } else if (const auto at = std::find(kTypes.begin(), kTypes.end(), type); at != kTypes.end()) {
            node.type = static_cast<SchemaType>(at - kTypes.begin());
            if (written != nullptr && !written->is_null() && !written->is_string())
                errors_.push_back(not_supported(where / "type", *written, {kTypes.begin() + 1, kTypes.end()}));
        } else {
            errors_.push_back(not_supported(where / "type", type, {kTypes.begin() + 1, kTypes.end()}));
        }
        node.nullable = flag(schema, where, "nullable");
        if (flag(schema, where, "uniqueItems"))
            errors_.push_back(
                forbidden(where / "uniqueItems",
                          "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"));
    }

    void read_extensions(const json::Value& schema, const Where& where, StructuralSchema& node) {
        node.int_or_string = flag(schema, where, "x-kubernetes-int-or-string");
        node.embedded = flag(schema, where, "x-kubernetes-embedded-resource");
        constexpr std::string_view kPreserve = "x-kubernetes-preserve-unknown-fields";
        node.preserves_unknown = flag(schema, where, kPreserve);
        if (const json::Value* there = schema.find(kPreserve); there != nullptr && there->if_boolean() == false)
            errors_.push_back(invalid(where / kPreserve, false, "must be true or undefined"));
        if (const std::string_view type = schema.text_at({"x-kubernetes-list-type"}); !type.empty()) {
            if (type == "set")
                node.list_type = ListType::Set;
            else if (type == "map")
                node.list_type = ListType::Map;
            else if (type != "atomic")
                errors_.push_back(not_supported(where / "x-kubernetes-list-type", type, {"atomic", "map", "set"}));
        }
        node.list_keys = texts(schema, where, "x-kubernetes-list-map-keys");
        if (const std::string_view type = schema.text_at({"x-kubernetes-map-type"}); !type.empty()) {
            node.map_atomic = type == "atomic";
            if (type != "atomic" && type != "granular")
                errors_.push_back(not_supported(where / "x-kubernetes-map-type", type, {"atomic", "granular"}));
        }
        const json::Value* rules = schema.find("x-kubernetes-validations");
        node.has_rules = rules != nullptr && rules->is_array() && !rules->if_array()->empty();
    }

    void read_values(const json::Value& schema, const Where& where, StructuralSchema& node) {
        node.format = schema.text_at({"format"});
        node.minimum = number(schema, where, "minimum");
        node.maximum = number(schema, where, "maximum");
        node.above_minimum = flag(schema, where, "exclusiveMinimum");
        node.below_maximum = flag(schema, where, "exclusiveMaximum");
        node.multiple_of = number(schema, where, "multipleOf");
        if (node.multiple_of && compare_numbers(node.multiple_of->text(), "0") <= 0)
            errors_.push_back(invalid(where / "multipleOf", *node.multiple_of, "must be greater than 0"));
        node.length_min = count(schema, where, "minLength");
        node.length_max = count(schema, where, "maxLength");
        node.items_min = count(schema, where, "minItems");
        node.items_max = count(schema, where, "maxItems");
        node.members_min = count(schema, where, "minProperties");
        node.members_max = count(schema, where, "maxProperties");
        node.required = texts(schema, where, "required");
        if (const json::Value* values = schema.find("enum"); values != nullptr && !values->is_null()) {
            if (const json::Array* list = values->if_array())
                node.values = *list;
            else
                errors_.push_back(invalid(where / "enum", *values, "must be a list of values"));
            nodes_ += node.values.size();
        }
        if (const std::string_view pattern = schema.text_at({"pattern"}); !pattern.empty()) {
            auto compiled = TextPattern::compile(pattern);
            if (compiled)
                node.pattern = *std::move(compiled);
            else
                errors_.push_back(
                    invalid(where / "pattern", pattern,
                            "must be a valid regular expression, but isn't: " + compiled.error().message));
        }
    }

    void read_inside(const json::Value& schema, const Where& where, StructuralSchema& node, std::size_t depth) {
        const json::Value* properties = schema.find("properties");
        const json::Object* members = properties == nullptr ? nullptr : properties->if_object();
        if (properties != nullptr && !properties->is_null() && members == nullptr)
            errors_.push_back(invalid(where / "properties", *properties, "must be an object"));
        if (members != nullptr)
            for (const auto& member : *members)
                node.properties.push_back(
                    {member.key, read(member.value, (where / "properties").key(member.key), depth + 1)});
        std::sort(node.properties.begin(), node.properties.end(),
                  [](const auto& left, const auto& right) { return left.name < right.name; });
        if (const json::Value* items = schema.find("items"); items != nullptr && !items->is_null()) {
            if (items->is_array())
                errors_.push_back(forbidden(where / "items", "items must be a schema object and not an array"));
            else
                node.items = read(*items, where / "items", depth + 1);
        }
        const json::Value* additional = schema.find("additionalProperties");
        if (additional == nullptr || additional->is_null()) return;
        const Where place = where / "additionalProperties";
        if (!node.properties.empty() && additional->if_boolean() != true) {
            errors_.push_back(forbidden(place, "additionalProperties and properties are mutual exclusive"));
        } else if (const auto allowed = additional->if_boolean()) {
            node.any_member = *allowed;
            if (!*allowed) errors_.push_back(forbidden(place, "additionalProperties cannot be set to false"));
        } else {
            node.additional = read(*additional, place, depth + 1);
        }
    }

    void read_junctors(const json::Value& schema, const Where& where, StructuralSchema& node, std::size_t depth) {
        const auto read_all = [&](std::string_view member, std::vector<Node>& into) {
            const json::Value* list = schema.find(member);
            if (list == nullptr || list->is_null()) return;
            if (!list->is_array()) {
                errors_.push_back(invalid(where / member, *list, "must be a list of schemas"));
                return;
            }
            for (std::size_t i = 0; i < list->if_array()->size(); ++i)
                into.push_back(read((*list->if_array())[i], where / member / i, depth + 1));
        };
        read_all("allOf", node.all_of);
        read_all("anyOf", node.any_of);
        read_all("oneOf", node.one_of);
        if (const json::Value* negated = schema.find("not"); negated != nullptr && !negated->is_null())
            node.negated = read(*negated, where / "not", depth + 1);
        if (const json::Value* fallback = schema.find("default"); fallback != nullptr && !fallback->is_null())
            node.fallback = *fallback;
    }

    FieldErrors& errors_;
    std::size_t nodes_ = 0;
};

/// A default is what would be stored: it has no unknown fields and its own schema takes it.
void check_defaults(const StructuralSchema& node, const Where& where, FieldErrors& errors) {
    if (node.fallback) {
        const Where place = where / "default";
        json::Value filled = *node.fallback;
        std::vector<std::string> unknown;
        prune(filled, node, &unknown, node.embedded);
        if (!unknown.empty()) errors.push_back(invalid(place, *node.fallback, "must not have unknown fields"));
        fill_structural(filled, node);
        errors.append(validate_structural(filled, node, place));
    }
    for (const auto& property : node.properties)
        check_defaults(*property.schema, (where / "properties").key(property.name), errors);
    if (node.additional) check_defaults(*node.additional, where / "additionalProperties", errors);
    if (node.items) check_defaults(*node.items, where / "items", errors);
}

bool any_place(const StructuralSchema& node, const std::function<bool(const StructuralSchema&)>& is) {
    if (is(node)) return true;
    for (const auto& property : node.properties)
        if (any_place(*property.schema, is)) return true;
    return (node.additional && any_place(*node.additional, is)) || (node.items && any_place(*node.items, is));
}

}  // namespace

std::string_view name(SchemaType type) { return kTypes[static_cast<std::size_t>(type)]; }

const StructuralSchema* StructuralSchema::find(std::string_view property) const {
    const auto at = std::lower_bound(properties.begin(), properties.end(), property,
                                     [](const Property& each, std::string_view wanted) { return each.name < wanted; });
    return at != properties.end() && at->name == property ? at->schema.get() : nullptr;
}

std::shared_ptr<const StructuralSchema> read_structural(const json::Value& schema, const Where& where,
                                                        FieldErrors& errors) {
    FieldErrors found;
    Node root = Reader{found}.read(schema, where, 0);
    if (found.empty()) detail::check_structural(*root, schema, where, found);
    if (found.empty()) check_defaults(*root, where, found);
    const bool good = found.empty();
    errors.append(std::move(found));
    if (!good) return nullptr;
    return {std::move(root)};
}

bool has_rules(const StructuralSchema& schema) {
    return any_place(schema, [](const StructuralSchema& node) { return node.has_rules; });
}

bool has_defaults(const StructuralSchema& schema) {
    return any_place(schema, [](const StructuralSchema& node) { return node.fallback.has_value(); });
}

}  // namespace rhizome::cluster
