// SPDX-License-Identifier: Apache-2.0
#include "ledger/order.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>

#include "ledger/special_kinds.h"

namespace rhizome::ledger {
namespace {

using Positions = std::vector<std::size_t>;

struct Priority {
    unsigned depth = 2;
    bool keeps = true;  ///< deletes nothing: after those that do
    TxId id{};
    friend auto operator<=>(const Priority&, const Priority&) = default;
};

Priority priority_of(const Effects& effects) {
    Priority priority{.keeps = effects.removes.empty(), .id = effects.tx->id};
    for (const std::size_t output : effects.stores)
        priority.depth = std::min(priority.depth, depth_of(effects.tx->outputs[output].resource.scope));
    for (const state::Path& path : effects.removes) priority.depth = std::min(priority.depth, path.depth());
    return priority;
}

/// Who made something, by what it is: filled first, then asked. Sorted once, because a tree's or a hash table's nodes
/// cost more than all else here.
template <class Key>
class Makers {
public:
    void reserve(std::size_t count) { rows_.reserve(count); }
    void add(const Key& key, std::size_t maker) { rows_.emplace_back(key, maker); }
    void sort() { std::sort(rows_.begin(), rows_.end()); }
    /// Of several the first; null for none.
    [[nodiscard]] const std::size_t* find(const Key& key) const {
        const auto at = std::lower_bound(rows_.begin(), rows_.end(), std::pair{key, std::size_t{0}});
        return at == rows_.end() || at->first != key ? nullptr : &at->second;
    }
    /// Marks those who made what another before them made as well.
    void mark_repeated(std::vector<bool>& marks) const {
        for (std::size_t row = 1; row < rows_.size(); ++row)
            if (rows_[row].first == rows_[row - 1].first) marks[rows_[row].second] = true;
    }

private:
    std::vector<std::pair<Key, std::size_t>> rows_;
};

/// A path's key behind its hash: most keys begin alike, so comparing them from the front takes long. The hash decides
/// nothing but speed, and strangers who make many alike gain nothing.
struct HashedKey {
    std::size_t hash;
    std::string_view key;
    explicit HashedKey(std::string_view of) : hash(std::hash<std::string_view>{}(of)), key(of) {}
    friend auto operator<=>(const HashedKey&, const HashedKey&) = default;
    friend bool operator==(const HashedKey&, const HashedKey&) = default;
};

/// The edges of one set. "First" is whoever must come before.
class Graph {
public:
    explicit Graph(std::span<const Effects* const> effects)
        : effects_(effects), excluded_(effects.size(), false), after_(effects.size()), waits_(effects.size(), 0) {
        outputs_.reserve(effects.size());
        creates_.reserve(effects.size());
        for (std::size_t i = 0; i < effects.size(); ++i) note(i);
        outputs_.sort();
        creates_.sort();
        creates_.mark_repeated(excluded_);
        for (std::size_t i = 0; i < effects.size(); ++i)
            if (!excluded_[i]) link(i);
    }

    Ordering sort() {
        std::vector<Priority> priorities;
        priorities.reserve(effects_.size());
        for (const Effects* each : effects_) priorities.push_back(priority_of(*each));
        const auto later = [&](std::size_t a, std::size_t b) { return priorities[b] < priorities[a]; };
        std::priority_queue<std::size_t, Positions, decltype(later)> free{later};
        for (std::size_t i = 0; i < effects_.size(); ++i)
            if (waits_[i] == 0 && !excluded_[i]) free.push(i);
        Positions last;  // for circles, which are rare: the last by priority first
        std::vector<bool> done = excluded_;
        Ordering ordering;
        ordering.order.reserve(effects_.size());
        for (std::size_t i = 0; i < effects_.size(); ++i)
            if (excluded_[i]) ordering.left_out.push_back(i);
        const auto finish = [&](std::size_t position) {
            done[position] = true;
            for (const std::size_t waiting : after_[position])
                if (--waits_[waiting] == 0 && !done[waiting]) free.push(waiting);
        };
        for (std::size_t next_out = 0; ordering.order.size() + ordering.left_out.size() < effects_.size();) {
            if (!free.empty()) {
                const std::size_t next = free.top();
                free.pop();
                ordering.order.push_back(next);
                finish(next);
                continue;
            }
            if (last.empty()) {
                last.resize(effects_.size());
                std::iota(last.begin(), last.end(), 0);
                std::sort(last.begin(), last.end(), later);
            }
            while (done[last[next_out]]) ++next_out;
            ordering.left_out.push_back(last[next_out]);
            finish(last[next_out]);
        }
        return ordering;
    }

private:
    void note(std::size_t i) {
        const Effects& effects = *effects_[i];
        for (const std::size_t output : effects.stores) {
            outputs_.add({effects.tx->id, static_cast<std::uint16_t>(output)}, i);
            const Resource& resource = effects.tx->outputs[output].resource;
            if (resource.type.kind == "CustomResourceDefinition")
                if (const auto read = read_definition(parse_checked(effects.tx->tx.outputs[output].value)))
                    defines_.emplace(read->type, i);
        }
        for (const state::Path& path : effects.creates) creates_.add(HashedKey{path.key()}, i);
        for (const state::Path& path : effects.removes) {
            removes_[path].push_back(i);
            if (const std::string_view group = group_defined_at(path); !group.empty())
                undefines_[std::string{group}].push_back(i);
        }
        for (const Outpoint& lock : effects.locks_ended) ends_[lock].push_back(i);
    }

    void link(std::size_t i) {
        const Effects& effects = *effects_[i];
        for (const auto* named : {&effects.consumed, &effects.locks_used})
            for (const Outpoint& outpoint : *named)
                if (const std::size_t* made = outputs_.find(outpoint)) edge(*made, i);
        for (const Outpoint& lock : effects.locks_used)
            if (const auto ended = ends_.find(lock); ended != ends_.end())
                for (const std::size_t ending : ended->second) edge(i, ending);
        for (const std::size_t output : effects.stores) {
            const Resource& resource = effects.tx->outputs[output].resource;
            touch(i, resource.path);
            if (const auto parent = resource.path.parent_key(); !parent.empty())
                if (const std::size_t* made = creates_.find(HashedKey{parent})) edge(*made, i);
            if (!resource.builtin)
                if (const auto defined = defines_.find(resource.type); defined != defines_.end())
                    edge(defined->second, i);
            if (!resource.builtin) touch_group(i, resource.type.group);
        }
        for (const state::Path& path : effects.creates)
            if (const auto removed = removes_.find(path); removed != removes_.end())
                for (const std::size_t removing : removed->second)
                    if (creator_of_removed(removing, path) != i) edge(removing, i);
        for (const state::Path& path : effects.removes) {
            touch(i, path);
            if (!undefines_.empty() && !builtin_scope(path.group(), path.kind())) touch_group(i, path.group());
        }
    }

    /// Whose creation it is that `removing` ends, when that is in the set: then it comes after it, not before.
    [[nodiscard]] std::optional<std::size_t> creator_of_removed(std::size_t removing, const state::Path& path) const {
        std::size_t at = removing;
        for (std::size_t steps = 0; steps < effects_.size(); ++steps) {
            std::optional<std::size_t> made_by;
            for (const Outpoint& outpoint : effects_[at]->consumed) {
                const std::size_t* made = outputs_.find(outpoint);
                if (made != nullptr && *made != at &&
                    effects_[*made]->tx->outputs[outpoint.index].resource.path == path)
                    made_by = *made;
            }
            if (!made_by) return std::nullopt;
            at = *made_by;
            const auto& creates = effects_[at]->creates;
            if (std::find(creates.begin(), creates.end(), path) != creates.end()) return at;
        }
        return std::nullopt;
    }

    /// Whoever deletes an ancestor of `path` comes after the one who touches it.
    void touch(std::size_t i, const state::Path& path) {
        if (removes_.empty()) return;
        for (const state::Path& above : path.ancestors())
            if (const auto removed = removes_.find(above); removed != removes_.end())
                for (const std::size_t removing : removed->second) edge(i, removing);
    }

    /// Whoever takes a kind of this group away, and its documents with it, comes after the one who touches one of them.
    void touch_group(std::size_t i, std::string_view group) {
        if (const auto ending = undefines_.find(group); ending != undefines_.end())
            for (const std::size_t removing : ending->second) edge(i, removing);
    }

    /// The group whose kind a definition at this path defines, by its name (`widgets.example.com`), which is all that a
    /// deletion tells; empty for all else.
    static std::string_view group_defined_at(const state::Path& path) {
        if (path.shape() != state::Path::Shape::ClusterScoped || path.kind() != "CustomResourceDefinition" ||
            path.group() != "apiextensions.k8s.io")
            return {};
        const std::string_view name = path.name();
        const std::size_t dot = name.find('.');
        return dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1);
    }

    void edge(std::size_t first, std::size_t second) {
        if (first == second || excluded_[first] || !edges_.emplace(first, second).second) return;
        after_[first].push_back(second);
        ++waits_[second];
    }

    std::span<const Effects* const> effects_;
    Makers<Outpoint> outputs_;
    Makers<HashedKey> creates_;
    std::map<state::Path, Positions> removes_;
    std::unordered_map<Outpoint, Positions, OutpointHash> ends_;
    std::map<GroupKind, std::size_t> defines_;
    std::map<std::string, Positions, std::less<>> undefines_;  ///< by group
    std::set<std::pair<std::size_t, std::size_t>> edges_;
    /// Create what another before them creates. A block has one creation of a path at most, so no order is sought for
    /// these: to the others they are not there.
    std::vector<bool> excluded_;
    std::vector<Positions> after_;
    std::vector<std::size_t> waits_;
};

}  // namespace

Ordering canonical_order(std::span<const Effects> effects) {
    std::vector<const Effects*> each;
    each.reserve(effects.size());
    for (const Effects& one : effects) each.push_back(&one);
    return canonical_order(each);
}

Ordering canonical_order(std::span<const Effects* const> effects) { return Graph{effects}.sort(); }

}  // namespace rhizome::ledger
