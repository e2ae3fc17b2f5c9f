// SPDX-License-Identifier: Apache-2.0
#include "cluster/garbage.h"

#include <algorithm>

#include <fmt/core.h>

#include "cluster/kinds.h"
#include "cluster/object.h"

namespace rhizome::cluster {
namespace {

bool is_empty_list(const json::Value* list) {
    return list == nullptr || !list->is_array() || list->if_array()->empty();
}

bool is_namespace(const state::Path& path) { return path.shape() == state::Path::Shape::Namespace; }

/// Where an owner stands; nothing when it cannot be one: what has no namespace belongs to nothing in one.
std::optional<state::Path> owner_path(const OwnerReference& owner, const state::Path& of, const Garbage::World& world) {
    const bool in_namespace = world.is_namespaced(owner.group, owner.kind);
    const bool dependent_in_one = of.shape() == state::Path::Shape::Namespaced;
    if (in_namespace && !dependent_in_one) return std::nullopt;
    const auto path = state::Path::of(owner.group, owner.kind, in_namespace ? of.namespace_name() : "", owner.name);
    return path ? std::optional{*path} : std::nullopt;
}

}  // namespace

std::vector<OwnerReference> owners_of(const json::Value& object) {
    std::vector<OwnerReference> owners;
    const json::Value* list = object.find_path({"metadata", "ownerReferences"});
    if (list == nullptr || !list->is_array()) return owners;
    for (const json::Value& one : *list->if_array()) {
        const auto version = parse_api_version(one.text_at({"apiVersion"}));
        if (!version) continue;
        const json::Value* blocks = one.find("blockOwnerDeletion");
        owners.push_back({.group = std::string{version->group},
                          .kind = std::string{one.text_at({"kind"})},
                          .name = std::string{one.text_at({"name"})},
                          .uid = std::string{one.text_at({"uid"})},
                          .blocks = blocks != nullptr && blocks->if_boolean() == true});
    }
    return owners;
}

bool namespace_may_go(const json::Value& object) {
    if (!is_empty_list(object.find_path({"metadata", "finalizers"}))) return false;
    const json::Value* own = object.find_path({"spec", "finalizers"});
    if (is_empty_list(own)) return true;
    const json::Array& all = *own->if_array();
    return std::all_of(all.begin(), all.end(), [](const json::Value& one) { return one == json::Value{"kubernetes"}; });
}

void Garbage::saw(const state::Path& path, const json::Value* before, const json::Value* after) {
    if (before != nullptr)
        for (const OwnerReference& owner : owners_of(*before)) {
            if (const auto at = by_owner_.find(owner.uid); at != by_owner_.end()) {
                at->second.erase(path);
                if (at->second.empty()) by_owner_.erase(at);
            }
            // An owner that waits for this one may be able to go.
            if (const auto above = state::Path::of(owner.group, owner.kind, path.namespace_name(), owner.name))
                waiting_.insert(*above);
            if (const auto above = state::Path::of(owner.group, owner.kind, "", owner.name)) waiting_.insert(*above);
        }
    const bool ends = after == nullptr || is_terminating(*after);
    if (after != nullptr) {
        const auto owners = owners_of(*after);
        for (const OwnerReference& owner : owners) by_owner_[owner.uid].insert(path);
        if (ends || !owners.empty()) waiting_.insert(path);
    }
    if (!ends) return;
    const json::Value& known = after != nullptr ? *after : *before;
    for (const state::Path& one : dependents(uid_of(known))) waiting_.insert(one);
    if (const auto above = path.parent(); above && is_namespace(*above)) waiting_.insert(*above);
}

std::vector<state::Path> Garbage::dependents(std::string_view uid) const {
    const auto at = by_owner_.find(uid);
    if (at == by_owner_.end()) return {};
    return {at->second.begin(), at->second.end()};
}

void Garbage::judge_owned(const state::Path& path, const json::Value& object, const World& world,
                          std::vector<Chore>& out) const {
    const auto owners = owners_of(object);
    if (owners.empty() || is_terminating(object)) return;
    std::vector<std::string> gone;
    std::vector<std::string> waits;  // owners that are deleted in the foreground
    bool solid = false;
    for (const OwnerReference& owner : owners) {
        const auto above = owner_path(owner, path, world);
        // What nobody here knows of may be there: nothing follows from it.
        if (!above || !world.is_known(owner.group, owner.kind)) {
            solid = true;
            continue;
        }
        const auto there = world.object_at(*above);
        if (!there || uid_of(*there) != owner.uid)
            gone.push_back(owner.uid);
        else if (is_terminating(*there) && has_finalizer(*there, kForeground))
            waits.push_back(owner.uid);
        else
            solid = true;
    }
    Chore chore{.path = path, .uid = std::string{uid_of(object)}};
    if (solid) {
        if (gone.empty() && waits.empty()) return;
        chore.what = Chore::What::DropOwners;
        chore.uids = std::move(gone);
        chore.uids.insert(chore.uids.end(), waits.begin(), waits.end());
        chore.why = "some of its owners are gone, others are not";
    } else {
        chore.foreground = !waits.empty();
        chore.why = waits.empty() ? "its owners are gone" : "its owner waits for it to go";
    }
    out.push_back(std::move(chore));
}

void Garbage::judge_namespace(const state::Path& path, const json::Value& object, const World& world,
                              std::vector<Chore>& out) const {
    constexpr std::size_t kAtOnce = 256;
    bool empty = true;
    for (const state::Path& one : world.contents(path.name(), kAtOnce)) {
        empty = false;
        const auto inside = world.object_at(one);
        if (!inside || is_terminating(*inside)) continue;
        out.push_back({.path = one, .uid = std::string{uid_of(*inside)}, .why = "its namespace ends"});
    }
    if (empty && namespace_may_go(object))
        out.push_back({.path = path, .uid = std::string{uid_of(object)}, .why = "it has ended and is empty"});
}

void Garbage::judge(const state::Path& path, const json::Value& object, const World& world,
                    std::vector<Chore>& out) const {
    const std::string uid{uid_of(object)};
    if (is_terminating(object)) {
        if (is_namespace(path)) judge_namespace(path, object, world, out);
        const auto below = dependents(uid);
        if (has_finalizer(object, kOrphan)) {
            for (const state::Path& one : below)
                if (const auto there = world.object_at(one))
                    out.push_back({.what = Chore::What::DropOwners,
                                   .path = one,
                                   .uid = std::string{uid_of(*there)},
                                   .uids = {uid},
                                   .why = "its owner is deleted without it"});
            if (below.empty())
                out.push_back({.what = Chore::What::Release,
                               .path = path,
                               .uid = uid,
                               .finalizer = std::string{kOrphan},
                               .why = "nothing refers to it any more"});
        } else if (has_finalizer(object, kForeground)) {
            const bool blocked = std::any_of(below.begin(), below.end(), [&](const state::Path& one) {
                const auto there = world.object_at(one);
                if (!there) return false;
                const auto owners = owners_of(*there);
                return std::any_of(owners.begin(), owners.end(),
                                   [&](const OwnerReference& owner) { return owner.uid == uid && owner.blocks; });
            });
            if (!blocked)
                out.push_back({.what = Chore::What::Release,
                               .path = path,
                               .uid = uid,
                               .finalizer = std::string{kForeground},
                               .why = "nothing that it waits for is left"});
        }
    }
    judge_owned(path, object, world, out);
}

std::vector<Chore> Garbage::chores(const World& world, std::size_t most) {
    std::vector<Chore> out;
    auto at = next_ ? waiting_.lower_bound(*next_) : waiting_.begin();
    next_.reset();
    while (at != waiting_.end()) {
        if (out.size() >= most) {
            next_ = *at;
            break;
        }
        const std::size_t before = out.size();
        if (const auto object = world.object_at(*at)) judge(*at, *object, world, out);
        // What is to be done shows as a change, which brings it back; what is not, is not waited for.
        at = out.size() == before ? waiting_.erase(at) : std::next(at);
    }
    return out;
}

}  // namespace rhizome::cluster
