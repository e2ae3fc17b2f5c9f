// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "http/router.h"
#include "node/host.h"
#include "node/look.h"
#include "node/rpc.h"

/// Inside of the RPC: its routes as a table. A row says all that a caller has to know, so that the OpenAPI document,
/// the refusals and the dispatch come from the same place. A handler file per group gives its rows.
namespace rhizome::node::rpc {

/// Who may call.
enum class Access : unsigned char {
    Anyone,  ///< health, and the document that describes the rest
    Known,   ///< whoever signs with a key that the cluster knows; and the local socket
    Local,   ///< the local socket alone
};
std::string_view name(Access access);

struct Parameter {
    std::string_view name{};
    std::string_view summary{};
    std::string_view type = "string";  ///< `string`, `integer` or `boolean`
    std::vector<std::string_view> choices{};
    bool in_path = false;  ///< else in the query, where all may be left out
};

/// What handlers work with. Outlives every call.
struct Context {
    Host& host;
    RpcSources sources;
    RpcLimits limits;

    /// The chain as it is now. The view says what the sight does not.
    [[nodiscard]] Sight sight(const NodeView& view) const {
        return {.store = host.store(),
                .tip = view.tip,
                .tip_hash = view.tip_hash,
                .state = view.state,
                .final_height = view.final_height};
    }
};

/// One request, checked: who asks may, its words are known, its body is here.
struct Call {
    http::Exchange& exchange;
    http::PathParts parts{};
    std::vector<std::pair<std::string, std::string>> query{};
    std::string body{};

    [[nodiscard]] std::optional<std::string_view> word(std::string_view name) const;
    /// A flag of the query: `true`, `false`, or only named.
    [[nodiscard]] Result<bool> flag(std::string_view name) const;
    /// A whole number of the query, at most `most`.
    [[nodiscard]] Result<std::uint64_t> number(std::string_view name, std::uint64_t fallback, std::uint64_t most) const;
    [[nodiscard]] const std::string& part(std::string_view name) const { return parts.find(name)->second; }
};

using AtOnce = std::function<http::Response(const Context& context, const Call& call)>;
using InTime = std::function<stream::Task<void>(const Context& context, Call& call)>;

struct Route {
    std::string_view name{};  ///< `operationId`
    std::string_view method = "GET";
    std::string_view path{};
    std::string_view summary{};
    Access access = Access::Known;
    std::vector<Parameter> parameters{};
    std::string_view body{};         ///< schema of what is sent; empty: nothing is
    std::size_t body_bytes_max = 0;  ///< of it
    std::string_view answer{};       ///< schema of a good answer; empty: text
    std::string_view media = "application/json";
    std::variant<AtOnce, InTime> handler{};
};

std::vector<Route> chain_routes();
std::vector<Route> state_routes();
std::vector<Route> light_routes();
std::vector<Route> transaction_routes();
std::vector<Route> cosign_routes();
std::vector<Route> secret_routes();
std::vector<Route> node_routes();
std::vector<Route> subscribe_routes();
/// All of them, in the order of the document.
std::vector<Route> all_routes();

http::Response json_response(const json::Value& value, unsigned status = 200);
http::Response text_response(std::string text, unsigned status = 200);
/// Every refusal has this form: `{"code":"NotFound","status":404,"message":…}`.
http::Response refusal(unsigned status, std::string_view code, std::string_view message);
http::Response refusal(const Error& error);

/// The description of all routes, from the table and `schemas.json` (docs/spec/rhizome-v1.openapi.json).
json::Object openapi_document(const std::vector<Route>& routes, std::string_view version);

}  // namespace rhizome::node::rpc
