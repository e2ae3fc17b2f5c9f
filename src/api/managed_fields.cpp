// SPDX-License-Identifier: Apache-2.0
#include "api/managed_fields.h"

#include <algorithm>
#include <map>

#include "api/detail/manager_entries.h"
#include "api/field_set.h"

namespace rhizome::api {
namespace {

using detail::entries_of;
using detail::ManagerEntries;
using detail::ManagerEntry;

constexpr std::size_t kUpdatersMax = 10;
constexpr std::size_t kNameMax = 128;
constexpr std::string_view kAncient = "ancient-changes";

/// Merges the oldest updaters until there are few enough: each into a bucket of its version, so that paths keep their
/// meaning.
void cap_updaters(ManagerEntries& entries) {
    std::sort(entries.begin(), entries.end(),
              [](const ManagerEntry& left, const ManagerEntry& right) { return left.order() < right.order(); });
    const auto first_updater = static_cast<std::size_t>(
        std::find_if(entries.begin(), entries.end(), [](const ManagerEntry& entry) { return !entry.applies(); }) -
        entries.begin());
    std::size_t updaters = entries.size() - first_updater;
    std::map<std::string, ManagerEntry> buckets;  // by version: its oldest entry, to which others are added
    ManagerEntries kept(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(first_updater));
    for (std::size_t i = first_updater; i < entries.size(); ++i) {
        ManagerEntry& entry = entries[i];
        const auto bucket = buckets.find(entry.api_version);
        if (updaters <= kUpdatersMax) {
            kept.push_back(std::move(entry));
        } else if (bucket == buckets.end()) {
            std::string version = entry.api_version;
            buckets.emplace(std::move(version), std::move(entry));
        } else {
            bucket->second.manager = kAncient;
            bucket->second.subresource.clear();
            bucket->second.time = entry.time;
            bucket->second.fields.merge(entry.fields);
            --updaters;
        }
    }
    for (auto& [version, bucket] : buckets) kept.push_back(std::move(bucket));
    entries = std::move(kept);
}

/// `[{}]`: forget who owns what.
bool is_reset(const json::Array& entries) {
    return entries.size() == 1 && entries[0].is_object() && entries[0].if_object()->empty();
}

/// What a write begins with.
const json::Array& entries_before(const json::Value* before, const json::Value& after, const FieldManager& manager) {
    const json::Array& sent = entries_of(after);
    if (before == nullptr) return sent;
    if (!manager.subresource.empty() || sent.empty() || !detail::read_entries(sent)) return entries_of(*before);
    return sent;
}

/// Whether two objects are the same but for the member `key`, and that one by a rule of its own. A member that only one
/// of them has makes a difference, unless the rule takes anything.
template <class Same>
bool same_members(const json::Value& left, const json::Value& right, std::string_view key, const Same& same) {
    const json::Object* one = left.if_object();
    const json::Object* other = right.if_object();
    if (one == nullptr || other == nullptr) return left == right;
    static const json::Value kNothing;
    const auto counted = [&](const json::Object& object) { return object.size() - (object.contains(key) ? 1 : 0); };
    if (counted(*one) != counted(*other)) return false;
    for (const auto& member : *one) {
        if (member.key == key) continue;
        const json::Value* there = other->find(member.key);
        if (there == nullptr || *there != member.value) return false;
    }
    const json::Value* mine = one->find(key);
    const json::Value* theirs = other->find(key);
    return same(mine == nullptr ? kNothing : *mine, theirs == nullptr ? kNothing : *theirs);
}

}  // namespace

std::string manager_from_user_agent(std::string_view user_agent) {
    const std::string_view name = user_agent.substr(0, user_agent.find('/'));
    return name.empty() ? "unknown" : std::string(name.substr(0, kNameMax));
}

cluster::FieldErrors check_manager(std::string_view name) {
    const cluster::Where where("fieldManager");
    cluster::FieldErrors errors;
    if (name.size() > kNameMax) errors.push_back(cluster::too_long(where, kNameMax));
    const bool printable = std::all_of(name.begin(), name.end(),
                                       [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != '\x7f'; });
    if (!printable) errors.push_back(cluster::invalid(where, name, "should only contain printable characters"));
    return errors;
}

json::Array track_update(const json::Value* before, const json::Value& after, const cluster::Schema* schema,
                         const json::Array& entries, const FieldManager& manager) {
    const json::Value nothing{json::Object{}};
    const FieldChanges changes = compare_fields(before == nullptr ? nothing : *before, after, schema);
    ManagerEntries all;
    if (auto known = detail::read_entries(entries)) all = *std::move(known);

    ManagerEntry own{.manager = manager.name,
                     .operation = std::string(detail::kUpdate),
                     .api_version = manager.api_version,
                     .subresource = manager.subresource,
                     .time = to_rfc3339(manager.time)};
    own.fields = changes.written;
    bool found = false;
    for (ManagerEntry& entry : all) {
        entry.fields.subtract(changes.removed);
        if (entry.identity() == own.identity()) {
            found = true;
            if (!changes.written.empty()) entry.time = own.time;
            entry.fields.merge(own.fields);
            continue;
        }
        // A leaf that was written anew has a new owner; the places above it keep theirs.
        const FieldSet taken = entry.fields.intersect(changes.written);
        if (!taken.empty()) entry.fields.subtract(taken);
    }
    if (!found) all.push_back(std::move(own));
    std::erase_if(all, [](const ManagerEntry& entry) { return entry.fields.empty(); });
    cap_updaters(all);
    return detail::print_entries(std::move(all));
}

void track_write(const json::Value* before, json::Value& after, const cluster::Schema* schema,
                 const FieldManager& manager) {
    const bool forgets = before != nullptr && manager.subresource.empty() && is_reset(entries_of(after));
    const json::Array& begun = entries_before(before, after, manager);
    json::Array entries;
    if (!forgets && (before == nullptr || !begun.empty()))
        entries = track_update(before, after, schema, begun, manager);
    json::Object& metadata = after["metadata"].make_object();
    if (entries.empty())
        metadata.erase("managedFields");
    else
        metadata.set("managedFields", std::move(entries));
}

bool same_but_times(const json::Value& left, const json::Value& right) {
    const auto same_entry = [](const json::Value& one, const json::Value& other) {
        return same_members(one, other, "time", [](const auto&, const auto&) { return true; });
    };
    const auto same_entries = [&](const json::Value& one, const json::Value& other) {
        const json::Array* first = one.if_array();
        const json::Array* second = other.if_array();
        if (first == nullptr || second == nullptr) return one == other;
        return std::equal(first->begin(), first->end(), second->begin(), second->end(), same_entry);
    };
    const auto same_metadata = [&](const json::Value& one, const json::Value& other) {
        return same_members(one, other, "managedFields", same_entries);
    };
    return same_members(left, right, "metadata", same_metadata);
}

}  // namespace rhizome::api
