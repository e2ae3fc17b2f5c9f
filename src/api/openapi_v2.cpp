// SPDX-License-Identifier: Apache-2.0
// The older form of OpenAPI, written from the newer one: definitions instead of components, bodies among the
// parameters, no alternatives of types.
#include <fmt/core.h>

#include "api/openapi.h"

namespace rhizome::api {
namespace {

constexpr std::string_view kOldPlace = "#/components/schemas/";

std::string definition(std::string_view reference) {
    return "#/definitions/" + std::string{reference.substr(kOldPlace.size())};
}

/// Whether an object of a schema's text is a schema itself, and not the list of its properties.
bool is_schema(const json::Object& object) {
    const json::Value* type = object.find("type");
    const json::Value* all = object.find("allOf");
    return (type != nullptr && type->is_string()) || (all != nullptr && all->is_array());
}

/// A schema in place: references point at definitions and stand alone, without defaults; what may be a number or a text
/// is a text.
void make_old(json::Value& schema) {
    if (json::Array* list = schema.if_array()) {
        for (json::Value& each : *list) make_old(each);
        return;
    }
    json::Object* object = schema.if_object();
    if (object == nullptr) return;
    if (const json::Value* one_of = object->find("oneOf"); one_of != nullptr && one_of->is_array()) {
        object->erase("oneOf");
        if (!object->contains("type")) object->set("type", "string");
    }
    // Whoever reads the older form takes a list of fields for all of them; where others may stand, there is none.
    if (const json::Value* open = object->find("x-kubernetes-preserve-unknown-fields");
        open != nullptr && open->if_boolean() == true) {
        object->erase("properties");
        object->erase("items");
    }
    // A field may itself be called `default`; then it is among properties and a schema.
    if (is_schema(*object)) object->erase("default");
    if (const json::Value* all = object->find("allOf");
        all != nullptr && all->is_array() && all->if_array()->size() == 1) {
        const json::Value only = all->if_array()->front();
        object->erase("allOf");
        if (const json::Object* members = only.if_object())
            for (const auto& [key, value] : *members) object->set(key, value);
    }
    for (auto& [key, value] : *object) {
        const std::string* text = value.if_string();
        if (key == "$ref" && text != nullptr && text->starts_with(kOldPlace)) {
            value = definition(*text);
        } else {
            make_old(value);
        }
    }
}

/// `{"schema": {"type": "string"}}` of a parameter becomes its own members.
json::Value old_parameter(json::Object parameter) {
    json::Object out;
    for (auto& [key, value] : parameter) {
        if (key != "schema") {
            out.set(key, std::move(value));
        } else if (const json::Object* schema = value.if_object()) {
            for (const auto& [inner, said] : *schema) out.set(inner, said);
        }
    }
    return out;
}

json::Array old_parameters(const json::Value* parameters) {
    json::Array out;
    if (parameters != nullptr && parameters->is_array())
        for (const json::Value& each : *parameters->if_array())
            if (const json::Object* one = each.if_object()) out.push_back(old_parameter(*one));
    return out;
}

json::Object answered(const std::string& reference) {
    return {{"200", json::Object{{"description", "OK"}, {"schema", json::Object{{"$ref", reference}}}}}};
}

/// One operation of a path. `reference` is what it is about.
json::Value old_operation(const json::Value& operation, const std::string& reference, const std::string& list) {
    json::Object out;
    const std::string_view action = operation.text_at({"x-kubernetes-action"});
    for (const auto& [key, value] : *operation.if_object()) {
        if (key == "parameters" || key == "responses") continue;
        if (key != "requestBody") {
            out.set(key, value);
            continue;
        }
        json::Array media;
        if (const json::Value* content = value.find("content"); content != nullptr && content->is_object())
            for (const auto& [type, described] : *content->if_object()) media.emplace_back(type);
        out.set("consumes", std::move(media));
    }
    json::Array parameters = old_parameters(operation.find("parameters"));
    if (operation.find("requestBody") != nullptr)
        parameters.emplace_back(json::Object{
            {"name", "body"},
            {"in", "body"},
            {"required", true},
            {"schema", action == "patch" ? json::Object{{"type", "object"}} : json::Object{{"$ref", reference}}}});
    if (!parameters.empty()) out.set("parameters", std::move(parameters));
    out.set("produces", json::Array{"application/json"});
    out.set("responses", answered(action == "list" ? list : reference));
    return out;
}

/// The reference that an operation of the newer form answers with.
std::string reference_of(const json::Value& operation) {
    const json::Value* media = operation.find_path({"responses", "200", "content", "application/json", "schema"});
    const std::string_view text = media == nullptr ? std::string_view{} : media->text_at({"$ref"});
    return text.starts_with(kOldPlace) ? definition(text) : std::string{};
}

json::Value old_path(const json::Value& path) {
    json::Object out;
    for (const auto& [method, operation] : *path.if_object()) {
        if (method == "parameters") {
            out.set(method, old_parameters(&operation));
            continue;
        }
        const std::string reference = reference_of(operation);
        out.set(method, old_operation(operation, reference, reference + "List"));
    }
    return out;
}

/// The kind that a schema says it is of.
const cluster::Kind* kind_of(const cluster::Kinds& kinds, const json::Value& gvk) {
    const json::Array* all = gvk.if_array();
    if (all == nullptr || all->empty()) return nullptr;
    const json::Value& one = all->front();
    return kinds.find_kind(one.text_at({"group"}), one.text_at({"version"}), one.text_at({"kind"}));
}

json::Value list_definition(const cluster::Kind& kind, const std::string& name) {
    json::Object gvk{{"group", kind.group}, {"version", kind.version}, {"kind", kind.list_kind()}};
    return json::Object{
        {"type", "object"},
        {"description", fmt::format("{} is a list of {}, or a page of one.", kind.list_kind(), kind.plural)},
        {"required", json::Array{"items"}},
        {"properties",
         json::Object{
             {"apiVersion", json::Object{{"type", "string"}}},
             {"kind", json::Object{{"type", "string"}}},
             {"metadata", json::Object{{"$ref", "#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta"}}},
             {"items", json::Object{{"type", "array"},
                                    {"description", fmt::format("List of {}", kind.plural)},
                                    {"items", json::Object{{"$ref", "#/definitions/" + name}}}}}}},
        {"x-kubernetes-group-version-kind", json::Array{std::move(gvk)}}};
}

json::Value list_metadata_definition() {
    const auto text = [] { return json::Object{{"type", "string"}}; };
    return json::Object{
        {"type", "object"},
        {"description", "ListMeta says of a list which state it shows and how to go on."},
        {"properties", json::Object{{"continue", text()},
                                    {"remainingItemCount", json::Object{{"type", "integer"}, {"format", "int64"}}},
                                    {"resourceVersion", text()},
                                    {"selfLink", text()}}}};
}

}  // namespace

json::Value openapi_v2_document(const cluster::Kinds& kinds) {
    json::Object paths;
    json::Object definitions;
    definitions.set("io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta", list_metadata_definition());
    for (const std::string_view group : kinds.groups())
        for (const std::string_view version : kinds.versions(group)) {
            const json::Value document = openapi_document(kinds, group, version);
            for (const auto& [path, described] : *document.find("paths")->if_object())
                paths.set(path, old_path(described));
            for (const auto& [name, schema] : *document.find_path({"components", "schemas"})->if_object()) {
                const json::Value* gvk = schema.find("x-kubernetes-group-version-kind");
                if (gvk == nullptr && definitions.contains(name)) continue;
                json::Value old = schema;
                make_old(old);
                definitions.set(name, std::move(old));
                const cluster::Kind* kind = gvk == nullptr ? nullptr : kind_of(kinds, *gvk);
                if (kind != nullptr && kind->verbs.contains(cluster::Verb::List))
                    definitions.set(name + "List", list_definition(*kind, name));
            }
        }
    return json::Object{{"swagger", "2.0"},
                        {"info", json::Object{{"title", "Rhizome"}, {"version", "v1.32.0"}}},
                        {"paths", std::move(paths)},
                        {"definitions", std::move(definitions)}};
}

}  // namespace rhizome::api
