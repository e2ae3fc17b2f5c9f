// SPDX-License-Identifier: Apache-2.0
#include "api/registry.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "api/discovery.h"
#include "api/openapi.h"
#include "base/ensure.h"
#include "cluster/custom_definition.h"

namespace rhizome::api {
namespace {

using Defined = Registry::Defined;

constexpr json::Limits kStored{.bytes = state::kDocumentBytesMax, .depth = 1000};

Fixed fixed(const json::Value& document) {
    Fixed made{.body = json::print(document)};
    made.etag = fmt::format("\"{}\"", text_hash(made.body));
    return made;
}

Fixed aggregated(const cluster::Kinds& kinds, bool core, std::string_view version) {
    json::Value document = aggregated_discovery(kinds, core);
    document["apiVersion"] = fmt::format("apidiscovery.k8s.io/{}", version);
    return fixed(document);
}

/// Documents are made when they are asked for, since they are large and clients keep them by their hash: it changes
/// with what is defined in the group and with this program.
Fixed index_of(const Registry& registry, std::string_view version) {
    std::map<std::string_view, std::string> defined;
    for (const Defined& one : registry.definitions)
        for (const auto& kind : one.kinds) defined[kind->group] += one.entry->document_hash().hex();
    std::vector<OpenapiEntry> entries;
    for (const std::string_view group : registry.kinds.groups())
        for (const std::string_view one : registry.kinds.versions(group)) {
            OpenapiEntry entry{.path = openapi_path(group, one)};
            entry.hash = text_hash(fmt::format("{} {} {}", entry.path, version, defined[group]));
            entries.push_back(std::move(entry));
        }
    return fixed(openapi_index(entries));
}

Defined define(state::EntryPtr entry) {
    Defined made{.entry = std::move(entry), .name = std::string{}};
    made.name = made.entry->path().name();
    const auto document = json::parse(made.entry->document(), kStored);
    ensure(document.has_value(), "a document in the state is strict JSON");
    auto read = cluster::read_definition(*document, made.entry->origin().latest.height.number());
    if (!read) {
        made.fault = read.error().message;
        return made;
    }
    for (cluster::CustomKind& kind : read->kinds) made.kinds.push_back(cluster::hold_kind(std::move(kind)));
    return made;
}

/// Of two that want a name the older one has it, on every node alike.
bool is_older(const Defined* left, const Defined* right) {
    const state::Mark& a = left->entry->origin().born;
    const state::Mark& b = right->entry->origin().born;
    if (a.height != b.height) return a.height < b.height;
    return left->name < right->name;
}

/// Names of one group that are taken.
struct Taken {
    std::set<std::string_view> resources{};  ///< plural, singular and short names
    std::set<std::string_view> kinds{};      ///< kinds and those of their lists
};

/// What conflicts, as reason and sentence; nothing when all names are free.
std::vector<std::string> conflicts_of(const cluster::Kind& kind, const std::string& list_kind, const Taken& taken) {
    std::vector<std::string> found;
    const auto check = [&](std::string_view name, const std::set<std::string_view>& all, std::string_view reason) {
        if (!all.contains(name)) return;
        found.emplace_back(reason);
        found.push_back(fmt::format("{} is already in use", json::quote(name)));
    };
    check(kind.plural, taken.resources, "PluralConflict");
    check(kind.singular, taken.resources, "SingularConflict");
    for (const std::string_view name : kind.short_names) check(name, taken.resources, "ShortNamesConflict");
    check(kind.kind, taken.kinds, "KindConflict");
    check(list_kind, taken.kinds, "ListKindConflict");
    return found;
}

/// Puts the kinds of all definitions into the registry, the older ones first.
void serve(Registry& registry) {
    auto served = std::make_shared<cluster::ServedDefinitions>();
    std::vector<const Defined*> order;
    for (const Defined& one : registry.definitions) order.push_back(&one);
    std::sort(order.begin(), order.end(), is_older);
    std::map<std::string_view, Taken> taken;
    std::vector<std::string> list_kinds;
    list_kinds.reserve(order.size());  // views into them are kept
    for (const Defined* one : order) {
        cluster::ServedDefinition& status = served->by_name[one->name];
        status.fault = one->fault;
        if (one->kinds.empty()) continue;
        const cluster::Kind& first = *one->kinds.front();
        list_kinds.push_back(first.list_kind());
        Taken& group = taken[first.group];
        status.conflicts = conflicts_of(first, list_kinds.back(), group);
        if (!status.conflicts.empty()) continue;
        for (const auto& kind : one->kinds)
            if (const auto added = registry.kinds.add(kind); !added && status.conflicts.empty())
                status.conflicts = {"KindConflict", added.error().message};
        if (!status.conflicts.empty()) continue;
        group.resources.insert({first.plural, first.singular});
        group.resources.insert(first.short_names.begin(), first.short_names.end());
        group.kinds.insert({first.kind, list_kinds.back()});
    }
    registry.kinds.show_served(std::move(served));
}

bool is_known(const Registry& registry, const std::vector<state::EntryPtr>& entries) {
    return std::equal(entries.begin(), entries.end(), registry.definitions.begin(), registry.definitions.end(),
                      [](const state::EntryPtr& entry, const Defined& one) { return entry == one.entry; });
}

}  // namespace

SharedRegistry make_registry(const state::StateView& chain, std::string_view version, const SharedRegistry& before) {
    const auto prefix = state::Prefix::cluster_scoped_kind(cluster::kDefinitionGroup, cluster::kDefinitionKind);
    ensure(prefix.has_value(), "definitions have a place");
    std::vector<state::EntryPtr> entries;
    state::Cursor cursor = chain.walk(*prefix);
    while (const state::Entry* entry = cursor.next()) entries.emplace_back(entry);
    if (before && is_known(*before, entries)) return before;
    auto registry = std::make_shared<Registry>();
    for (state::EntryPtr& entry : entries) {
        const auto same = [&](const Defined& one) { return one.entry == entry; };
        const Defined* known = nullptr;
        if (before)
            if (const auto at = std::find_if(before->definitions.begin(), before->definitions.end(), same);
                at != before->definitions.end())
                known = &*at;
        registry->definitions.push_back(known != nullptr ? *known : define(std::move(entry)));
    }
    serve(*registry);
    registry->core_v2 = aggregated(registry->kinds, true, "v2");
    registry->core_v2beta1 = aggregated(registry->kinds, true, "v2beta1");
    registry->groups_v2 = aggregated(registry->kinds, false, "v2");
    registry->groups_v2beta1 = aggregated(registry->kinds, false, "v2beta1");
    registry->openapi_index = index_of(*registry, version);
    return registry;
}

}  // namespace rhizome::api
