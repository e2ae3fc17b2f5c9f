// SPDX-License-Identifier: Apache-2.0
#include "api/only_stored.h"

#include <algorithm>
#include <optional>

#include <fmt/core.h>

namespace rhizome::api {
namespace {

/// What is only data needs nobody to act on it.
constexpr std::string_view kData[] = {"ConfigMap", "Secret"};

/// Fields of kinds that are acted on, or of all (an empty kind), which nothing acts on yet.
struct Field {
    std::string_view kind;
    std::string_view part;
    std::string_view name;
    std::string_view why;
};
constexpr Field kFields[] = {
    {"Node", "spec", "taints", "nothing places pods yet"},
    {"Node", "spec", "unschedulable", "nothing places pods yet"},
    {"Node", "spec", "podCIDR", "pods have no network yet"},
    {"Node", "spec", "podCIDRs", "pods have no network yet"},
    {"Node", "spec", "configSource", "there is no kubelet"},
};

bool is_empty(const json::Value* value) {
    return value == nullptr || value->is_null() || (value->is_array() && value->if_array()->empty());
}

}  // namespace

bool is_only_stored(const cluster::Kind& kind) {
    return !kind.acted_on && kind.keeping == cluster::Keeping::Chain &&
           !(kind.group.empty() && std::find(std::begin(kData), std::end(kData), kind.kind) != std::end(kData));
}

std::vector<std::string> only_stored_warnings(const cluster::Kind& kind, const json::Value& object,
                                              const json::Value* before) {
    std::vector<std::string> warnings;
    if (kind.keeping != cluster::Keeping::Chain) return warnings;
    for (const Field& field : kFields) {
        if (!field.kind.empty() && (!kind.group.empty() || kind.kind != field.kind)) continue;
        const json::Value* now = object.find_path({field.part, field.name});
        if (is_empty(now)) continue;
        const json::Value* was = before == nullptr ? nullptr : before->find_path({field.part, field.name});
        if (was != nullptr && *was == *now) continue;
        warnings.push_back(
            fmt::format("{}.{} is stored and shown; nothing in this version of Rhizome acts on it yet: {}", field.part,
                        field.name, field.why));
    }
    return warnings;
}

std::vector<KindInUse> only_stored_in(const state::StateView& view, const cluster::Kinds& kinds) {
    // A kind in several versions is one here: they share their documents.
    std::vector<const cluster::Kind*> waiting;
    for (const auto& kind : kinds.all())
        if (is_only_stored(*kind) && std::none_of(waiting.begin(), waiting.end(), [&](const cluster::Kind* one) {
                return one->group == kind->group && one->kind == kind->kind;
            }))
            waiting.push_back(kind.get());
    std::vector<std::uint64_t> counts(waiting.size());
    const auto count = [&](std::size_t i, const auto& prefix) {
        if (prefix) counts[i] += view.totals(*prefix).count;
    };
    for (std::size_t i = 0; i < waiting.size(); ++i)
        if (!waiting[i]->namespaced) count(i, state::Prefix::cluster_scoped_kind(waiting[i]->group, waiting[i]->kind));
    for (const state::Entry* entry :
         view.list_children(state::Prefix::namespaces(), std::nullopt, kNamespacesCounted).entries) {
        const std::string name{entry->path().name()};
        const auto all = state::Prefix::in_namespace(name);
        if (!all || view.totals(*all).count <= 1) continue;  // itself
        for (std::size_t i = 0; i < waiting.size(); ++i)
            if (waiting[i]->namespaced)
                count(i, state::Prefix::kind_in_namespace(name, waiting[i]->group, waiting[i]->kind));
    }
    std::vector<KindInUse> found;
    for (std::size_t i = 0; i < waiting.size(); ++i)
        if (counts[i] != 0) found.push_back({waiting[i]->resource(), counts[i]});
    std::sort(found.begin(), found.end(),
              [](const KindInUse& left, const KindInUse& right) { return left.resource < right.resource; });
    return found;
}

}  // namespace rhizome::api
