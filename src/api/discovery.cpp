// SPDX-License-Identifier: Apache-2.0
#include "api/discovery.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/bytes.h"
#include "cluster/base64.h"

namespace rhizome::api {
namespace {

using cluster::Kind;
using cluster::Kinds;
using cluster::Subresource;

constexpr std::array<std::string_view, 19> kGroupOrder{
    "apiregistration.k8s.io",
    "apps",
    "events.k8s.io",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "networking.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "storage.k8s.io",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "scheduling.k8s.io",
    "coordination.k8s.io",
    "node.k8s.io",
    "discovery.k8s.io",
    "flowcontrol.apiserver.k8s.io",
};

template <class Texts>
json::Array texts(const Texts& all) {
    json::Array out;
    for (const auto& text : all) out.emplace_back(std::string_view(text));
    return out;
}

json::Object group_version_kind(std::string_view group, std::string_view version, std::string_view kind) {
    return {{"group", group}, {"version", version}, {"kind", kind}};
}

json::Value resource_entry(const Kind& kind) {
    json::Object out{{"resource", kind.plural},
                     {"responseKind", group_version_kind(kind.group, kind.version, kind.kind)},
                     {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
                     {"singularResource", kind.singular},
                     {"verbs", texts(kind.verbs.names())}};
    if (!kind.short_names.empty()) out.set("shortNames", texts(kind.short_names));
    if (!kind.categories.empty()) out.set("categories", texts(kind.categories));
    if (!kind.subresources.empty()) {
        json::Array list;
        for (const Subresource& each : kind.subresources)
            list.emplace_back(json::Object{{"subresource", each.name},
                                           {"responseKind", group_version_kind(each.group, each.version, each.kind)},
                                           {"verbs", texts(each.verbs.names())}});
        out.set("subresources", std::move(list));
    }
    return out;
}

json::Value group_entry(const Kinds& kinds, std::string_view group) {
    json::Object metadata;
    if (!group.empty()) metadata.set("name", group);
    metadata.set("creationTimestamp", nullptr);
    json::Array versions;
    for (const std::string_view version : kinds.versions(group)) {
        json::Array resources;
        for (const Kind* kind : kinds.of_version(group, version)) resources.push_back(resource_entry(*kind));
        versions.emplace_back(
            json::Object{{"version", version}, {"resources", std::move(resources)}, {"freshness", "Current"}});
    }
    return json::Object{{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

/// By which clients see that a kind's documents are kept in another version than before.
std::string storage_hash(const Kinds& kinds, const Kind& kind) {
    const Kind* kept = kinds.preferred(kind.group, kind.kind);
    const std::string_view version = kept == nullptr ? kind.version : kept->version;
    return cluster::base64(as_bytes(text_hash(fmt::format("{}/{}/{}", kind.group, version, kind.kind)).substr(0, 8)));
}

std::string api_version_of(std::string_view group, std::string_view version) {
    return group.empty() ? std::string(version) : fmt::format("{}/{}", group, version);
}

json::Object version_entry(std::string_view group, std::string_view version) {
    return {{"groupVersion", api_version_of(group, version)}, {"version", version}};
}

json::Object group_summary(const Kinds& kinds, std::string_view group) {
    const auto versions = kinds.versions(group);
    json::Array list;
    for (const std::string_view version : versions) list.emplace_back(version_entry(group, version));
    return {
        {"name", group}, {"versions", std::move(list)}, {"preferredVersion", version_entry(group, versions.front())}};
}

}  // namespace

std::vector<std::string_view> listed_groups(const Kinds& kinds) {
    std::vector<std::string_view> groups = kinds.groups();
    std::erase(groups, std::string_view{});
    std::stable_sort(groups.begin(), groups.end(), [](std::string_view left, std::string_view right) {
        const auto place = [](std::string_view group) {
            return std::find(kGroupOrder.begin(), kGroupOrder.end(), group) - kGroupOrder.begin();
        };
        return place(left) < place(right);
    });
    return groups;
}

json::Value aggregated_discovery(const Kinds& kinds, bool core) {
    json::Array items;
    if (core)
        items.push_back(group_entry(kinds, ""));
    else
        for (const std::string_view group : listed_groups(kinds)) items.push_back(group_entry(kinds, group));
    return json::Object{{"kind", "APIGroupDiscoveryList"},
                        {"apiVersion", "apidiscovery.k8s.io/v2"},
                        {"metadata", json::Object{}},
                        {"items", std::move(items)}};
}

std::string aggregated_content_type(std::string_view version) {
    return fmt::format("application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList", version);
}

json::Value api_versions(std::string_view address) {
    return json::Object{{"kind", "APIVersions"},
                        {"versions", json::Array{"v1"}},
                        {"serverAddressByClientCIDRs",
                         json::Array{json::Object{{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", address}}}}};
}

json::Value api_group_list(const Kinds& kinds) {
    json::Array groups;
    for (const std::string_view group : listed_groups(kinds)) groups.emplace_back(group_summary(kinds, group));
    return json::Object{{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

json::Value api_group(const Kinds& kinds, std::string_view group) {
    if (group.empty() || kinds.versions(group).empty()) return nullptr;
    json::Object out{{"kind", "APIGroup"}, {"apiVersion", "v1"}};
    for (const auto& [key, value] : group_summary(kinds, group)) out.set(key, value);
    return out;
}

json::Value api_resource_list(const Kinds& kinds, std::string_view group, std::string_view version) {
    const auto all = kinds.of_version(group, version);
    if (all.empty()) return nullptr;
    json::Array resources;
    for (const Kind* kind : all) {
        json::Object entry{{"name", kind->plural},
                           {"singularName", kind->singular},
                           {"namespaced", kind->namespaced},
                           {"kind", kind->kind},
                           {"verbs", texts(kind->verbs.names())}};
        if (!kind->short_names.empty()) entry.set("shortNames", texts(kind->short_names));
        if (!kind->categories.empty()) entry.set("categories", texts(kind->categories));
        if (kind->keeping != cluster::Keeping::Nowhere) entry.set("storageVersionHash", storage_hash(kinds, *kind));
        resources.emplace_back(std::move(entry));
        for (const Subresource& each : kind->subresources) {
            json::Object sub{{"name", fmt::format("{}/{}", kind->plural, each.name)},
                             {"singularName", ""},
                             {"namespaced", kind->namespaced}};
            if (each.group != group || each.version != version) {
                sub.set("group", each.group);
                sub.set("version", each.version);
            }
            sub.set("kind", each.kind);
            sub.set("verbs", texts(each.verbs.names()));
            resources.emplace_back(std::move(sub));
        }
    }
    return json::Object{{"kind", "APIResourceList"},
                        {"apiVersion", "v1"},
                        {"groupVersion", api_version_of(group, version)},
                        {"resources", std::move(resources)}};
}

std::string text_hash(std::string_view text) {
    std::uint64_t hash = 0xcbf29ce484222325u;
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3u;
    return fmt::format("{:016x}", hash);
}

}  // namespace rhizome::api
