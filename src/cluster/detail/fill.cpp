// SPDX-License-Identifier: Apache-2.0
#include "cluster/detail/fill.h"

namespace rhizome::cluster::detail {

json::Object* object_at(json::Object& parent, std::string_view key) {
    json::Value* value = parent.find(key);
    return value == nullptr ? nullptr : value->if_object();
}

json::Object* made_object(json::Object& parent, std::string_view key) {
    json::Value& value = parent[key];
    if (value.is_null()) value = json::Object{};
    return value.if_object();
}

void fill(json::Object& object, std::string_view key, json::Value value) {
    json::Value* old = object.find(key);
    if (old == nullptr) {
        object.set(key, std::move(value));
        return;
    }
    if (old->is_null() || (old->if_string() != nullptr && old->if_string()->empty())) *old = std::move(value);
}

void each(json::Object& parent, std::string_view key, const std::function<void(json::Object&)>& visit) {
    json::Value* list = parent.find(key);
    if (list == nullptr || !list->is_array()) return;
    for (json::Value& element : *list->if_array())
        if (json::Object* object = element.if_object()) visit(*object);
}

std::string_view text(const json::Object& object, std::string_view key) {
    const json::Value* value = object.find(key);
    return value == nullptr || value->if_string() == nullptr ? std::string_view{} : *value->if_string();
}

void each_pod_spec(json::Object& object, std::string_view group, std::string_view kind,
                   const std::function<void(json::Object&, bool)>& visit) {
    const auto in_template = [&](json::Object& holder) {
        json::Object* pod = object_at(holder, "template");
        json::Object* spec = pod == nullptr ? nullptr : object_at(*pod, "spec");
        if (spec != nullptr) visit(*spec, false);
    };
    json::Object* spec = object_at(object, "spec");
    if (group.empty() && kind == "Pod" && spec != nullptr) visit(*spec, true);
    if (group.empty() && kind == "PodTemplate") in_template(object);
    const bool has_template = (group.empty() && kind == "ReplicationController") ||
                              (group == "apps" && kind != "ControllerRevision") || (group == "batch" && kind == "Job");
    if (has_template && spec != nullptr) in_template(*spec);
    if (group == "batch" && kind == "CronJob" && spec != nullptr) {
        json::Object* job = object_at(*spec, "jobTemplate");
        json::Object* job_spec = job == nullptr ? nullptr : object_at(*job, "spec");
        if (job_spec != nullptr) in_template(*job_spec);
    }
}

}  // namespace rhizome::cluster::detail
