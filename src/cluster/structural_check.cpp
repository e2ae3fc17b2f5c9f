// SPDX-License-Identifier: Apache-2.0
// What makes a schema structural: its shape can be told without looking at values.
#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "cluster/structural_schema.h"

namespace rhizome::cluster::detail {
namespace {

enum class Level : std::uint8_t { Root, Item, Field };

/// A schema with what was written, which also has what is read over (titles, descriptions).
class Check {
public:
    explicit Check(FieldErrors& errors) : errors_(errors) {}

    void place(const StructuralSchema& node, const json::Value& written, Level level, const Where& where) {
        if (node.type == SchemaType::Array && !node.items) add(required(where / "items", "must be specified"));
        if (node.items) place(*node.items, *written.find("items"), Level::Item, where / "items");
        for (const auto& property : node.properties)
            place(*property.schema, *written.find_path({"properties", property.name}), Level::Field,
                  (where / "properties").key(property.name));
        if (node.additional || node.any_member) {
            if (level == Level::Root) add(forbidden(where / "additionalProperties", "must not be used at the root"));
            if (node.embedded)
                add(forbidden(where / "additionalProperties",
                              "must not be used if x-kubernetes-embedded-resource is set"));
        }
        if (node.additional)
            place(*node.additional, *written.find("additionalProperties"), Level::Field,
                  where / "additionalProperties");
        extensions(node, where);
        type(node, level, where);
        metadata(node, written, level, where);
        lists(node, where);
        junctors(node, written, is_int_or_string(node.any_of), where);
    }

    /// All that is judged is also described: a value's shape does not depend on other values.
    void complete(const StructuralSchema& node, const Where& where) {
        each_junctor(node, where, [&](const StructuralSchema& nested, const Where& inside) {
            covered(nested, inside, node, where);
        });
        for (const auto& property : node.properties)
            complete(*property.schema, (where / "properties").key(property.name));
        if (node.additional) complete(*node.additional, where / "additionalProperties");
        if (node.items) complete(*node.items, where / "items");
    }

private:
    void add(FieldError error) { errors_.push_back(std::move(error)); }

    template <class Visit>
    static void each_junctor(const StructuralSchema& node, const Where& where, const Visit& visit) {
        const auto each = [&](const std::vector<StructuralSchema::Node>& list, std::string_view member) {
            for (std::size_t i = 0; i < list.size(); ++i) visit(*list[i], where / member / i);
        };
        each(node.all_of, "allOf");
        each(node.any_of, "anyOf");
        each(node.one_of, "oneOf");
        if (node.negated) visit(*node.negated, where / "not");
    }

    void covered(const StructuralSchema& nested, const Where& nested_at, const StructuralSchema& node,
                 const Where& node_at) {
        const auto because = [](const Where& place) { return "because it is defined in " + place.text(); };
        for (const auto& property : nested.properties) {
            const Where inside = (nested_at / "properties").key(property.name);
            const Where outside = (node_at / "properties").key(property.name);
            if (const StructuralSchema* known = node.find(property.name))
                covered(*property.schema, inside, *known, outside);
            else
                add(required(outside, because(inside)));
        }
        if (nested.items) {
            if (node.items)
                covered(*nested.items, nested_at / "items", *node.items, node_at / "items");
            else
                add(required(node_at / "items", because(nested_at / "items")));
        }
        each_junctor(nested, nested_at, [&](const StructuralSchema& deeper, const Where& inside) {
            covered(deeper, inside, node, node_at);
        });
    }

    /// The one exception from the rule below: `anyOf` of an integer and a text.
    static bool is_int_or_string(const std::vector<StructuralSchema::Node>& any_of) {
        const auto only = [](const StructuralSchema& node, SchemaType type) {
            return node.type == type && node.properties.empty() && !node.items && node.values.empty() &&
                   !node.pattern && !node.minimum && !node.maximum;
        };
        return any_of.size() == 2 && only(*any_of[0], SchemaType::Integer) && only(*any_of[1], SchemaType::String);
    }

    void junctors(const StructuralSchema& node, const json::Value& written, bool skip_any_of, const Where& where) {
        const auto each = [&](const std::vector<StructuralSchema::Node>& list, std::string_view member, bool first_is) {
            for (std::size_t i = 0; i < list.size(); ++i) {
                const json::Value& inside = (*written.find(member)->if_array())[i];
                nested(*list[i], inside, first_is && i == 0, where / member / i);
            }
        };
        if (!skip_any_of) each(node.any_of, "anyOf", false);
        each(node.all_of, "allOf", !node.all_of.empty() && is_int_or_string(node.all_of.front()->any_of));
        each(node.one_of, "oneOf", false);
        if (node.negated) nested(*node.negated, *written.find("not"), false, where / "not");
    }

    void nested(const StructuralSchema& node, const json::Value& written, bool skip_any_of, const Where& where) {
        const auto there = [&](std::string_view member) {
            const json::Value* value = written.find(member);
            if (value == nullptr || value->is_null() || value->if_boolean() == false) return false;
            if (value->is_string()) return !value->if_string()->empty();
            return !value->is_array() || !value->if_array()->empty();
        };
        constexpr std::pair<std::string_view, std::string_view> kNotHere[] = {
            {"type", "must be empty to be structural"},
            {"additionalProperties", "must be undefined to be structural"},
            {"default", "must be undefined to be structural"},
            {"title", "must be empty to be structural"},
            {"description", "must be empty to be structural"},
            {"nullable", "must be false to be structural"},
            {"externalDocs", "must be undefined to be structural"},
            {"x-kubernetes-preserve-unknown-fields", "must be false to be structural"},
            {"x-kubernetes-embedded-resource", "must be false to be structural"},
            {"x-kubernetes-int-or-string", "must be false to be structural"},
            {"x-kubernetes-list-map-keys", "must be empty to be structural"},
            {"x-kubernetes-list-type", "must be undefined to be structural"},
            {"x-kubernetes-map-type", "must be undefined to be structural"},
            {"x-kubernetes-validations", "must be empty to be structural"},
        };
        for (const auto& [member, why] : kNotHere)
            if (there(member)) add(forbidden(where / member, why));
        if (node.find("metadata") != nullptr)
            add(forbidden((where / "properties").key("metadata"), "must not be specified in a nested context"));
        for (const auto& property : node.properties)
            nested(*property.schema, *written.find_path({"properties", property.name}), false,
                   (where / "properties").key(property.name));
        if (node.items) nested(*node.items, *written.find("items"), false, where / "items");
        junctors(node, written, skip_any_of, where);
    }

    void extensions(const StructuralSchema& node, const Where& where) {
        if (node.int_or_string && node.preserves_unknown)
            add(invalid(where / "x-kubernetes-preserve-unknown-fields", true,
                        "must be false if x-kubernetes-int-or-string is true"));
        if (node.int_or_string && node.embedded)
            add(invalid(where / "x-kubernetes-embedded-resource", true,
                        "must be false if x-kubernetes-int-or-string is true"));
        if (node.embedded && !node.preserves_unknown && node.properties.empty())
            add(required(where / "properties",
                         "must not be empty if x-kubernetes-embedded-resource is true without "
                         "x-kubernetes-preserve-unknown-fields"));
        if (node.map_atomic && node.type != SchemaType::Object)
            add(invalid(where / "type", name(node.type), "must be object if x-kubernetes-map-type is specified"));
    }

    void type(const StructuralSchema& node, Level level, const Where& where) {
        constexpr std::string_view kMissing[] = {"must not be empty at the root",
                                                 "must not be empty for specified array items",
                                                 "must not be empty for specified object fields"};
        if (node.embedded && node.type != SchemaType::Object) {
            constexpr std::string_view kObject = "must be object if x-kubernetes-embedded-resource is true";
            add(node.type == SchemaType::None ? required(where / "type", kObject)
                                              : invalid(where / "type", name(node.type), kObject));
        } else if (node.type == SchemaType::None && !node.int_or_string && !node.preserves_unknown) {
            add(required(where / "type", kMissing[static_cast<std::size_t>(level)]));
        }
        if (level == Level::Root && node.type != SchemaType::None && node.type != SchemaType::Object)
            add(invalid(where / "type", name(node.type), "must be object at the root"));
    }

    void metadata(const StructuralSchema& node, const json::Value& written, Level level, const Where& where) {
        if (level != Level::Root && !node.embedded) return;
        for (const std::string_view member : {"kind", "apiVersion"})
            if (const StructuralSchema* known = node.find(member);
                known != nullptr && known->type != SchemaType::String)
                add(invalid((where / "properties").key(member) / "type", name(known->type), "must be string"));
        const StructuralSchema* known = node.find("metadata");
        if (known == nullptr) return;
        const Where place = (where / "properties").key("metadata");
        if (known->type != SchemaType::Object) add(invalid(place / "type", name(known->type), "must be object"));
        if (level != Level::Root) return;
        const bool only_names = std::all_of(known->properties.begin(), known->properties.end(), [](const auto& each) {
            return each.name == "name" || each.name == "generateName";
        });
        const json::Object* members = written.find_path({"properties", "metadata"})->if_object();
        const bool plain = members != nullptr && std::all_of(members->begin(), members->end(), [](const auto& each) {
                               return each.key == "type" || each.key == "properties" || each.key == "default";
                           });
        if (!only_names || !plain)
            add(forbidden(place,
                          "must not specify anything other than name and generateName, but metadata is implicitly "
                          "specified"));
    }

    void lists(const StructuralSchema& node, const Where& where) {
        if (node.type != SchemaType::Array && (node.list_type != ListType::Atomic || !node.list_keys.empty()))
            add(node.type == SchemaType::None
                    ? required(where / "type", "must be array if x-kubernetes-list-type is specified")
                    : invalid(where / "type", name(node.type), "must be array if x-kubernetes-list-type is specified"));
        if (node.list_type == ListType::Set && node.items) {
            if (node.items->nullable)
                add(forbidden(where / "items" / "nullable", "cannot be nullable when x-kubernetes-list-type is set"));
            if (node.items->type == SchemaType::Object && !node.items->map_atomic)
                add(invalid(where / "items" / "x-kubernetes-map-type", "",
                            "must be atomic as item of a list with x-kubernetes-list-type=set"));
            if (node.items->type == SchemaType::Array && node.items->list_type != ListType::Atomic)
                add(invalid(where / "items" / "x-kubernetes-list-type", "",
                            "must be atomic as item of a list with x-kubernetes-list-type=set"));
        }
        if (node.list_type != ListType::Map) {
            if (!node.list_keys.empty())
                add(required(where / "x-kubernetes-list-type",
                             "must be map if x-kubernetes-list-map-keys is non-empty"));
            return;
        }
        if (node.list_keys.empty())
            add(required(where / "x-kubernetes-list-map-keys", "must not be empty if x-kubernetes-list-type is map"));
        if (node.items) list_keys(node, where);
    }

    void list_keys(const StructuralSchema& node, const Where& where) {
        const StructuralSchema& item = *node.items;
        if (item.type != SchemaType::Object)
            add(invalid(where / "items" / "type", name(item.type),
                        "must be object if parent array's x-kubernetes-list-type is map"));
        std::set<std::string_view> seen;
        for (std::size_t i = 0; i < node.list_keys.size(); ++i) {
            const std::string& key = node.list_keys[i];
            const Where place = where / "x-kubernetes-list-map-keys" / i;
            if (!seen.insert(key).second) add(duplicate(place, key));
            const StructuralSchema* known = item.find(key);
            if (known == nullptr) {
                add(invalid(place, key, "entries must all be names of item properties"));
                continue;
            }
            if (known->type == SchemaType::Object || known->type == SchemaType::Array)
                add(invalid((where / "items" / "properties").key(key) / "type", name(known->type),
                            "must be a scalar type if parent array's x-kubernetes-list-type is map"));
            if (known->nullable)
                add(forbidden((where / "items" / "properties").key(key) / "nullable",
                              "this property is in x-kubernetes-list-map-keys, so it cannot be nullable"));
            const bool is_required = std::find(item.required.begin(), item.required.end(), key) != item.required.end();
            if (!is_required && !known->fallback)
                add(required((where / "items" / "properties").key(key) / "default",
                             "this property is in x-kubernetes-list-map-keys, so it must have a default or be a "
                             "required property"));
        }
    }

    FieldErrors& errors_;
};

}  // namespace

void check_structural(const StructuralSchema& root, const json::Value& written, const Where& where,
                      FieldErrors& errors) {
    Check check{errors};
    check.place(root, written, Level::Root, where);
    check.complete(root, where);
}

}  // namespace rhizome::cluster::detail
