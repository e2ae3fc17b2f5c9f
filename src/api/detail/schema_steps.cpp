// SPDX-License-Identifier: Apache-2.0
#include "api/detail/schema_steps.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace rhizome::api::detail {
namespace {

using cluster::Field;
using cluster::ListType;
using cluster::Schema;
using cluster::Shape;

/// Nothing is known of what stands here, and everything may: parts of custom objects. Places of Kubernetes' own kinds
/// that take anything have a name and are owned as wholes.
bool is_open(const Schema* schema) {
    return schema == nullptr || (schema->shape == Shape::Any && schema->name.empty());
}

}  // namespace

const Schema* document_schema(const Schema* schema) {
    static const Schema kText{.shape = Shape::String};
    static const std::array<Field, 3> kFields{{
        {.name = "apiVersion", .schema = &kText},
        {.name = "kind", .schema = &kText},
        {.name = "metadata", .schema = cluster::find_schema("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")},
    }};
    static const Schema kAnyObject{.shape = Shape::Message, .fields = kFields};
    return schema == nullptr ? &kAnyObject : schema;
}

bool merges_by_member(const json::Value& value, const Schema* schema) {
    if (!value.is_object()) return false;
    if (is_open(schema)) return true;
    return (schema->shape == Shape::Message || schema->shape == Shape::Map) && !schema->atomic;
}

bool merges_by_element(const json::Value& value, const Schema* schema) {
    return value.is_array() && schema != nullptr && schema->shape == Shape::List &&
           schema->list_type != ListType::Atomic;
}

Inner inner_of(const Schema* schema, std::string_view key) {
    if (schema == nullptr) return {};
    if (schema->shape == Shape::Map) return {.schema = schema->element};
    const Field* field = schema->find(key);
    if (field == nullptr) return {};
    const bool list = field->schema->shape == Shape::List && field->required;
    return {.schema = field->schema, .always = field->fallback == "{}" || list, .named = true};
}

std::string element_step(const json::Value& element, const Schema& list) {
    if (list.list_type == ListType::Set) return "v:" + json::print_canonical(element);
    std::vector<std::pair<std::string_view, std::string>> keys;
    keys.reserve(list.keys.size());
    for (const std::string_view key : list.keys) {
        if (const json::Value* value = element.find(key)) {
            keys.emplace_back(key, json::print_canonical(*value));
            continue;
        }
        const Field* field = list.element->find(key);
        const auto fallback = json::parse(field == nullptr ? std::string_view{} : field->fallback);
        if (!fallback) return {};
        keys.emplace_back(key, json::print_canonical(*fallback));
    }
    std::sort(keys.begin(), keys.end());
    std::string step = "k:{";
    for (const auto& [key, value] : keys) {
        if (step.size() > 3) step += ',';
        step += json::quote(key);
        step += ':';
        step += value;
    }
    return step += '}';
}

}  // namespace rhizome::api::detail
