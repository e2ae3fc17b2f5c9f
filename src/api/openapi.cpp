// SPDX-License-Identifier: Apache-2.0
#include "api/openapi.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "cluster/custom_definition.h"

namespace rhizome::api {
namespace {

using cluster::Field;
using cluster::Kind;
using cluster::Kinds;
using cluster::ListType;
using cluster::Schema;
using cluster::Shape;
using cluster::Verb;

json::Object gvk_of(const Kind& kind) {
    return {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}};
}

/// `example.com` becomes `com.example`, as Kubernetes names the schemas of custom kinds.
std::string custom_name(const Kind& kind) {
    std::vector<std::string_view> parts;
    std::string_view rest = kind.group;
    for (std::size_t dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.')) {
        parts.push_back(rest.substr(0, dot));
        rest.remove_prefix(dot + 1);
    }
    parts.push_back(rest);
    std::string out;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) out += fmt::format("{}.", *part);
    return out + fmt::format("{}.{}", kind.version, kind.kind);
}

/// Writes schemas, and remembers which named ones they refer to.
class SchemaWriter {
public:
    /// A place that holds something of this schema.
    json::Object reference(const Schema& schema) {
        if (!schema.name.empty()) {
            wanted_.emplace(schema.name, &schema);
            return {{"$ref", "#/components/schemas/" + std::string(schema.name)}};
        }
        return inlined(schema);
    }

    json::Object inlined(const Schema& schema) {
        switch (schema.shape) {
            case Shape::Boolean: return {{"type", "boolean"}};
            case Shape::Integer32: return {{"type", "integer"}, {"format", "int32"}};
            case Shape::Integer64: return {{"type", "integer"}, {"format", "int64"}};
            case Shape::Number: return {{"type", "number"}, {"format", "double"}};
            case Shape::String: return {{"type", "string"}};
            case Shape::Bytes: return {{"type", "string"}, {"format", "byte"}};
            case Shape::Time:
            case Shape::MicroTime: return {{"type", "string"}, {"format", "date-time"}};
            case Shape::Quantity: return {{"oneOf", one_of("string", "number")}};
            case Shape::IntOrString: return {{"format", "int-or-string"}, {"oneOf", one_of("integer", "string")}};
            case Shape::Any: return any(schema);
            case Shape::Message: return message(schema);
            case Shape::Map: {
                json::Object out{{"type", "object"}, {"additionalProperties", reference(*schema.element)}};
                if (schema.atomic) out.set("x-kubernetes-map-type", "atomic");
                return out;
            }
            case Shape::List: return list(schema);
        }
        return {};
    }

    /// All that was referred to, with what they refer to in turn.
    json::Object components(json::Object out) {
        std::set<std::string_view> written;
        for (;;) {
            const auto next = std::find_if(wanted_.begin(), wanted_.end(),
                                           [&](const auto& each) { return !written.contains(each.first); });
            if (next == wanted_.end()) return out;
            written.insert(next->first);
            const Schema& schema = *next->second;
            if (!out.contains(schema.name)) out.set(schema.name, inlined(schema));
        }
    }

private:
    static json::Array one_of(std::string_view left, std::string_view right) {
        return {json::Object{{"type", left}}, json::Object{{"type", right}}};
    }

    static json::Object any(const Schema& schema) {
        const std::string_view name = cluster::short_name(schema);
        if (name == "FieldsV1" || name == "RawExtension" || name == "Patch") return {{"type", "object"}};
        if (schema.name.empty()) return {{"x-kubernetes-preserve-unknown-fields", true}};
        return {};
    }

    json::Object list(const Schema& schema) {
        json::Object out{{"type", "array"}, {"items", reference(*schema.element)}};
        constexpr std::string_view kTypes[] = {"atomic", "set", "map"};
        out.set("x-kubernetes-list-type", kTypes[static_cast<std::size_t>(schema.list_type)]);
        if (schema.list_type == ListType::Map) {
            json::Array keys(schema.keys.begin(), schema.keys.end());
            out.set("x-kubernetes-list-map-keys", std::move(keys));
        }
        if (!schema.merge_key.empty()) out.set("x-kubernetes-patch-merge-key", schema.merge_key);
        if (schema.merges) out.set("x-kubernetes-patch-strategy", schema.retains ? "merge,retainKeys" : "merge");
        return out;
    }

    json::Object message(const Schema& schema) {
        json::Object out{{"type", "object"}};
        json::Object properties;
        json::Array required;
        for (const Field& field : schema.fields) {
            json::Object property = reference(*field.schema);
            const bool retains = field.schema->shape == Shape::Message && field.schema->retains;
            // A reference stands alone; what is said besides goes around it.
            if (property.contains("$ref") && (retains || !field.fallback.empty()))
                property = {{"allOf", json::Array{std::move(property)}}};
            if (!field.fallback.empty())
                property.set("default", json::parse(field.fallback).value());  // checked when the tables were made
            if (retains) property.set("x-kubernetes-patch-strategy", "retainKeys");
            properties.set(field.name, std::move(property));
            if (field.required) required.emplace_back(field.name);
        }
        if (!properties.empty()) out.set("properties", std::move(properties));
        if (!required.empty()) out.set("required", std::move(required));
        if (schema.atomic) out.set("x-kubernetes-map-type", "atomic");
        return out;
    }

    std::map<std::string_view, const Schema*> wanted_{};
};

/// As its definition has it, with what all objects have.
json::Object custom_schema(const Kind& kind, SchemaWriter& schemas) {
    const json::Object* written = kind.rules == nullptr ? nullptr : kind.rules->openapi.if_object();
    json::Object out = written == nullptr
                           ? json::Object{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}
                           : *written;
    json::Object properties;
    const auto text = [](std::string_view description) {
        return json::Object{{"type", "string"}, {"description", description}};
    };
    properties.set("apiVersion", text("The version of the schema that this object is written in."));
    properties.set("kind", text("The kind of object this is."));
    properties.set("metadata",
                   json::Object{{"allOf", json::Array{schemas.reference(*cluster::find_schema(
                                              "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"))}},
                                {"description", "What all objects have: name, namespace, labels, annotations."}});
    if (const json::Value* own = out.find("properties"); own != nullptr && own->is_object())
        for (const auto& member : *own->if_object())
            if (!properties.contains(member.key)) properties.set(member.key, member.value);
    out.set("properties", std::move(properties));
    return out;
}

/// What the words behind `?` do.
constexpr std::pair<std::string_view, std::string_view> kQueryWords[] = {
    {"allowWatchBookmarks", "send bookmarks while nothing happens, so that a watch can be taken up again later"},
    {"continue", "go on behind the page that gave this word"},
    {"dryRun", "`All`: check and answer, store nothing"},
    {"fieldManager", "who writes, for managedFields"},
    {"fieldSelector", "narrows the list of returned objects by the values of fields"},
    {"fieldValidation", "`Strict`, `Warn` or `Ignore`: what to do about fields that the kind does not have"},
    {"force", "of an apply: take fields that belong to others"},
    {"labelSelector", "narrows the list of returned objects by their labels"},
    {"limit", "no more than so many objects; `continue` of the answer leads to the others"},
    {"pretty", "indent the answer"},
    {"resourceVersion", "of a list: not older than this; of a watch: what came after this"},
    {"resourceVersionMatch", "how `resourceVersion` of a list is meant: `Exact` or `NotOlderThan`"},
    {"sendInitialEvents", "begin a watch with what there is"},
    {"timeoutSeconds", "end the watch after so long"},
    {"watch", "Watch for changes to the described resources: an event for each instead of a list"},
};

json::Object query(std::string_view name, std::string_view type = "string") {
    json::Object out{{"name", name}, {"in", "query"}};
    for (const auto& [word, does] : kQueryWords)
        if (word == name) out.set("description", does);
    out.set("schema", json::Object{{"type", type}, {"uniqueItems", true}});
    return out;
}
json::Object path_parameter(std::string_view name) {
    return {{"name", name},
            {"in", "path"},
            {"required", true},
            {"schema", json::Object{{"type", "string"}, {"uniqueItems", true}}}};
}

class PathWriter {
public:
    explicit PathWriter(SchemaWriter& schemas) : schemas_(schemas) {}

    void add(const Kind& kind, const std::string& schema) {
        const std::string root = "/" + openapi_path(kind.group, kind.version);
        const std::string collection = kind.namespaced
                                           ? fmt::format("{}/namespaces/{{namespace}}/{}", root, kind.plural)
                                           : fmt::format("{}/{}", root, kind.plural);
        json::Object all;
        if (kind.verbs.contains(Verb::List)) all.set("get", operation(kind, "list", schema, list_queries(), false));
        if (kind.verbs.contains(Verb::Create)) all.set("post", operation(kind, "post", schema, write_queries(), true));
        if (kind.verbs.contains(Verb::DeleteCollection))
            all.set("delete", operation(kind, "deletecollection", schema, list_queries(), false));
        if (kind.namespaced) all.set("parameters", json::Array{path_parameter("namespace")});
        paths_.set(collection, std::move(all));
        if (kind.namespaced && kind.verbs.contains(Verb::List))
            paths_.set(fmt::format("{}/{}", root, kind.plural),
                       json::Object{{"get", operation(kind, "list", schema, list_queries(), false)}});
        if (!kind.verbs.contains(Verb::Get)) return;
        json::Object one{{"get", operation(kind, "get", schema, {}, false)}};
        if (kind.verbs.contains(Verb::Update)) one.set("put", operation(kind, "put", schema, write_queries(), true));
        if (kind.verbs.contains(Verb::Patch)) {
            json::Array queries = write_queries();
            queries.emplace_back(query("force", "boolean"));
            one.set("patch", operation(kind, "patch", schema, std::move(queries), true));
        }
        if (kind.verbs.contains(Verb::Delete)) one.set("delete", operation(kind, "delete", schema, {}, false));
        json::Array parameters{path_parameter("name")};
        if (kind.namespaced) parameters.emplace_back(path_parameter("namespace"));
        one.set("parameters", std::move(parameters));
        paths_.set(collection + "/{name}", std::move(one));
    }

    json::Object take() && { return std::move(paths_); }

private:
    static json::Array write_queries() {
        return {query("dryRun"), query("fieldManager"), query("fieldValidation"), query("pretty")};
    }
    static json::Array list_queries() {
        return {query("allowWatchBookmarks", "boolean"),
                query("continue"),
                query("fieldSelector"),
                query("labelSelector"),
                query("limit", "integer"),
                query("resourceVersion"),
                query("resourceVersionMatch"),
                query("sendInitialEvents", "boolean"),
                query("timeoutSeconds", "integer"),
                query("watch", "boolean")};
    }

    json::Object operation(const Kind& kind, std::string_view action, const std::string& schema, json::Array queries,
                           bool has_body) {
        const json::Object body{
            {"application/json", json::Object{{"schema", json::Object{{"$ref", "#/components/schemas/" + schema}}}}}};
        json::Object out{
            {"operationId", fmt::format("{}{}{}", action, kind.namespaced ? "Namespaced" : "", kind.kind)},
            {"tags", json::Array{fmt::format("{}_{}", kind.group.empty() ? "core" : kind.group, kind.version)}}};
        if (!queries.empty()) out.set("parameters", std::move(queries));
        if (has_body) {
            if (action == "patch") {
                // A patch has no schema of its own, only its media types.
                json::Object content;
                const json::Object patch{{"schema", schemas_.reference(*cluster::find_schema(
                                                        "io.k8s.apimachinery.pkg.apis.meta.v1.Patch"))}};
                for (const std::string_view type :
                     {"application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"})
                    content.set(type, patch);
                if (!kind.custom) content.set("application/strategic-merge-patch+json", patch);
                out.set("requestBody", json::Object{{"content", std::move(content)}, {"required", true}});
            } else {
                out.set("requestBody", json::Object{{"content", body}, {"required", true}});
            }
        }
        out.set("responses", json::Object{{"200", json::Object{{"description", "OK"}, {"content", body}}}});
        out.set("x-kubernetes-action", action);
        out.set("x-kubernetes-group-version-kind", gvk_of(kind));
        return out;
    }

    SchemaWriter& schemas_;
    json::Object paths_{};
};

}  // namespace

std::string openapi_path(std::string_view group, std::string_view version) {
    return group.empty() ? fmt::format("api/{}", version) : fmt::format("apis/{}/{}", group, version);
}

json::Value openapi_document(const Kinds& kinds, std::string_view group, std::string_view version) {
    const auto all = kinds.of_version(group, version);
    if (all.empty()) return nullptr;
    SchemaWriter schemas;
    PathWriter paths{schemas};
    json::Object components;
    for (const Kind* kind : all) {
        const std::string name = kind->custom ? custom_name(*kind) : std::string(kind->schema->name);
        json::Object schema = kind->custom ? custom_schema(*kind, schemas) : schemas.inlined(*kind->schema);
        schema.set("x-kubernetes-group-version-kind", json::Array{gvk_of(*kind)});
        components.set(name, std::move(schema));
        paths.add(*kind, name);
    }
    components = schemas.components(std::move(components));
    return json::Object{{"openapi", "3.0.0"},
                        {"info", json::Object{{"title", "Rhizome"}, {"version", "v1.32.0"}}},
                        {"paths", std::move(paths).take()},
                        {"components", json::Object{{"schemas", std::move(components)}}}};
}

json::Value openapi_index(const std::vector<OpenapiEntry>& entries) {
    json::Object paths;
    for (const OpenapiEntry& entry : entries)
        paths.set(entry.path,
                  json::Object{{"serverRelativeURL", fmt::format("/openapi/v3/{}?hash={}", entry.path, entry.hash)}});
    return json::Object{{"paths", std::move(paths)}};
}

}  // namespace rhizome::api
