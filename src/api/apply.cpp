// SPDX-License-Identifier: Apache-2.0
#include "api/apply.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>

#include "api/detail/manager_entries.h"
#include "api/detail/merge_configuration.h"
#include "api/detail/schema_steps.h"

namespace rhizome::api {
namespace {

using cluster::ListType;
using cluster::Schema;
using detail::element_step;
using detail::Inner;
using detail::inner_of;
using detail::ManagerEntries;
using detail::ManagerEntry;

/// Nobody reads a list of more than this.
constexpr std::size_t kFaultsShownMax = 64;

/// Walks what somebody wrote, and keeps the way it went for what it finds wrong.
class NamedFieldsReader {
public:
    explicit NamedFieldsReader(bool custom) : custom_(custom) {}

    void read(const json::Value& value, const Schema* schema, FieldSet& named, FieldSet& unset) {
        if (detail::merges_by_member(value, schema))
            members(value, schema, named, unset);
        else if (detail::merges_by_element(value, schema))
            elements(*value.if_array(), *schema, named, unset);
        else
            named.member = true;
    }
    [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }

private:
    void members(const json::Value& value, const Schema* schema, FieldSet& named, FieldSet& unset) {
        for (const auto& member : *value.if_object()) {
            const Inner inner = inner_of(schema, member.key);
            const std::string step = "f:" + member.key;
            if (!custom_ && !inner.named && schema->shape == cluster::Shape::Message) {
                fault(step, "field not declared in schema");
                continue;
            }
            FieldSet there;
            FieldSet nulls;
            if (member.value.is_null()) {
                there.member = true;
                // Custom objects may have nulls; Kubernetes' own take them for nothing.
                nulls.member = !custom_;
            } else {
                descend(step, [&] { read(member.value, inner.schema, there, nulls); });
                const bool empty_object = member.value.is_object() && member.value.if_object()->empty();
                if (empty_object || !inner.named) there.member = true;
            }
            if (!there.empty()) named.children.emplace(step, std::move(there));
            if (!nulls.empty()) unset.children.emplace(step, std::move(nulls));
        }
    }

    void elements(const json::Array& list, const Schema& schema, FieldSet& named, FieldSet& unset) {
        std::set<std::string> seen;
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::string step = element_step(list[i], schema);
            if (step.empty()) {
                fault("", fmt::format("element {}: associative list with keys has an element that omits key field {} "
                                      "(and doesn't have default value)",
                                      i, json::quote(missing_key(list[i], schema))));
                continue;
            }
            if (!seen.insert(step).second) {
                fault("", "duplicate entries for key " + FieldSet{.children = {{step, {.member = true}}}}.paths()[0]);
                continue;
            }
            FieldSet there{.member = true};
            FieldSet nulls;
            if (schema.list_type == ListType::Map) descend(step, [&] { read(list[i], schema.element, there, nulls); });
            there.member = true;
            named.children.emplace(step, std::move(there));
            if (!nulls.empty()) unset.children.emplace(step, std::move(nulls));
        }
    }

    static std::string_view missing_key(const json::Value& element, const Schema& list) {
        for (const std::string_view key : list.keys) {
            const cluster::Field* field = list.element->find(key);
            if (element.find(key) == nullptr && (field == nullptr || field->fallback.empty())) return key;
        }
        return {};
    }

    template <class Walk>
    void descend(const std::string& step, const Walk& walk) {
        way_.push_back(&step);
        walk();
        way_.pop_back();
    }

    void fault(const std::string& step, std::string_view what) {
        if (faults_.size() >= kFaultsShownMax) return;
        FieldSet set{.member = true};
        if (!step.empty()) set = FieldSet{.children = {{step, set}}};
        for (auto at = way_.rbegin(); at != way_.rend(); ++at) set = FieldSet{.children = {{**at, set}}};
        const auto paths = set.paths();
        faults_.push_back(fmt::format("{}: {}", paths.empty() ? "" : paths[0], what));
    }

    bool custom_;
    std::vector<const std::string*> way_{};
    std::vector<std::string> faults_{};
};

/// `"kubectl-edit" using v1`; of appliers the name alone.
std::string shown_manager(const ManagerEntry& entry) {
    std::string text = json::quote(entry.manager);
    if (!entry.subresource.empty()) text += " with subresource " + json::quote(entry.subresource);
    if (!entry.applies()) text += " using " + entry.api_version;
    return text;
}

FieldConflicts conflicts_with(const ManagerEntries& others, const FieldSet& written, const FieldSet& free) {
    constexpr std::size_t kToldMax = 256;  // nobody reads more
    std::vector<const ManagerEntry*> sorted;
    for (const ManagerEntry& entry : others) sorted.push_back(&entry);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto* left, const auto* right) { return left->identity() < right->identity(); });
    FieldConflicts conflicts;
    for (const ManagerEntry* entry : sorted) {
        const FieldSet taken = entry->fields.intersect(written).without(free);
        const std::size_t count = taken.count();
        if (count == 0) continue;
        const std::string who = shown_manager(*entry);
        std::vector<std::string> told = taken.paths(kToldMax - conflicts.size());
        for (std::string& path : told) conflicts.push_back({who, std::move(path)});
        conflicts.back().also += count - told.size();
    }
    return conflicts;
}

}  // namespace

Result<NamedFields> named_fields(const json::Value& written, const Schema* schema, bool custom) {
    schema = detail::document_schema(schema);
    NamedFields fields;
    NamedFieldsReader reader{custom};
    reader.read(written, schema, fields.named, fields.unset);
    fields.named = ownable(std::move(fields.named));
    fields.unset = ownable(std::move(fields.unset));
    const auto& faults = reader.faults();
    if (faults.empty()) return fields;
    std::string text = faults.size() == 1 ? faults[0] : "errors:";
    if (faults.size() > 1)
        for (const std::string& each : faults) text += "\n  " + each;
    return Fail{Error{ErrorKind::Invalid, std::move(text)}};
}

Status apply_conflict(const FieldConflicts& conflicts) {
    Status status{.code = 409, .reason = "Conflict"};
    for (const FieldConflict& each : conflicts)
        status.causes.push_back({"FieldManagerConflict", "conflict with " + each.manager, each.field});
    const std::size_t untold = conflicts.empty() ? 0 : conflicts.back().also;
    if (conflicts.size() + untold == 1) {
        status.message =
            fmt::format("Apply failed with 1 conflict: conflict with {}: {}", conflicts[0].manager, conflicts[0].field);
        return status;
    }
    status.message = fmt::format("Apply failed with {} conflicts: ", conflicts.size() + untold);
    for (std::size_t i = 0; i < conflicts.size(); ++i) {
        if (i == 0 || conflicts[i].manager != conflicts[i - 1].manager)
            status.message += fmt::format("{}conflicts with {}:", i == 0 ? "" : "\n", conflicts[i].manager);
        status.message += "\n- " + conflicts[i].field;
    }
    if (untold != 0) status.message += fmt::format("\nand {} more", untold);
    return status;
}

Result<Applied, FieldConflicts> apply_configuration(const json::Value& live, const Configuration& wanted,
                                                    const Schema* schema, const json::Array& entries,
                                                    const FieldManager& manager, bool force, const FieldSet& free) {
    schema = detail::document_schema(schema);
    ManagerEntries others;
    if (auto known = detail::read_entries(entries)) others = *std::move(known);
    ManagerEntry own{.manager = manager.name,
                     .operation = std::string(detail::kApply),
                     .api_version = manager.api_version,
                     .subresource = manager.subresource,
                     .fields = wanted.fields.named};
    FieldSet last;
    if (const auto at = std::find_if(others.begin(), others.end(),
                                     [&](const ManagerEntry& entry) { return entry.identity() == own.identity(); });
        at != others.end()) {
        last = std::move(at->fields);
        own.time = at->time;
        others.erase(at);
    }

    Applied applied{.object = live};
    detail::merge_configuration(applied.object, wanted.object, schema);
    const FieldSet unset = detail::take_out(applied.object, wanted.fields.unset, schema);
    // Whoever names all that he named before leaves nothing behind.
    if (!last.without(own.fields).empty()) {
        // Nobody owns a document's name, and every document keeps it.
        FieldSet owned{.children = {{"f:metadata", {.children = {{"f:name", {.member = true}}}}}}};
        owned.merge(own.fields);
        for (const ManagerEntry& entry : others) owned.merge(entry.fields);
        detail::prune_unowned(applied.object, last, owned, schema);
    }

    FieldChanges changes = compare_fields(live, applied.object, schema);
    changes.written.merge(ownable(unset));
    if (!force)
        if (auto conflicts = conflicts_with(others, changes.written, free); !conflicts.empty())
            return Fail{std::move(conflicts)};
    for (ManagerEntry& entry : others) {
        const FieldSet taken = entry.fields.intersect(changes.written);
        if (!taken.empty()) entry.fields.subtract(taken);
        entry.fields.subtract(changes.removed);
    }
    if (applied.object != live) own.time = to_rfc3339(manager.time);
    others.push_back(std::move(own));
    applied.entries = detail::print_entries(std::move(others));
    return applied;
}

}  // namespace rhizome::api
