// SPDX-License-Identifier: Apache-2.0
#include "node/rpc/route.h"
#include "node/rpc/schemas.h"

namespace rhizome::node::rpc {
namespace {

json::Object reference(std::string_view schema) { return {{"$ref", "#/components/schemas/" + std::string{schema}}}; }

json::Object parameter_json(const Parameter& parameter) {
    json::Object schema{{"type", parameter.type}};
    if (!parameter.choices.empty()) {
        json::Array choices;
        for (const std::string_view choice : parameter.choices) choices.emplace_back(choice);
        schema.set("enum", std::move(choices));
    }
    return {{"name", parameter.name},
            {"in", parameter.in_path ? "path" : "query"},
            {"required", parameter.in_path},
            {"description", parameter.summary},
            {"schema", std::move(schema)}};
}

json::Object content(std::string_view media, json::Object schema) {
    return {{media, json::Object{{"schema", std::move(schema)}}}};
}

json::Object operation(const Route& route) {
    json::Object out{{"operationId", route.name}, {"summary", route.summary}, {"x-rhizome-access", name(route.access)}};
    json::Array security;
    if (route.access == Access::Known) security.push_back(json::Object{{"request", json::Array{}}});
    out.set("security", std::move(security));
    if (!route.parameters.empty()) {
        json::Array parameters;
        for (const Parameter& one : route.parameters) parameters.push_back(parameter_json(one));
        out.set("parameters", std::move(parameters));
    }
    if (!route.body.empty())
        out.set("requestBody",
                json::Object{{"required", true}, {"content", content("application/json", reference(route.body))}});
    json::Object schema = route.answer.empty() ? json::Object{{"type", "string"}} : reference(route.answer);
    out.set("responses",
            json::Object{{"200", json::Object{{"description", "as asked for"},
                                              {"content", content(route.media, std::move(schema))}}},
                         {"default", json::Object{{"description", "a refusal"},
                                                  {"content", content("application/json", reference("Refusal"))}}}});
    return out;
}

}  // namespace

json::Object openapi_document(const std::vector<Route>& routes, std::string_view version) {
    json::Object paths;
    for (const Route& route : routes) {
        std::string method{route.method};
        for (char& letter : method) letter = static_cast<char>(letter - 'A' + 'a');
        paths[route.path].make_object().set(method, operation(route));
    }
    const json::Object scheme{
        {"type", "apiKey"},
        {"in", "header"},
        {"name", "Authorization"},
        {"description",
         "Rhizome key=…, time=…, nonce=…, body=…, signature=…: docs/spec/rpc.md. Not needed on the local socket."}};
    return {{"openapi", "3.1.0"},
            {"info",
             json::Object{
                 {"title", "Rhizome node"}, {"version", version}, {"license", json::Object{{"name", "Apache-2.0"}}}}},
            {"paths", std::move(paths)},
            {"components", json::Object{{"securitySchemes", json::Object{{"request", scheme}}},
                                        {"schemas", json::Raw{std::make_shared<const std::string>(kSchemas)}}}}};
}

}  // namespace rhizome::node::rpc
