// SPDX-License-Identifier: Apache-2.0
#include "cluster/defaults.h"

#include <algorithm>
#include <array>

#include "cluster/custom_definition.h"
#include "cluster/detail/fill.h"
#include "cluster/quantity.h"
#include "cluster/structural_values.h"

namespace rhizome::cluster {
namespace {

/// The schema's own values, everywhere. `top` is false inside the document, where metadata of templates shows a null
/// creation time as Kubernetes prints it.
void fill_schema(json::Value& value, const Schema& schema, unsigned depth) {
    if (schema.shape == Shape::List) {
        if (json::Array* array = value.if_array())
            for (json::Value& each : *array) fill_schema(each, *schema.element, depth + 1);
        return;
    }
    if (schema.shape == Shape::Map) {
        if (json::Object* object = value.if_object())
            for (auto& member : *object) fill_schema(member.value, *schema.element, depth + 1);
        return;
    }
    if (schema.shape != Shape::Message) return;
    json::Object* object = value.if_object();
    if (object == nullptr) return;
    for (const Field& field : schema.fields) {
        json::Value* member = object->find(field.name);
        if (member == nullptr && !field.fallback.empty())
            member =
                &object->set(field.name, json::parse(field.fallback).value());  // checked when the tables were made
        if (member != nullptr) fill_schema(*member, *field.schema, depth + 1);
    }
    if (depth > 1 && short_name(schema) == "ObjectMeta" && !object->contains("creationTimestamp"))
        object->set("creationTimestamp", nullptr);
}

constexpr std::array<std::string_view, 7> kServerFields{
    "uid",        "resourceVersion", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
    "generation", "selfLink"};

/// Kubernetes counts the changes of those whose changes something has to follow.
bool has_generation(const Kind& kind) {
    struct Counted {
        std::string_view group;
        std::string_view kind;
    };
    static constexpr Counted kCounted[] = {
        {"", "PodTemplate"},
        {"", "ReplicationController"},
        {"admissionregistration.k8s.io", "MutatingWebhookConfiguration"},
        {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy"},
        {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"},
        {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration"},
        {"apiextensions.k8s.io", "CustomResourceDefinition"},
        {"apps", "DaemonSet"},
        {"apps", "Deployment"},
        {"apps", "ReplicaSet"},
        {"apps", "StatefulSet"},
        {"batch", "CronJob"},
        {"batch", "Job"},
        {"discovery.k8s.io", "EndpointSlice"},
        {"flowcontrol.apiserver.k8s.io", "FlowSchema"},
        {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"},
        {"networking.k8s.io", "Ingress"},
        {"networking.k8s.io", "IngressClass"},
        {"networking.k8s.io", "NetworkPolicy"},
        {"policy", "PodDisruptionBudget"},
    };
    return kind.custom || std::any_of(std::begin(kCounted), std::end(kCounted), [&](const Counted& each) {
               return each.group == kind.group && each.kind == kind.kind;
           });
}

/// What a pod asks for against what it may use, as Kubernetes classes it.
std::string_view service_class(const json::Object& spec) {
    bool any = false;
    bool guaranteed = true;
    for (const std::string_view list : {"containers", "initContainers"}) {
        const json::Value* containers = spec.find(list);
        if (containers == nullptr || !containers->is_array()) continue;
        for (const json::Value& container : *containers->if_array())
            for (const std::string_view resource : {"cpu", "memory"}) {
                const json::Value* request = container.find_path({"resources", "requests", resource});
                const json::Value* limit = container.find_path({"resources", "limits", resource});
                any = any || request != nullptr || limit != nullptr;
                const auto asked = request == nullptr ? Result<Quantity>(Quantity{}) : Quantity::from_value(*request);
                const auto allowed = limit == nullptr ? Result<Quantity>(Quantity{}) : Quantity::from_value(*limit);
                guaranteed = guaranteed && limit != nullptr && asked && allowed &&
                             (request == nullptr || *asked == *allowed) && !allowed->is_zero();
            }
    }
    return !any ? "BestEffort" : guaranteed ? "Guaranteed" : "Burstable";
}

json::Value first_status(json::Object& object, const Kind& kind) {
    if (!kind.group.empty()) return json::Object{};
    if (kind.kind == "Namespace") return json::Object{{"phase", "Active"}};
    if (kind.kind == "PersistentVolume" || kind.kind == "PersistentVolumeClaim")
        return json::Object{{"phase", "Pending"}};
    if (kind.kind == "Service") return json::Object{{"loadBalancer", json::Object{}}};
    if (kind.kind == "Pod") {
        const json::Object* spec = detail::object_at(object, "spec");
        return json::Object{{"phase", "Pending"}, {"qosClass", spec == nullptr ? "BestEffort" : service_class(*spec)}};
    }
    return json::Object{};
}

}  // namespace

void apply_defaults(json::Value& object, const Kind& kind) {
    json::Object* document = object.if_object();
    if (document == nullptr) return;
    if (!document->contains("metadata")) document->set("metadata", json::Object{});
    if (kind.custom) {
        if (kind.rules != nullptr && kind.rules->schema) fill_structural(object, *kind.rules->schema);
        return;
    }
    if (kind.schema != nullptr) fill_schema(object, *kind.schema, 0);
    detail::each_pod_spec(*document, kind.group, kind.kind, detail::fill_pod_spec);
    detail::fill_kind(*document, kind.group, kind.kind, kind.version);
}

void prepare_for_create(json::Value& object, const Kind& kind) {
    json::Object* document = object.if_object();
    if (document == nullptr) return;
    json::Object& metadata = (*document)["metadata"].make_object();
    for (const std::string_view field : kServerFields) metadata.erase(field);
    if (has_generation(kind)) metadata.set("generation", 1);
    // A node says itself what it is: its creator writes the status too.
    const bool creator_writes = kind.group.empty() && kind.kind == "Node";
    if (kind.find_subresource("status") == nullptr || creator_writes) return;
    if (kind.custom) {
        document->erase("status");
        return;
    }
    document->set("status", first_status(*document, kind));
    if (is_definition(kind)) keep_stored_versions(object, nullptr);
}

void fill_identity(json::Value& object, const Kind& kind) {
    if (kind.group != "batch" || kind.kind != "Job") return;
    json::Value* spec = object.find("spec");
    if (spec == nullptr || !spec->is_object()) return;
    const json::Value* manual = spec->find("manualSelector");
    if (manual != nullptr && manual->if_boolean() == true) return;
    // Its pods are known by its uid, whatever labels they have besides; the words without a domain are the older ones.
    const std::string uid{object.text_at({"metadata", "uid"})};
    const std::string name{object.text_at({"metadata", "name"})};
    json::Value& labels = (*spec)["template"]["metadata"]["labels"];
    if (!labels.is_null() && !labels.is_object()) return;
    for (const auto& [key, value] :
         {std::pair{"batch.kubernetes.io/controller-uid", uid}, std::pair{"batch.kubernetes.io/job-name", name},
          std::pair{"controller-uid", uid}, std::pair{"job-name", name}})
        if (labels.find(key) == nullptr) labels[key] = value;
    json::Value& chosen = (*spec)["selector"]["matchLabels"];
    if (chosen.find("batch.kubernetes.io/controller-uid") == nullptr)
        chosen["batch.kubernetes.io/controller-uid"] = uid;
}

void prepare_for_update(json::Value& object, const json::Value& before, const Kind& kind, bool status_only) {
    json::Object* document = object.if_object();
    if (document == nullptr) return;
    const json::Value* old_metadata = before.find("metadata");
    const bool has_status = kind.find_subresource("status") != nullptr;
    if (status_only) {
        // All of the stored object but its status, and what a status writer may say in metadata: nothing.
        json::Value kept = before;
        const json::Value* status = document->find("status");
        if (status != nullptr)
            kept["status"] = *status;
        else if (json::Object* fields = kept.if_object())
            fields->erase("status");
        object = std::move(kept);
        return;
    }
    json::Object& metadata = (*document)["metadata"].make_object();
    for (const std::string_view field : kServerFields) {
        const json::Value* old = old_metadata == nullptr ? nullptr : old_metadata->find(field);
        if (old != nullptr)
            metadata.set(field, *old);
        else
            metadata.erase(field);
    }
    if (has_status) {
        if (const json::Value* old = before.find("status"))
            document->set("status", *old);
        else
            document->erase("status");
    }
    if (is_definition(kind)) keep_stored_versions(object, &before);
    if (!has_generation(kind)) return;
    // Whatever is neither metadata nor status is what the author wants. A custom kind without the subresource has no
    // status in this sense, only a field of that name.
    const auto wanted = [&](const json::Value& value) {
        json::Value copy = value;
        if (json::Object* fields = copy.if_object()) {
            fields->erase("metadata");
            if (has_status || !kind.custom) fields->erase("status");
        }
        return copy;
    };
    const json::Value* counted = before.find_path({"metadata", "generation"});
    const std::int64_t generation = counted == nullptr ? 0 : counted->if_int64().value_or(0);
    const bool same = wanted(object) == wanted(before);
    object["metadata"]["generation"] = same ? generation : generation + 1;
}

}  // namespace rhizome::cluster
