// SPDX-License-Identifier: Apache-2.0
#include "http/router.h"

#include <algorithm>

#include <fmt/core.h>

namespace rhizome::http {
namespace {

/// Deeper paths than any API has; matching costs at most the square of it, since only names and words are tried.
constexpr std::size_t kSegmentsMax = 64;

std::vector<std::string_view> segments_of(std::string_view path) {
    std::vector<std::string_view> out;
    for (std::size_t at = 1; at <= path.size();) {
        const std::size_t slash = std::min(path.find('/', at), path.size());
        out.push_back(path.substr(at, slash - at));
        at = slash + 1;
    }
    return out;
}

}  // namespace

struct Router::Node {
    std::map<std::string, Node, std::less<>> words;
    std::unique_ptr<Node> named;
    std::unique_ptr<Node> rest;  ///< `*`
    /// For each method, with the names of its pattern's blanks in order.
    struct Route {
        std::vector<std::string> names;
        RouteHandler handler;
    };
    std::map<std::string, Route, std::less<>> routes;

    /// The first node with routes that the segments lead to; `values` are what its blanks stood for.
    const Node* match(const std::vector<std::string>& segments, std::size_t at,
                      std::vector<std::string>& values) const {
        if (at == segments.size()) {
            if (!routes.empty()) return this;
        } else {
            if (const auto word = words.find(segments[at]); word != words.end())
                if (const Node* found = word->second.match(segments, at + 1, values)) return found;
            if (named && !segments[at].empty()) {
                values.push_back(segments[at]);
                if (const Node* found = named->match(segments, at + 1, values)) return found;
                values.pop_back();
            }
        }
        if (!rest) return nullptr;
        std::string tail;
        for (std::size_t i = at; i < segments.size(); ++i) tail += (i == at ? "" : "/") + segments[i];
        values.push_back(std::move(tail));
        return rest.get();
    }
};

Router::Router() : root_(std::make_unique<Node>()) {}
Router::~Router() = default;
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;

void Router::route(std::string_view method, std::string_view pattern, RouteHandler handler) {
    ensure(pattern.starts_with('/'), "a pattern begins with a slash");
    Node* at = root_.get();
    std::vector<std::string> names;
    const auto segments = segments_of(pattern);
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const std::string_view segment = segments[i];
        if (segment == "*") {
            ensure(i + 1 == segments.size(), "`*` stands at the end of a pattern");
            if (!at->rest) at->rest = std::make_unique<Node>();
            at = at->rest.get();
            names.emplace_back("*");
        } else if (segment.starts_with('{') && segment.ends_with('}')) {
            if (!at->named) at->named = std::make_unique<Node>();
            at = at->named.get();
            names.emplace_back(segment.substr(1, segment.size() - 2));
        } else {
            at = &at->words[std::string(segment)];
        }
    }
    const bool added =
        at->routes.emplace(std::string(method), Node::Route{std::move(names), std::move(handler)}).second;
    ensure(added, "one handler for a method and a pattern");
}

Task<void> Router::handle(Exchange& exchange) const {
    const Request& request = exchange.request();
    const auto raw = segments_of(request.path());
    std::vector<std::string> segments;
    bool readable = raw.size() <= kSegmentsMax;
    for (std::size_t i = 0; readable && i < raw.size(); ++i) {
        auto plain = percent_decode(raw[i]);
        readable = plain.has_value();
        if (readable) segments.push_back(std::move(*plain));
    }
    if (!readable) {
        auto ignored = co_await exchange.respond_error(400, "the path has a broken percent escape or too many parts");
        co_return;
    }
    std::vector<std::string> values;
    const Node* node = root_->match(segments, 0, values);
    if (node == nullptr) {
        auto ignored = co_await exchange.respond_error(404, "there is nothing at this path");
        co_return;
    }
    auto route = node->routes.find(request.method);
    if (route == node->routes.end() && request.method == "HEAD") route = node->routes.find("GET");
    if (route == node->routes.end()) route = node->routes.find("*");
    if (route == node->routes.end()) {
        std::string allowed;
        for (const auto& [method, unused] : node->routes) allowed += (allowed.empty() ? "" : ", ") + method;
        if (node->routes.contains("GET") && !node->routes.contains("HEAD")) allowed += ", HEAD";
        Response refusal = error_response(405, "this path answers " + allowed, &request.headers);
        refusal.headers.add("Allow", allowed);
        auto ignored = co_await exchange.respond(std::move(refusal));
        co_return;
    }
    PathParts parts;
    for (std::size_t i = 0; i < route->second.names.size(); ++i)
        parts.emplace(route->second.names[i], std::move(values[i]));
    co_await route->second.handler(exchange, parts);
}

Handler Router::handler(std::shared_ptr<const Router> router) {
    return [router = std::move(router)](Exchange& exchange) { return router->handle(exchange); };
}

}  // namespace rhizome::http
