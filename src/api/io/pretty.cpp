// SPDX-License-Identifier: Apache-2.0
// Answers for people: indented.
#include "api/io/service.h"

namespace rhizome::api {
namespace {

/// Larger answers are for programs, whoever asks.
constexpr json::Limits kPrettyMax{.bytes = 32u << 20, .depth = 1000};

/// `pretty` decides; where it is not said, programs that show what they get to a person.
bool wants_pretty(const http::Request& request) {
    const Query query{http::parse_query(request.query()).value_or(Query::Pairs{})};
    if (query.has("pretty")) return query.flag("pretty");
    const std::string_view agent = request.headers.find("User-Agent").value_or("");
    return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

}  // namespace

http::Response prettied(const http::Request& request, http::Response response) {
    const bool is_json = response.headers.find("Content-Type").value_or("").starts_with("application/json");
    if (!is_json || response.body.empty() || !wants_pretty(request)) return response;
    if (const auto value = json::parse(response.body, kPrettyMax)) response.body = json::print_pretty(*value);
    return response;
}

}  // namespace rhizome::api
