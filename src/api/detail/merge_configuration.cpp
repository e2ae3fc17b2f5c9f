// SPDX-License-Identifier: Apache-2.0
#include "api/detail/merge_configuration.h"

#include <map>
#include <set>

#include "api/detail/schema_steps.h"

namespace rhizome::api::detail {
namespace {

using cluster::ListType;
using cluster::Schema;

void merge_lists(json::Array& live, const json::Array& wanted, const Schema& list) {
    std::map<std::string, json::Value*> known;
    std::vector<std::string> live_steps;
    live_steps.reserve(live.size());
    for (json::Value& element : live) {
        live_steps.push_back(element_step(element, list));
        if (!live_steps.back().empty()) known.emplace(live_steps.back(), &element);
    }
    std::vector<std::string> wanted_steps;
    std::set<std::string_view> asked;
    wanted_steps.reserve(wanted.size());
    for (const json::Value& element : wanted) wanted_steps.push_back(element_step(element, list));
    for (const std::string& step : wanted_steps) asked.insert(step);

    json::Array merged;
    merged.reserve(live.size() + wanted.size());
    std::size_t next = 0;  // of `wanted`
    const auto take = [&] {
        const auto old = known.find(wanted_steps[next]);
        if (old == known.end() || list.list_type == ListType::Set) {
            merged.push_back(wanted[next]);
        } else {
            json::Value element = std::move(*old->second);
            merge_configuration(element, wanted[next], list.element);
            merged.push_back(std::move(element));
        }
        ++next;
    };
    const auto next_shared = [&] {
        std::size_t at = next;
        while (at < wanted.size() && !known.contains(wanted_steps[at])) ++at;
        return at;
    };
    std::size_t shared = next_shared();
    for (std::size_t i = 0; i < live.size(); ++i) {
        if (!asked.contains(live_steps[i])) {
            merged.push_back(std::move(live[i]));
        } else if (shared < wanted.size() && wanted_steps[shared] == live_steps[i]) {
            while (next <= shared) take();
            shared = next_shared();
        }
    }
    while (next < wanted.size()) take();
    live = std::move(merged);
}

/// Whether a set has the place that `node` is: itself, or as a struct's field with something in it.
bool has(const FieldSet* node, bool named) {
    return node != nullptr && (node->member || (named && !node->children.empty()));
}
const FieldSet* below(const FieldSet* set, std::string_view step) { return set == nullptr ? nullptr : set->find(step); }

/// Erases the members that `goes` is true for, which may also change their values.
template <class Goes>
void erase_members(json::Object& object, const Goes& goes) {
    std::set<std::string> gone;
    for (auto& member : object)
        if (goes(member.key, member.value)) gone.insert(member.key);
    if (!gone.empty()) object.erase_if([&](const auto& member) { return gone.contains(member.key); });
}

bool is_empty(const json::Value& value) {
    return (value.is_object() && value.if_object()->empty()) || (value.is_array() && value.if_array()->empty());
}

class Pruning {
public:
    /// How far the place above is given up: its author had it (`lost`), and nobody has it now (`dead`).
    struct Fate {
        bool lost = false;
        bool dead = false;
    };

    static void walk(json::Value& value, const Schema* schema, const FieldSet* last, const FieldSet* owned, Fate fate) {
        if (merges_by_member(value, schema)) {
            erase_members(*value.if_object(), [&](const std::string& key, json::Value& part) {
                const Inner inner = inner_of(schema, key);
                return goes(part, inner.schema, inner.named, "f:" + key, last, owned, fate);
            });
        } else if (merges_by_element(value, schema)) {
            std::erase_if(*value.if_array(), [&](json::Value& element) {
                const std::string step = element_step(element, *schema);
                return !step.empty() && goes(element, schema->element, false, step, last, owned, fate);
            });
        }
    }

private:
    static bool goes(json::Value& value, const Schema* schema, bool named, const std::string& step,
                     const FieldSet* last, const FieldSet* owned, Fate fate) {
        last = below(last, step);
        if (last == nullptr) return false;  // nothing here or below was the author's
        owned = below(owned, step);
        const bool had = has(last, named);
        fate.lost = fate.lost || had;
        fate.dead = fate.dead || (fate.lost && !has(owned, named));
        if (fate.dead && had) return true;
        if (last->children.empty() || is_empty(value)) return false;
        walk(value, schema, last, owned, fate);
        return is_empty(value);
    }
};

}  // namespace

void merge_configuration(json::Value& live, const json::Value& wanted, const Schema* schema) {
    if (merges_by_member(live, schema) && merges_by_member(wanted, schema)) {
        for (const auto& member : *wanted.if_object()) {
            json::Value* old = live.find(member.key);
            if (old == nullptr)
                live.if_object()->set(member.key, member.value);
            else
                merge_configuration(*old, member.value, inner_of(schema, member.key).schema);
        }
    } else if (merges_by_element(live, schema) && merges_by_element(wanted, schema)) {
        merge_lists(*live.if_array(), *wanted.if_array(), *schema);
    } else {
        live = wanted;
    }
}

void prune_unowned(json::Value& merged, const FieldSet& last, const FieldSet& owned, const Schema* schema) {
    Pruning::walk(merged, schema, &last, &owned, {});
}

FieldSet take_out(json::Value& object, const FieldSet& gone, const Schema* schema) {
    FieldSet taken;
    // True: the part itself is to go.
    const auto visit = [&](json::Value& part, const Schema* inner, const std::string& step) {
        const FieldSet* set = gone.find(step);
        if (set == nullptr) return false;
        if (set->member) {
            taken.children[step].member = true;
            return true;
        }
        FieldSet deeper = take_out(part, *set, inner);
        if (!deeper.empty()) taken.children.emplace(step, std::move(deeper));
        return false;
    };
    if (merges_by_member(object, schema)) {
        erase_members(*object.if_object(), [&](const std::string& key, json::Value& part) {
            return visit(part, inner_of(schema, key).schema, "f:" + key);
        });
    } else if (merges_by_element(object, schema)) {
        std::erase_if(*object.if_array(), [&](json::Value& element) {
            const std::string step = element_step(element, *schema);
            return !step.empty() && visit(element, schema->element, step);
        });
    }
    return taken;
}

}  // namespace rhizome::api::detail
