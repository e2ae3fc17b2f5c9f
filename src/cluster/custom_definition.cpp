// SPDX-License-Identifier: Apache-2.0
#include "cluster/custom_definition.h"

#include <algorithm>

#include <fmt/core.h>

#include "cluster/object.h"

namespace rhizome::cluster {
namespace {

const json::Array& items_at(const json::Value& object, std::initializer_list<std::string_view> path) {
    static const json::Array kNone;
    const json::Value* there = object.find_path(path);
    const json::Array* list = there == nullptr ? nullptr : there->if_array();
    return list == nullptr ? kNone : *list;
}

std::vector<std::string> texts_at(const json::Value& object, std::initializer_list<std::string_view> path) {
    std::vector<std::string> found;
    for (const json::Value& each : items_at(object, path))
        if (const std::string* text = each.if_string()) found.push_back(*text);
    return found;
}

bool is_on(const json::Value& object, std::string_view flag) {
    const json::Value* there = object.find(flag);
    return there != nullptr && there->if_boolean() == true;
}

std::string_view storage_version(const json::Value& object) {
    for (const json::Value& version : items_at(object, {"spec", "versions"}))
        if (is_on(version, "storage")) return version.text_at({"name"});
    return {};
}

std::vector<CustomKind::Cell> columns_of(const json::Value& version) {
    std::vector<CustomKind::Cell> cells;
    for (const json::Value& column : items_at(version, {"additionalPrinterColumns"})) {
        CustomKind::Cell cell;
        cell.name = column.text_at({"name"});
        cell.type = column.text_at({"type"});
        cell.format = column.text_at({"format"});
        cell.description = column.text_at({"description"});
        cell.json_path = column.text_at({"jsonPath"});
        const json::Value* priority = column.find("priority");
        const std::int64_t number = priority == nullptr ? 0 : priority->if_int64().value_or(0);
        cell.priority = static_cast<std::uint8_t>(std::clamp<std::int64_t>(number, 0, 255));
        cells.push_back(std::move(cell));
    }
    return cells;
}

std::optional<ScalePaths> scale_of(const json::Value& version) {
    const json::Value* scale = version.find_path({"subresources", "scale"});
    if (scale == nullptr || !scale->is_object()) return std::nullopt;
    ScalePaths paths;
    paths.spec_replicas = member_path(scale->text_at({"specReplicasPath"})).value_or(std::vector<std::string>{});
    paths.status_replicas = member_path(scale->text_at({"statusReplicasPath"})).value_or(std::vector<std::string>{});
    paths.label_selector = member_path(scale->text_at({"labelSelectorPath"})).value_or(std::vector<std::string>{});
    return paths;
}

std::string deprecation_of(const json::Value& version, std::string_view group, std::string_view kind) {
    if (!is_on(version, "deprecated")) return {};
    const std::string_view own = version.text_at({"deprecationWarning"});
    return own.empty() ? fmt::format("{}/{} {} is deprecated", group, version.text_at({"name"}), kind)
                       : std::string(own);
}

Result<std::shared_ptr<const CustomRules>> rules_of(const json::Value& document, const json::Value& version,
                                                    std::uint64_t since_height) {
    auto rules = std::make_shared<CustomRules>();
    rules->definition = name_of(document);
    rules->storage_version = storage_version(document);
    rules->terminating = is_terminating(document);
    rules->since_height = since_height;
    rules->scale = scale_of(version);
    rules->deprecation =
        deprecation_of(version, document.text_at({"spec", "group"}), document.text_at({"spec", "names", "kind"}));
    if (document.text_at({"spec", "conversion", "strategy"}) == "Webhook")
        if (const json::Value* webhook = document.find_path({"spec", "conversion", "webhook"}))
            rules->conversion = *webhook;
    if (const json::Value* schema = version.find_path({"schema", "openAPIV3Schema"}); schema != nullptr) {
        FieldErrors errors;
        rules->schema = read_structural(*schema, Where{"openAPIV3Schema"}, errors);
        if (!rules->schema) return fail(ErrorKind::Invalid, text(errors));
        rules->openapi = *schema;
        rules->has_defaults = has_defaults(*rules->schema);
        rules->has_rules = has_rules(*rules->schema);
    }
    return {std::move(rules)};
}

json::Object condition_of(std::string_view type, bool holds, std::string_view reason, std::string_view message,
                          std::string_view since) {
    return {{"type", type},
            {"status", holds ? "True" : "False"},
            {"lastTransitionTime", since},
            {"reason", reason},
            {"message", message}};
}

}  // namespace

bool is_definition(const Kind& kind) { return kind.group == kDefinitionGroup && kind.kind == kDefinitionKind; }

std::optional<std::vector<std::string>> member_path(std::string_view json_path) {
    if (!json_path.starts_with('.')) return std::nullopt;
    std::vector<std::string> members;
    for (json_path.remove_prefix(1);;) {
        const std::size_t dot = json_path.find('.');
        const std::string_view member = json_path.substr(0, dot);
        const bool plain = !member.empty() && member.find_first_of("[]()*?@$'\" ") == std::string_view::npos;
        if (!plain) return std::nullopt;
        members.emplace_back(member);
        if (dot == std::string_view::npos) return members;
        json_path.remove_prefix(dot + 1);
    }
}

Result<Definition> read_definition(const json::Value& document, std::uint64_t since_height) {
    FieldErrors errors;
    check_definition(document, errors);
    if (!errors.empty()) return fail(ErrorKind::Invalid, text(errors));
    Definition read;
    read.name = name_of(document);
    read.group = document.text_at({"spec", "group"});
    read.kind = document.text_at({"spec", "names", "kind"});
    read.namespaced = document.text_at({"spec", "scope"}) == "Namespaced";
    std::string_view preferred;
    for (const json::Value& version : items_at(document, {"spec", "versions"}))
        if (const auto name = version.text_at({"name"});
            is_on(version, "served") && (preferred.empty() || version_before(name, preferred)))
            preferred = name;
    for (const json::Value& version : items_at(document, {"spec", "versions"})) {
        if (!is_on(version, "served")) continue;
        CustomKind kind;
        kind.group = read.group;
        kind.version = version.text_at({"name"});
        kind.kind = read.kind;
        kind.plural = document.text_at({"spec", "names", "plural"});
        kind.singular = document.text_at({"spec", "names", "singular"});
        kind.list_kind = document.text_at({"spec", "names", "listKind"});
        kind.short_names = texts_at(document, {"spec", "names", "shortNames"});
        kind.categories = texts_at(document, {"spec", "names", "categories"});
        kind.columns = columns_of(version);
        kind.namespaced = read.namespaced;
        kind.preferred = kind.version == preferred;
        const json::Value* status = version.find_path({"subresources", "status"});
        kind.status = status != nullptr && status->is_object();
        for (const json::Value& field : items_at(version, {"selectableFields"}))
            if (const std::string_view path = field.text_at({"jsonPath"}); path.size() > 1)
                kind.selectable_fields.emplace_back(path.substr(1));
        TRY(kind.rules, rules_of(document, version, since_height));
        kind.scale = kind.rules->scale.has_value();
        if (kind.rules->schema) kind.schema = schema_nodes(*kind.rules->schema);
        read.kinds.push_back(std::move(kind));
    }
    return read;
}

std::vector<std::string> definition_warnings(const json::Value& object) {
    std::vector<std::string> warnings;
    for (const json::Value& version : items_at(object, {"spec", "versions"})) {
        const json::Value* schema = version.find_path({"schema", "openAPIV3Schema"});
        FieldErrors errors;
        const auto read = schema == nullptr ? nullptr : read_structural(*schema, Where{}, errors);
        if (read && has_rules(*read))
            warnings.push_back(
                fmt::format("x-kubernetes-validations of version {} are stored and shown; this version of Rhizome does "
                            "not enforce them yet",
                            version.text_at({"name"})));
    }
    return warnings;
}

void keep_stored_versions(json::Value& object, const json::Value* before) {
    json::Array kept;
    if (before != nullptr) kept = items_at(*before, {"status", "storedVersions"});
    const std::string_view newest = storage_version(object);
    if (std::find(kept.begin(), kept.end(), json::Value(newest)) == kept.end() && !newest.empty())
        kept.emplace_back(newest);
    object["status"] = json::Object{{"storedVersions", std::move(kept)}};
}

void show_definition(json::Value& object, const ServedDefinitions* served) {
    const ServedDefinition* found = nullptr;
    if (served != nullptr)
        if (const auto at = served->by_name.find(name_of(object)); at != served->by_name.end()) found = &at->second;
    const std::string since{object.text_at({"metadata", "creationTimestamp"})};
    json::Array conditions;
    const bool refused = found != nullptr && (!found->conflicts.empty() || !found->fault.empty());
    if (found != nullptr && found->conflicts.size() >= 2) {
        conditions.emplace_back(condition_of("NamesAccepted", false, found->conflicts[0], found->conflicts[1], since));
    } else {
        conditions.emplace_back(condition_of("NamesAccepted", true, "NoConflicts", "no conflicts found", since));
    }
    if (found != nullptr && !found->fault.empty())
        conditions.emplace_back(condition_of("NonStructuralSchema", true, "Violations", found->fault, since));
    conditions.emplace_back(
        refused
            ? condition_of("Established", false, "NotAccepted", "not all names are accepted", since)
            : condition_of("Established", true, "InitialNamesAccepted", "the initial names have been accepted", since));
    if (is_terminating(object))
        conditions.emplace_back(condition_of("Terminating", true, "InstanceDeletionInProgress",
                                             "CustomResource deletion is in progress",
                                             object.text_at({"metadata", "deletionTimestamp"})));
    object_in(object, "status")["conditions"] = std::move(conditions);
    const json::Value* names = object.find_path({"spec", "names"});
    json::Value accepted =
        names == nullptr || refused ? json::Value{json::Object{{"kind", ""}, {"plural", ""}}} : *names;
    object["status"]["acceptedNames"] = std::move(accepted);
    if (object.find_path({"status", "storedVersions"}) == nullptr) {
        json::Array stored;
        stored.emplace_back(storage_version(object));
        object["status"]["storedVersions"] = std::move(stored);
    }
}

void strip_definition(json::Value& object) {
    json::Value* status = object.find("status");
    if (status == nullptr || !status->is_object()) return;
    status->make_object().erase("conditions");
    status->make_object().erase("acceptedNames");
}

}  // namespace rhizome::cluster
