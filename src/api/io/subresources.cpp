// SPDX-License-Identifier: Apache-2.0
// Which subresources and kinds have a meaning of their own.
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "api/certificates.h"
#include "api/io/access.h"
#include "api/io/service.h"
#include "api/shown.h"

namespace rhizome::api {
namespace {

/// Of requests for certificates everything but asking is for those who decide about the cluster.
std::optional<Planned> plan_signing_request(const Service& service, const Call& call, const Present& present) {
    if (call.path.subresource == "approval") return approval_verb(service, call, present);
    if (call.verb != Verb::Create) {
        if (const auto may = require_access(service, call, name(call.verb)); !may) return Planned{Fail{may.error()}};
        return std::nullopt;
    }
    const auto object = read_object(call);
    if (!object) return Planned{Fail{object.error()}};
    if (const auto readable = check_signing_request(call, *object); !readable) return Planned{Fail{readable.error()}};
    return std::nullopt;
}

std::vector<json::Value> budgets_of(const Service& service, const Call& call) {
    const Kind* kind = call.registry->kinds.preferred("policy", "PodDisruptionBudget");
    std::vector<json::Value> all;
    if (kind == nullptr) return all;
    const Selection selection{.kind = kind, .name_space = call.path.name_space};
    const Listing listing =
        service.backend.live().read([&](const Revisions& now) { return list(now, selection, 0, {}, {}); });
    for (const Standing& one : listing.items) all.push_back(shown_value(*kind, one, {}));
    return all;
}

bool needs_something_running(std::string_view subresource) {
    constexpr std::array<std::string_view, 4> kAll{"attach", "exec", "log", "portforward"};
    return std::find(kAll.begin(), kAll.end(), subresource) != kAll.end();
}

Status unreachable(const Call& call, const Standing& object) {
    if (!object) return not_found(*call.kind, call.path.name);
    return unavailable(fmt::format("pod \"{}\" cannot be reached: no node runs it", call.path.name));
}

}  // namespace

std::optional<Planned> plan_special(const Service& service, const Call& call, const Present& present) {
    if (call.kind->keeping == cluster::Keeping::Nowhere) return review_verb(call, review_help(service));
    if (is_signing_request(*call.kind)) return plan_signing_request(service, call, present);
    const std::string_view part = call.path.subresource;
    if (part == "token") return token_verb(service, call, present);
    if (part == "eviction") return eviction_verb(call, present, budgets_of(service, call), service.backend.heard_of());
    if (part == "binding") return binding_verb(call, present, service.backend.heard_of());
    if (part == "ephemeralcontainers") return ephemeral_verb(call, present, service.backend.heard_of());
    if (part == "finalize") return finalize_verb(call, present, service.backend.heard_of());
    if (needs_something_running(part)) return Planned{Fail{unreachable(call, present.object)}};
    return std::nullopt;
}

std::optional<Reply> answer_unreachable(const Call& call, const Standing& object) {
    if (!needs_something_running(call.path.subresource)) return std::nullopt;
    return reply_of(unreachable(call, object));
}

}  // namespace rhizome::api
