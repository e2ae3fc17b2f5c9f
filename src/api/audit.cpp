// SPDX-License-Identifier: Apache-2.0
#include "api/audit.h"

#include <algorithm>

#include "base/json.h"

namespace rhizome::api {
namespace {

constexpr std::size_t kUriMax = 8'192;  // what a request's first line may have
constexpr std::size_t kTextMax = 512;
constexpr std::size_t kGroupsMax = 64;

std::string cut(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string{text};
    return std::string{text.substr(0, most)} + "...";
}

json::Object user_json(const User& user) {
    json::Object out{{"username", cut(user.name, kTextMax)}};
    if (!user.uid.empty()) out.set("uid", cut(user.uid, kTextMax));
    json::Array groups;
    for (const std::string& group : user.groups) {
        if (groups.size() == kGroupsMax) break;
        groups.emplace_back(cut(group, kTextMax));
    }
    if (!groups.empty()) out.set("groups", std::move(groups));
    return out;
}

json::Object object_json(const ResourcePath& path) {
    json::Object out{{"resource", cut(path.resource, kTextMax)}};
    const auto add = [&](std::string_view key, const std::string& text) {
        if (!text.empty()) out.set(key, cut(text, kTextMax));
    };
    add("namespace", path.name_space);
    add("name", path.name);
    add("apiGroup", path.group);
    add("apiVersion", path.version);
    add("subresource", path.subresource);
    return out;
}

std::string verb_text(const AuditRecord& record) {
    if (record.verb && record.path) return std::string{name(*record.verb)};
    std::string lower = cut(record.method, 32);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    return lower;
}

}  // namespace

std::string audit_line(const AuditRecord& record) {
    json::Object out{
        {"kind", "Event"},
        {"apiVersion", "audit.k8s.io/v1"},
        {"level", "Metadata"},
        {"auditID", record.id},
        {"stage", record.stage == AuditStage::ResponseStarted ? "ResponseStarted" : "ResponseComplete"},
        {"requestURI", cut(record.uri, kUriMax)},
        {"verb", verb_text(record)},
        {"user", record.user ? user_json(*record.user) : json::Object{{"username", "system:anonymous"}}},
    };
    if (record.impersonated) out.set("impersonatedUser", user_json(*record.impersonated));
    out.set("sourceIPs", json::Array{cut(record.source, kTextMax)});
    if (!record.agent.empty()) out.set("userAgent", cut(record.agent, kTextMax));
    if (record.path) out.set("objectRef", object_json(*record.path));
    if (record.code != 0) {
        json::Object status{{"metadata", json::Object{}}};
        if (!record.reason.empty()) {
            status.set("status", "Failure");
            status.set("reason", cut(record.reason, kTextMax));
        }
        status.set("code", record.code);
        out.set("responseStatus", std::move(status));
    }
    out.set("requestReceivedTimestamp", to_rfc3339(record.received, Precision::Micros));
    out.set("stageTimestamp", to_rfc3339(record.at, Precision::Micros));
    if (!record.txid.empty()) out.set("annotations", json::Object{{"rhizome.dev/txid", record.txid}});
    return json::print(json::Value{std::move(out)}) + "\n";
}

}  // namespace rhizome::api
