// SPDX-License-Identifier: Apache-2.0
// The strategic merge patch of Kubernetes. Elements of lists are found through sorted maps, so that two long lists cost
// no quadratic time.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "api/patch.h"

namespace rhizome::api {
namespace {

using cluster::Field;
using cluster::Schema;
using cluster::Shape;

constexpr std::string_view kPatch = "$patch";
constexpr std::string_view kRetainKeys = "$retainKeys";
constexpr std::string_view kSetOrder = "$setElementOrder/";
constexpr std::string_view kDeleteFrom = "$deleteFromPrimitiveList/";

Fail<Status> bad_patch(std::string_view why) { return Fail{bad_request(why)}; }
Fail<Status> rejected(std::string_view why) {
    Status status{.code = 422, .reason = "Invalid"};
    status.message = why;
    return Fail{std::move(status)};
}

/// The node of a field: of a Message by name, of a Map its values'; null below shapes without a schema.
Result<const Schema*, Status> schema_of(const Schema* schema, std::string_view key) {
    if (schema == nullptr || schema->shape == Shape::Any) return nullptr;
    if (schema->shape == Shape::Map) return schema->element;
    const Field* field = schema->find(key);
    if (field == nullptr)
        return bad_patch(fmt::format("unable to find api field in struct {} for the json field {}",
                                     cluster::short_name(*schema), json::quote(key)));
    return field->schema;
}

bool is_directive(std::string_view key) {
    return key == kPatch || key == kRetainKeys || key.starts_with(kSetOrder) || key.starts_with(kDeleteFrom);
}

/// What remains of a piece of patch that becomes part of the document as a whole: no directives, no nulls in objects.
/// Nothing when the piece asks for its own deletion.
std::optional<json::Value> without_directives(const json::Value& patch) {
    if (const json::Object* object = patch.if_object()) {
        if (patch.text_at({kPatch}) == "delete") return std::nullopt;
        std::vector<json::Object::Member> kept;
        for (const auto& [key, value] : *object) {
            if (value.is_null() || is_directive(key)) continue;
            if (auto plain = without_directives(value)) kept.push_back({key, *std::move(plain)});
        }
        return json::Value(json::Object::from_members(std::move(kept)).value());  // keys of an object differ
    }
    if (const json::Array* array = patch.if_array()) {
        json::Array kept;
        for (const json::Value& each : *array)
            if (auto plain = without_directives(each)) kept.push_back(*std::move(plain));
        return json::Value(std::move(kept));
    }
    return patch;
}

/// By what an element of a list is known: its merge key, or itself when it is a scalar. Empty when it has none.
std::string identity(const json::Value& element, std::string_view merge_key) {
    if (!element.is_object()) return json::print_canonical(element);
    const json::Value* key = element.find(merge_key);
    return key == nullptr ? std::string{} : json::print_canonical(*key);
}

using Positions = std::map<std::string, std::size_t, std::less<>>;
Positions positions_of(const json::Array& list, std::string_view merge_key) {
    Positions found;
    for (std::size_t i = 0; i < list.size(); ++i) found.emplace(identity(list[i], merge_key), i);
    return found;
}

/// Sorts `merged`: what `wanted` names stands in that order, the rest stays as it was in `live`, and both are woven
/// together so that an element of the rest keeps its place before the one it stood before.
json::Array in_order(json::Array merged, const Positions& wanted, const Positions& live, std::string_view merge_key) {
    struct Placed {
        json::Value value{};
        std::string id{};
    };
    std::vector<Placed> named;
    std::vector<Placed> others;
    for (json::Value& each : merged) {
        std::string id = identity(each, merge_key);
        const bool is_wanted = wanted.contains(id);
        (is_wanted ? named : others).push_back({std::move(each), std::move(id)});
    }
    std::stable_sort(named.begin(), named.end(), [&](const Placed& left, const Placed& right) {
        return wanted.find(left.id)->second < wanted.find(right.id)->second;
    });
    const auto live_place = [&](const Placed& each) {
        const auto at = live.find(each.id);
        return at == live.end() ? std::optional<std::size_t>{} : std::optional(at->second);
    };
    std::stable_sort(others.begin(), others.end(), [&](const Placed& left, const Placed& right) {
        return live_place(left).value_or(SIZE_MAX) < live_place(right).value_or(SIZE_MAX);
    });
    json::Array out;
    auto other = others.begin();
    for (Placed& each : named) {
        const auto place = live_place(each);
        for (; place && other != others.end(); ++other) {
            const auto other_place = live_place(*other);
            if (!other_place || *other_place > *place) break;
            out.push_back(std::move(other->value));
        }
        out.push_back(std::move(each.value));
    }
    for (; other != others.end(); ++other) out.push_back(std::move(other->value));
    return out;
}

class StrategicMerge {
public:
    Result<json::Value, Status> merge_object(json::Value original, const json::Value& patch, const Schema* schema) {
        if (const json::Value* directive = patch.find(kPatch)) {
            const std::string* what = directive->if_string();
            if (what != nullptr && *what == "replace") {
                json::Value whole = patch;
                whole.if_object()->erase(kPatch);
                return without_directives(whole).value_or(json::Object{});
            }
            if (what != nullptr && *what == "delete") return json::Value(json::Object{});
            if (what == nullptr || *what != "merge")
                return rejected(
                    fmt::format("unknown patch type: {} in map: {}", json::print(*directive), json::print(patch)));
        }
        json::Object& object = *original.if_object();
        const json::Object& changes = *patch.if_object();
        TRY(retain(object, changes));
        std::set<std::string, std::less<>> done;  // lists that were merged together with their order
        for (const auto& [key, value] : changes) {
            if (!key.starts_with(kSetOrder)) continue;
            const std::string field = key.substr(kSetOrder.size());
            TRY(merge_ordered(object, changes, field, value, schema));
            done.insert(field);
        }
        std::set<std::string_view> gone;
        for (const auto& [key, value] : changes) {
            if (key == kPatch || key == kRetainKeys || key.starts_with(kSetOrder)) continue;
            if (key.starts_with(kDeleteFrom)) {
                TRY(delete_from(object, key.substr(kDeleteFrom.size()), value));
            } else if (done.contains(key)) {
                continue;
            } else if (value.is_null()) {
                gone.insert(key);
            } else {
                TRY(merge_member(object, key, value, schema));
            }
        }
        if (!gone.empty()) object.erase_if([&](const auto& member) { return gone.contains(member.key); });
        return original;
    }

private:
    Result<void, Status> merge_member(json::Object& object, const std::string& key, const json::Value& value,
                                      const Schema* schema) {
        json::Value* old = object.find(key);
        if (old == nullptr || old->kind() != value.kind()) {
            auto plain = without_directives(value);
            if (plain)
                object.set(key, *std::move(plain));
            else if (old != nullptr)
                object.erase(key);
            return {};
        }
        if (old->is_object()) {
            TRY(const Schema* inner, schema_of(schema, key));
            TRY(*old, merge_object(std::move(*old), value, inner));
        } else if (old->is_array()) {
            TRY(const Schema* inner, schema_of(schema, key));
            TRY(*old, merge_list(std::move(*old->if_array()), *value.if_array(), inner));
        } else {
            *old = value;
        }
        return {};
    }

    /// Whether the list merges at all, or is replaced.
    static bool merges(const Schema* list) { return list != nullptr && list->shape == Shape::List && list->merges; }

    Result<json::Value, Status> merge_list(json::Array original, const json::Array& patch, const Schema* list) {
        if (!merges(list)) return without_directives(patch).value_or(json::Array{});
        const bool objects = list->element->shape == Shape::Message;
        const std::string_view merge_key = list->merge_key;
        if (objects && merge_key.empty())
            return rejected(
                fmt::format("cannot merge lists without merge key for {}", cluster::short_name(*list->element)));
        const Positions live = positions_of(original, merge_key);
        json::Array merged = std::move(original);
        if (objects) {
            TRY(merged, merge_elements(std::move(merged), patch, *list));
        } else {
            std::set<std::string> seen;
            json::Array once;
            for (const json::Array* each : {static_cast<const json::Array*>(&merged), &patch})
                for (const json::Value& element : *each)
                    if (seen.insert(json::print_canonical(element)).second) once.push_back(element);
            merged = std::move(once);
        }
        return json::Value(in_order(std::move(merged), positions_of(patch, merge_key), live, merge_key));
    }

    Result<json::Array, Status> merge_elements(json::Array original, const json::Array& patch, const Schema& list) {
        const std::string_view merge_key = list.merge_key;
        std::set<std::string> deleted;
        bool replaces = false;
        std::vector<const json::Value*> plain;
        for (const json::Value& element : patch) {
            if (!element.is_object())
                return rejected(fmt::format("value for a list of {} is no map: {}", cluster::short_name(*list.element),
                                            json::print(element)));
            const json::Value* directive = element.find(kPatch);
            if (directive == nullptr) {
                plain.push_back(&element);
                continue;
            }
            const std::string_view what = element.text_at({kPatch});
            if (what == "replace") {
                replaces = true;
            } else if (what == "delete") {
                if (!element.find(merge_key)) return no_merge_key(element, merge_key);
                deleted.insert(identity(element, merge_key));
            } else if (what == "merge") {
                return rejected("merging lists cannot yet be specified in the patch");
            } else {
                return rejected(
                    fmt::format("unknown patch type: {} in map: {}", json::print(*directive), json::print(element)));
            }
        }
        if (replaces) {
            json::Array whole;
            for (const json::Value* element : plain)
                if (auto kept = without_directives(*element)) whole.push_back(*std::move(kept));
            return whole;
        }
        if (!deleted.empty())
            std::erase_if(original,
                          [&](const json::Value& each) { return deleted.contains(identity(each, merge_key)); });
        Positions places = positions_of(original, merge_key);
        for (const json::Value* element : plain) {
            if (!element->find(merge_key)) return no_merge_key(*element, merge_key);
            const auto [at, is_new] = places.emplace(identity(*element, merge_key), original.size());
            if (is_new) {
                original.push_back(without_directives(*element).value_or(json::Object{}));
            } else {
                json::Value& old = original[at->second];
                // A stored document may have anything in its lists, and the text `web` is known by the same words as
                // the object with that name.
                if (!old.is_object())
                    return rejected(fmt::format("value for a list of {} is no map: {}",
                                                cluster::short_name(*list.element), json::print(old)));
                TRY(old, merge_object(std::move(old), *element, list.element));
            }
        }
        return original;
    }

    static Fail<Status> no_merge_key(const json::Value& element, std::string_view merge_key) {
        return rejected(
            fmt::format("map: {} does not contain declared merge key: {}", json::print(element), merge_key));
    }

    static Result<void, Status> delete_from(json::Object& object, std::string_view field, const json::Value& gone) {
        const json::Array* values = gone.if_array();
        if (values == nullptr) return bad_patch("invalid patch format of primitive list");
        json::Value* list = object.find(field);
        if (list == nullptr || !list->is_array()) return {};
        std::set<std::string> ids;
        for (const json::Value& each : *values) ids.insert(json::print_canonical(each));
        std::erase_if(*list->if_array(),
                      [&](const json::Value& each) { return ids.contains(json::print_canonical(each)); });
        return {};
    }

    static Result<void, Status> retain(json::Object& object, const json::Object& changes) {
        const json::Value* directive = changes.find(kRetainKeys);
        if (directive == nullptr) return {};
        const json::Array* list = directive->if_array();
        if (list == nullptr) return bad_patch("invalid patch format of retainKeys");
        std::set<std::string, std::less<>> keys;
        for (const json::Value& each : *list)
            if (const std::string* text = each.if_string()) keys.insert(*text);
        for (const auto& [key, value] : changes) {
            if (value.is_null() || is_directive(key)) continue;
            if (!keys.contains(key)) return bad_patch("invalid patch format of retainKeys");
        }
        object.erase_if([&](const auto& member) { return !keys.contains(member.key); });
        return {};
    }

    Result<void, Status> merge_ordered(json::Object& object, const json::Object& changes, const std::string& field,
                                       const json::Value& order, const Schema* schema) {
        const json::Array* wanted_list = order.if_array();
        if (wanted_list == nullptr) return bad_patch("invalid patch format of setElementOrder list");
        TRY(const Schema* list, schema_of(schema, field));
        const std::string_view merge_key = list == nullptr ? std::string_view{} : list->merge_key;
        json::Value* old = object.find(field);
        const json::Value* patch = changes.find(field);
        if (old != nullptr && !old->is_array()) old = nullptr;
        if (patch != nullptr && patch->is_null()) {
            object.erase(field);
            return {};
        }
        if (patch != nullptr && !patch->is_array()) return bad_patch("invalid patch format of setElementOrder list");
        if (patch != nullptr) TRY(check_order(*patch->if_array(), *wanted_list, merge_key));
        if (old == nullptr && patch == nullptr) return {};
        const Positions live = old == nullptr ? Positions{} : positions_of(*old->if_array(), merge_key);
        json::Value merged;
        if (old != nullptr && patch != nullptr) {
            TRY(merged, merge_list(std::move(*old->if_array()), *patch->if_array(), list));
        } else if (old != nullptr) {
            merged = std::move(*old);
        } else {
            merged = without_directives(*patch).value_or(json::Array{});
        }
        object.set(field,
                   in_order(std::move(*merged.if_array()), positions_of(*wanted_list, merge_key), live, merge_key));
        return {};
    }

    /// The elements of a patch must stand in the order that the patch itself asks for.
    static Result<void, Status> check_order(const json::Array& patch, const json::Array& wanted,
                                            std::string_view merge_key) {
        std::size_t at = 0;
        for (const json::Value& element : patch) {
            if (element.is_object() && element.find(kPatch) != nullptr) continue;
            const std::string id = identity(element, merge_key);
            while (at < wanted.size() && identity(wanted[at], merge_key) != id) ++at;
            if (at == wanted.size())
                return bad_patch(fmt::format("The order in patch list:\n{}\n doesn't match {} list:\n{}\n",
                                             json::print(json::Value(patch)), "$setElementOrder",
                                             json::print(json::Value(wanted))));
        }
        return {};
    }
};

}  // namespace

Result<json::Value, Status> apply_strategic_merge_patch(json::Value document, const json::Value& patch,
                                                        const cluster::Schema& schema) {
    if (!patch.is_object()) return Fail{bad_request("error decoding patch: a strategic merge patch is an object")};
    if (!document.is_object()) document = json::Object{};
    return StrategicMerge{}.merge_object(std::move(document), patch, &schema);
}

}  // namespace rhizome::api
