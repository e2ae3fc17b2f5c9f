// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/exchange.h"

namespace rhizome::http {

/// What a pattern's blanks stood for, with percent escapes undone: `{name}` by its name, a trailing `*` as `*`.
using PathParts = std::map<std::string, std::string, std::less<>>;

/// Finds a handler by method and path. Made once, then read by many threads.
///
/// A pattern is a path whose segments are words, `{name}` (any one segment, not empty), or at the end `*` (all that
/// follows, nothing included). Of several that match, a word goes before a name and a name before `*`, from left to
/// right. A handler for GET answers HEAD as well.
class Router {
public:
    using RouteHandler = std::function<Task<void>(Exchange& exchange, const PathParts& parts)>;

    Router();
    ~Router();
    Router(Router&&) noexcept;
    Router& operator=(Router&&) noexcept;

    /// `route("GET", "/api/v1/nodes/{name}", …)`. Method `*` takes every method that has no handler of its own. Two
    /// handlers for one method and pattern are a fault of the caller.
    void route(std::string_view method, std::string_view pattern, RouteHandler handler);

    /// 404 where nothing matches, 405 with `Allow` where only the method does not; 400 for broken escapes.
    Task<void> handle(Exchange& exchange) const;
    /// The router as a server's handler; shares it.
    static Handler handler(std::shared_ptr<const Router> router);

private:
    struct Node;
    std::unique_ptr<Node> root_;
};

}  // namespace rhizome::http
