// SPDX-License-Identifier: Apache-2.0
// Paths that are no resources: health, version, discovery.
#include <algorithm>

#include <fmt/core.h>

#include "api/discovery.h"
#include "api/io/service.h"
#include "api/openapi.h"

namespace rhizome::api {
namespace {

using http::Response;

Response text(unsigned code, std::string body) {
    return {.status = code, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(body)};
}

Response metrics(const Service& service) {
    Response response = text(200, service.backend.metrics() + service.observer.metrics());
    response.headers.set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
    return response;
}

Response json_text(const json::Value& document) {
    return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = json::print(document) + "\n"};
}

Response health(const Service& service, const http::Request& request, std::string_view which) {
    const auto checks = service.backend.health();
    const bool all = std::all_of(checks.begin(), checks.end(), [](const HealthCheck& one) { return one.good; });
    // A node that lives but cannot do its part is not ready; restarting it would not help.
    const bool good = all || which != "readyz";
    const bool verbose = Query{http::parse_query(request.query()).value_or(Query::Pairs{})}.has("verbose");
    if (good && !verbose) return text(200, "ok");
    std::string lines;
    for (const HealthCheck& one : checks)
        lines += one.good ? fmt::format("[+]{} ok{}{}\n", one.name, one.why.empty() ? "" : ": ", one.why)
                          : fmt::format("[-]{} failed: {}\n", one.name, one.why);
    lines += fmt::format("{} check {}\n", which, good ? "passed" : "failed");
    return text(good ? 200 : 500, std::move(lines));
}

Response version(const Service& service) {
    std::string ours = service.options.version;
    for (char& c : ours)
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.')) c = '-';
    return json_text(json::Object{{"major", "1"},
                                  {"minor", "32"},
                                  {"gitVersion", "v1.32.0+rhizome-" + ours},
                                  {"gitCommit", ""},
                                  {"gitTreeState", ""},
                                  {"buildDate", ""},
                                  {"goVersion", ""},
                                  {"compiler", ""},
                                  {"platform", "linux/amd64"}});
}

Response cached(const http::Request& request, const Fixed& document, std::string_view media) {
    Response response{.status = 200,
                      .headers = {{"ETag", document.etag}, {"Vary", "Accept"}, {"Cache-Control", "public"}}};
    if (request.headers.find("If-None-Match") == document.etag) {
        response.status = 304;
        return response;
    }
    response.headers.add("Content-Type", std::string{media});
    response.body = document.body;
    return response;
}

/// The older form, as JSON or as its protobuf message.
Response openapi_v2(const cluster::Kinds& kinds, const http::Request& request) {
    const json::Value document = openapi_v2_document(kinds);
    const std::string_view accept = request.headers.find("Accept").value_or("");
    if (accept.find(kOpenapiV2Asked) == std::string_view::npos &&
        accept.find(kOpenapiV2Protobuf) == std::string_view::npos)
        return json_text(document);
    return {.status = 200,
            .headers = {{"Content-Type", std::string{kOpenapiV2Protobuf}}},
            .body = openapi_v2_protobuf(document)};
}

}  // namespace

Service::Service(Backend& backend_in, FrontOptions options_in)
    : backend(backend_in), options(std::move(options_in)), observer(options.audit) {}

SharedRegistry Service::registry() const {
    const state::StateView chain = backend.live().read([](const Revisions& now) { return now.view(Layer::Chain); });
    const std::lock_guard hold{mutex_};
    if (newest_ && seen_.is_same(chain)) return newest_;
    newest_ = make_registry(chain, options.version, newest_);
    seen_ = chain;
    return newest_;
}

void Service::remember(const ledger::TxId& id, Remembered::Request request) {
    const std::lock_guard hold{remembered_mutex_};
    remembered_.put(id, std::move(request));
}

std::optional<Remembered::Request> Service::take_remembered(const ledger::TxId& id) {
    const std::lock_guard hold{remembered_mutex_};
    return remembered_.take(id);
}

std::optional<Response> answer_open(const Service& service, const http::Request& request) {
    const std::string_view path = request.path();
    if (path == "/version" || path == "/version/") return version(service);
    for (const std::string_view which : {"healthz", "livez", "readyz"})
        if (path.size() == which.size() + 1 && path.substr(1) == which) return health(service, request, which);
    return std::nullopt;
}

std::optional<Response> answer_discovery(const Service& service, const http::Request& request) {
    std::string_view path = request.path();
    if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
    const SharedRegistry registry = service.registry();
    const cluster::Kinds& kinds = registry->kinds;
    const std::string_view aggregated = aggregated_discovery_wanted(request.headers.find("Accept").value_or(""));
    if (path == "/api") {
        if (aggregated.empty()) return json_text(api_versions(request.headers.find("Host").value_or("")));
        return cached(request, aggregated == "v2" ? registry->core_v2 : registry->core_v2beta1,
                      aggregated_content_type(aggregated));
    }
    if (path == "/apis") {
        if (aggregated.empty()) return json_text(api_group_list(kinds));
        return cached(request, aggregated == "v2" ? registry->groups_v2 : registry->groups_v2beta1,
                      aggregated_content_type(aggregated));
    }
    if (path == "/metrics") return metrics(service);
    if (path == "/openapi/v2") return openapi_v2(registry->kinds, request);
    if (path == "/openapi/v3") return cached(request, registry->openapi_index, "application/json");
    json::Value found;
    if (path.starts_with("/openapi/v3/")) {
        const std::string_view wanted = path.substr(12);
        for (const std::string_view group : kinds.groups())
            for (const std::string_view one : kinds.versions(group))
                if (openapi_path(group, one) == wanted) found = openapi_document(kinds, group, one);
        if (found.is_null()) return std::nullopt;
        Response response = json_text(found);
        response.headers.set("Cache-Control", "public, immutable");
        return response;
    }
    if (path.starts_with("/api/")) {
        const std::string_view rest = path.substr(5);
        if (rest.find('/') == std::string_view::npos) found = api_resource_list(kinds, "", rest);
    } else if (path.starts_with("/apis/")) {
        const std::string_view rest = path.substr(6);
        const std::size_t slash = rest.find('/');
        if (slash == std::string_view::npos) {
            found = api_group(kinds, rest);
        } else if (rest.find('/', slash + 1) == std::string_view::npos) {
            found = api_resource_list(kinds, rest.substr(0, slash), rest.substr(slash + 1));
        }
    }
    if (found.is_null()) return std::nullopt;
    return json_text(found);
}

}  // namespace rhizome::api
