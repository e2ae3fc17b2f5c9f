// SPDX-License-Identifier: Apache-2.0
// The subresource `scale`: the number of replicas, whatever the kind.
#include <fmt/core.h>

#include "api/admission.h"
#include "api/apply_scale.h"
#include "api/call.h"
#include "api/patch.h"
#include "api/shown.h"
#include "api/tracking.h"
#include "cluster/custom_definition.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

/// `app=web,tier=x`, as autoscalers want a workload's selector.
std::string selector_text(const json::Value& object) {
    const json::Value* selector = object.find_path({"spec", "selector"});
    if (selector == nullptr) return {};
    const json::Value* labels = selector->find("matchLabels");
    if (labels == nullptr) labels = selector;  // replication controllers have the labels themselves
    std::string out;
    if (const json::Object* members = labels->if_object())
        for (const auto& [key, value] : *members)
            if (const std::string* text = value.if_string()) out += (out.empty() ? "" : ",") + key + "=" + *text;
    return out;
}

const json::Value* find_members(const json::Value& object, const std::vector<std::string>& members) {
    const json::Value* value = &object;
    for (const std::string& member : members) value = value == nullptr ? nullptr : value->find(member);
    return value;
}

std::int64_t number_of(const json::Value* value) { return value == nullptr ? 0 : value->if_int64().value_or(0); }

/// Where the numbers stand: custom kinds say it, all others have them in one place.
cluster::ScalePaths paths_of(const Kind& kind) {
    if (kind.rules != nullptr && kind.rules->scale) return *kind.rules->scale;
    return {.spec_replicas = {"spec", "replicas"}, .status_replicas = {"status", "replicas"}};
}

std::string selector_of(const Kind& kind, const json::Value& object) {
    if (kind.rules == nullptr || !kind.rules->scale) return selector_text(object);
    const json::Value* text = find_members(object, kind.rules->scale->label_selector);
    return text == nullptr || text->if_string() == nullptr ? std::string{} : *text->if_string();
}

/// Objects on the way are made where there are none; nothing happens where something else stands.
void set_members(json::Value& object, const std::vector<std::string>& members, json::Value value) {
    json::Value* place = &object;
    for (const std::string& member : members) {
        if (!place->is_object() && !place->is_null()) return;
        place = &(*place)[member];
    }
    *place = std::move(value);
}

}  // namespace

json::Value scale_of(const Kind& kind, const json::Value& object) {
    const cluster::ScalePaths paths = paths_of(kind);
    json::Object metadata;
    for (const std::string_view key : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"})
        if (const auto text = object.text_at({"metadata", key}); !text.empty()) metadata.set(key, text);
    json::Object status{{"replicas", number_of(find_members(object, paths.status_replicas))}};
    if (const std::string selector = selector_of(kind, object); !selector.empty()) status.set("selector", selector);
    return json::Object{{"kind", "Scale"},
                        {"apiVersion", "autoscaling/v1"},
                        {"metadata", std::move(metadata)},
                        {"spec", json::Object{{"replicas", number_of(find_members(object, paths.spec_replicas))}}},
                        {"status", std::move(status)}};
}

Planned scale_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    TRY(const json::Value before, standing_value(call, present, heard_of));
    const json::Value known = scale_of(*call.kind, before);
    TRY(const FieldManager manager, manager_of(call));
    json::Value wanted;
    std::optional<json::Array> entries;
    if (call.verb == Verb::Patch && patch_type(call.media) == PatchType::Apply) {
        TRY(auto applied, apply_scale(call, manager, before, known, paths_of(*call.kind).spec_replicas));
        wanted = std::move(applied.scale);
        entries = std::move(applied.entries);
    } else if (call.verb == Verb::Patch) {
        TRY(wanted, patched_value(call, known));
    } else {
        TRY(wanted, read_object(call));
    }
    const json::Value* replicas = wanted.find_path({"spec", "replicas"});
    const auto count = replicas == nullptr ? std::optional<std::int64_t>{0} : replicas->if_int64();
    if (!count || *count < 0 || *count > 2'147'483'647) {
        cluster::FieldErrors errors;
        errors.push_back(cluster::invalid(cluster::Where("spec.replicas"),
                                          replicas == nullptr ? json::Value{} : *replicas,
                                          "must be greater than or equal to 0"));
        return Fail{invalid(*call.kind, call.path.name, errors)};
    }
    json::Value object = before;
    const std::string_view version = cluster::resource_version_of(wanted);
    if (!version.empty()) object["metadata"]["resourceVersion"] = version;
    set_members(object, paths_of(*call.kind).spec_replicas, *count);
    TRY(auto warnings, admit_change(call, object, before, false));
    if (entries)
        set_entries(object, *std::move(entries));
    else
        track_change(call, manager, present.object, before, object);
    return change_to(call, present, before, std::move(object), std::move(warnings), heard_of);
}

}  // namespace rhizome::api
