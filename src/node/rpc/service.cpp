// SPDX-License-Identifier: Apache-2.0
// From the table of routes to a server's handler: who may, which words are known, the body, then the route's own code.
#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "node/rpc/gate.h"
#include "node/rpc/route.h"

namespace rhizome::node::rpc {
namespace {

using http::Exchange;
using http::PathParts;
using http::Response;
using stream::Task;

std::string_view code_of(unsigned status) {
    switch (status) {
        case 401: return "NotSigned";
        case 403: return "Denied";
        case 404: return "NotFound";
        case 405: return "MethodNotAllowed";
        case 408: return "TooSlow";
        case 409: return "Conflict";
        case 413: return "BodyTooLarge";
        case 414:
        case 431: return "HeaderTooLarge";
        case 429: return "TooManyConnections";
        case 501: return "Unsupported";
        case 503: return "Unavailable";
        default: return status < 500 ? "Invalid" : "Failed";
    }
}

struct Service {
    Service(Host& host, RpcSources sources, RpcLimits limits)
        : context{.host = host, .sources = std::move(sources), .limits = limits},
          gate(host, limits),
          routes(all_routes()) {}
    Context context;
    Gate gate;
    std::vector<Route> routes;
};
using Shared = std::shared_ptr<Service>;

/// The words of the query, all of them known to the route.
Result<std::vector<std::pair<std::string, std::string>>> words_of(const http::Request& request, const Route& route) {
    auto pairs = http::parse_query(request.query());
    if (!pairs) return fail(ErrorKind::Invalid, "the query is malformed");
    for (const auto& [key, value] : *pairs) {
        const auto is_it = [&key = key](const Parameter& one) { return !one.in_path && one.name == key; };
        const auto known = std::find_if(route.parameters.begin(), route.parameters.end(), is_it);
        if (known == route.parameters.end()) {
            std::string names;
            for (const Parameter& one : route.parameters)
                if (!one.in_path) names += (names.empty() ? "" : ", ") + std::string{one.name};
            return fail(ErrorKind::Invalid, fmt::format("there is no parameter {} here; {}", json::quote(key),
                                                        names.empty() ? "there are none" : "there are " + names));
        }
    }
    return *std::move(pairs);
}

Response body_refusal(const Error& error, std::size_t most) {
    if (error.kind != ErrorKind::Exhausted) return refusal(error);
    return refusal(413, "BodyTooLarge", fmt::format("the body is larger than the {} bytes that are taken here", most));
}

Task<void> serve(Shared service, const Route* route, Exchange& exchange, const PathParts& parts) {
    std::optional<crypto::Hash256> body_hash;
    const bool is_local = exchange.peer().is_local;
    if (!is_local) {
        auto admitted = service->gate.admit(exchange.request(), exchange.peer(), route->access);
        if (!admitted) {
            (void)co_await exchange.respond(std::move(admitted).error());
            co_return;
        }
        body_hash = *admitted;
    }
    Call call{.exchange = exchange, .parts = parts};
    auto words = words_of(exchange.request(), *route);
    if (!words) {
        (void)co_await exchange.respond(refusal(words.error()));
        co_return;
    }
    call.query = *std::move(words);
    // What is not asked for is read all the same where it was signed: it is part of what was said.
    const std::size_t most =
        is_local ? route->body_bytes_max : std::min(route->body_bytes_max, service->context.limits.body_bytes_max);
    auto body = co_await exchange.read_body(most);
    if (!body) {
        (void)co_await exchange.respond(body_refusal(body.error(), most));
        co_return;
    }
    if (body_hash && crypto::sha256(as_bytes(*body)) != *body_hash) {
        (void)co_await exchange.respond(refusal(401, "BadSignature", "the body is not the one that was signed"));
        co_return;
    }
    call.body = *std::move(body);
    if (const auto* at_once = std::get_if<AtOnce>(&route->handler)) {
        (void)co_await exchange.respond((*at_once)(service->context, call));
        co_return;
    }
    co_await std::get<InTime>(route->handler)(service->context, call);
}

Response not_here(const http::Request& request) {
    return refusal(404, "NotFound",
                   fmt::format("there is nothing at {}; /rhizome/v1/openapi.json says what there is",
                               json::quote(request.path())));
}

Response other_method(const std::string& allowed) {
    Response response = refusal(405, "MethodNotAllowed", "this path answers " + allowed);
    response.headers.set("Allow", allowed);
    return response;
}

}  // namespace

std::string_view name(Access access) {
    switch (access) {
        case Access::Anyone: return "anyone";
        case Access::Known: return "known";
        case Access::Local: return "local";
    }
    unreachable("an Access is one of three");
}

std::optional<std::string_view> Call::word(std::string_view name) const {
    for (const auto& [key, value] : query)
        if (key == name) return value;
    return std::nullopt;
}

Result<bool> Call::flag(std::string_view name) const {
    const auto value = word(name);
    if (!value || *value == "false") return false;
    if (value->empty() || *value == "true") return true;
    return fail(ErrorKind::Invalid, fmt::format("{} is true or false", name));
}

Result<std::uint64_t> Call::number(std::string_view name, std::uint64_t fallback, std::uint64_t most) const {
    const auto value = word(name);
    if (!value) return fallback;
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
    if (error != std::errc{} || end != value->data() + value->size() || number > most)
        return fail(ErrorKind::Invalid, fmt::format("{} is a number up to {}", name, most));
    return number;
}

std::vector<Route> all_routes() {
    std::vector<Route> all;
    for (auto* group : {chain_routes, state_routes, light_routes, transaction_routes, cosign_routes, secret_routes,
                        subscribe_routes, node_routes})
        for (Route& route : group()) all.push_back(std::move(route));
    return all;
}

Response json_response(const json::Value& value, unsigned status) {
    return {.status = status,
            .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
            .body = json::print(value) + "\n"};
}

Response text_response(std::string text, unsigned status) {
    return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(text)};
}

Response refusal(unsigned status, std::string_view code, std::string_view message) {
    return json_response(json::Object{{"code", code}, {"status", status}, {"message", message}}, status);
}

Response refusal(const Error& error) { return refusal(http::status_of(error.kind), name(error.kind), error.message); }

}  // namespace rhizome::node::rpc

namespace rhizome::node {

json::Object to_json(const ledger::Reject& reject) {
    return {{"code", ledger::name(reject.code)}, {"why", reject.why}};
}

http::Response rpc_refusal(unsigned status, std::string_view message) {
    return rpc::refusal(status, rpc::code_of(status), message);
}

http::Handler make_rpc(Host& host, RpcSources sources, RpcLimits limits) {
    const auto service = std::make_shared<rpc::Service>(host, std::move(sources), limits);
    auto router = std::make_shared<http::Router>();
    std::map<std::string_view, std::string> methods;
    for (const rpc::Route& route : service->routes) {
        router->route(route.method, route.path,
                      [service, at = &route](http::Exchange& exchange, const http::PathParts& parts) {
                          return rpc::serve(service, at, exchange, parts);
                      });
        std::string& known = methods[route.path];
        known += (known.empty() ? "" : ", ") + std::string{route.method};
    }
    for (const auto& [path, allowed] : methods)
        router->route("*", path,
                      [allowed = allowed](http::Exchange& exchange, const http::PathParts&) -> stream::Task<void> {
                          (void)co_await exchange.respond(rpc::other_method(allowed));
                      });
    router->route("*", "/*", [](http::Exchange& exchange, const http::PathParts&) -> stream::Task<void> {
        (void)co_await exchange.respond(rpc::not_here(exchange.request()));
    });
    return http::Router::handler(std::shared_ptr<const http::Router>(std::move(router)));
}

}  // namespace rhizome::node
