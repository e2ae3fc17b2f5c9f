// SPDX-License-Identifier: Apache-2.0
#include "api/io/access.h"

#include <fmt/core.h>

#include "api/io/service.h"
#include "ledger/draft.h"

namespace rhizome::api {
namespace {

/// What nobody is called: stands for "any" where a document is needed to ask about.
constexpr std::string_view kAnyName = "access-review";
/// Documents of a namespace that are looked through for locks of their own, and those told of.
constexpr std::size_t kLookedAtMax = 10'000;
constexpr std::size_t kToldMax = 100;

std::string some_document(const state::Path& path) {
    json::Object metadata;
    if (!path.namespace_name().empty() && path.shape() != state::Path::Shape::Namespace)
        metadata.set("namespace", path.namespace_name());
    metadata.set("name", path.name());
    const std::string version = path.group().empty() ? "v1" : fmt::format("{}/v1", path.group());
    return json::print(json::Object{{"apiVersion", version}, {"kind", path.kind()}, {"metadata", std::move(metadata)}});
}

/// The one whose lock decides when `by` is named (nothing: the nearest that has one); null when none does.
const state::Entry* decider(const state::Path& path, const std::optional<state::Path>& by,
                            const state::StateView& chain) {
    if (by) return chain.get(*by);
    if (const state::Entry* own = chain.get(path); own != nullptr && !own->script().empty()) return own;
    for (const state::Path& above : path.ancestors())
        if (const state::Entry* entry = chain.get(above); entry != nullptr && !entry->script().empty()) return entry;
    return nullptr;
}

const Kind* kind_of(const cluster::Kinds& kinds, const Asked& asked) {
    for (const auto& kind : kinds.all())
        if (kind->group == asked.group && kind->plural == asked.resource &&
            (asked.version.empty() || asked.version == "*" || asked.version == kind->version))
            return kind.get();
    return nullptr;
}

/// The document that the question is about, or one that stands for those it is about.
state::Path path_asked(const Asked& asked, const Kind* kind, const state::StateView& chain) {
    state::Path cluster = state::Path::cluster();
    const bool on_chain = kind == nullptr || kind->keeping == cluster::Keeping::Chain;
    if (!on_chain && (kind == nullptr || !kind->namespaced)) return cluster;
    const bool any_name = asked.name.empty() || asked.name == "*";
    const std::string_view name = any_name ? kAnyName : std::string_view{asked.name};
    if (kind != nullptr && !kind->namespaced)
        return state::Path::of(kind->group, kind->kind, "", name).value_or(cluster);
    if (asked.name_space.empty() || asked.name_space == "*") return cluster;
    const auto space = state::Path::namespace_(asked.name_space);
    if (!space || !chain.contains(*space)) return cluster;
    const std::string_view group = kind == nullptr ? "" : kind->group;
    return state::Path::of(group, kind == nullptr || !on_chain ? "ConfigMap" : kind->kind, asked.name_space,
                           on_chain ? name : kAnyName)
        .value_or(*space);
}

ReviewHelp::Rules rules_of(const Service& service, const User& user, std::string_view name_space) {
    const SharedRegistry registry = service.registry();
    ReviewHelp::Rules found;
    found.rules.push_back({.verbs = {"get", "list", "watch"}, .groups = {"*"}, .resources = {"*"}});
    const state::StateView chain =
        service.backend.live().read([](const Revisions& now) { return now.view(Layer::Chain); });
    const Asked any{.verb = "create", .resource = "*", .name_space = std::string{name_space}};
    if (access_of(service, user, any).allowed) {
        found.rules.push_back({.verbs = {"*"}, .groups = {"*"}, .resources = {"*"}});
        return found;
    }
    const auto prefix = state::Prefix::in_namespace(name_space);
    if (!prefix) return found;
    state::Cursor cursor = chain.walk(*prefix);
    std::size_t looked_at = 0;
    while (const state::Entry* entry = cursor.next()) {
        if (++looked_at > kLookedAtMax || found.rules.size() > kToldMax) {
            found.incomplete = true;
            break;
        }
        if (entry->script().empty()) continue;
        const state::Path path = entry->path();
        const Kind* kind = registry->kinds.preferred(path.group(), path.kind());
        if (kind == nullptr || !could_change(service.backend, user, path, chain).allowed) continue;
        found.rules.push_back({.verbs = {"update", "patch", "delete"},
                               .groups = {std::string{kind->group}},
                               .resources = {std::string{kind->plural}},
                               .names = {std::string{path.name()}}});
    }
    return found;
}

}  // namespace

std::vector<std::optional<state::Path>> deciders_of(const state::Path& path, const state::StateView& chain) {
    std::vector<std::optional<state::Path>> all{std::nullopt};
    for (const state::Path& above : path.ancestors()) {
        const state::Entry* entry = chain.get(above);
        if (entry != nullptr && !entry->script().empty()) all.emplace_back(above);
    }
    return all;
}

Access could_change(Backend& backend, const User& user, const state::Path& path, const state::StateView& chain) {
    const state::Entry* present = chain.get(path);
    std::string refusals;
    const state::Entry* asked_before = nullptr;
    for (const auto& by : deciders_of(path, chain)) {
        const state::Entry* whose = decider(path, by, chain);
        if (whose == nullptr || whose == asked_before) continue;
        asked_before = whose;
        ledger::DraftWish wish{.by = by, .now = backend.now()};
        wish.changes.push_back(
            {.document = present != nullptr ? std::string{present->document()} : some_document(path)});
        const bool of_cluster = whose->path().shape() == state::Path::Shape::Cluster;
        const std::string opens_to = backend.signer().explain_lock(whose->script());
        const auto draft = ledger::make_draft(wish, chain);
        if (!draft) {
            refusals += (refusals.empty() ? "" : ". ") + draft.error().why;
            continue;
        }
        const auto opened = backend.signer().sign(*draft, user, chain);
        if (opened)
            return {true, fmt::format("opens the lock of {}, which opens to {}",
                                      of_cluster ? "the cluster" : whose->path().text(), opens_to)};
        refusals += fmt::format("{}{}; it opens to {}", refusals.empty() ? "" : ". ", opened.error().message, opens_to);
    }
    return {false, refusals.empty() ? "nothing above it has a lock" : refusals};
}

Access access_of(const Service& service, const User& user, const Asked& asked) {
    const SharedRegistry registry = service.registry();
    const Kind* kind = kind_of(registry->kinds, asked);
    const Ground ground = ground_of(asked, kind);
    if (ground != Ground::Lock) return without_lock(ground, user);
    const state::StateView chain =
        service.backend.live().read([](const Revisions& now) { return now.view(Layer::Chain); });
    return could_change(service.backend, user, path_asked(asked, kind, chain), chain);
}

Result<void, Status> require_access(const Service& service, const Call& call, std::string_view verb) {
    const Access access = access_of(service, call.user,
                                    {.verb = std::string{verb},
                                     .group = std::string{call.kind->group},
                                     .resource = std::string{call.kind->plural},
                                     .subresource = call.path.subresource,
                                     .name_space = call.path.name_space,
                                     .name = call.path.name});
    if (access.allowed) return {};
    return Fail{forbidden(*call.kind, call.path.name, access.reason)};
}

ReviewHelp review_help(const Service& service) {
    return {.access = [&service](const User& user, const Asked& asked) { return access_of(service, user, asked); },
            .authenticate =
                [&service](std::string_view token, const std::vector<std::string>& audiences) {
                    return authenticate(service, token, audiences);
                },
            .rules = [&service](const User& user,
                                std::string_view name_space) { return rules_of(service, user, name_space); }};
}

}  // namespace rhizome::api
