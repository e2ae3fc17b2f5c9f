// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cluster/detail/rules.h"
#include "cluster/object.h"

namespace rhizome::cluster::detail {
namespace {

using Path = std::initializer_list<std::string_view>;

struct Immutable {
    std::string_view group;
    std::string_view kind;
    std::string_view first;
    std::string_view second;  ///< empty for a field at the top
};
constexpr Immutable kFields[] = {
    {"apps", "Deployment", "spec", "selector"},
    {"apps", "ReplicaSet", "spec", "selector"},
    {"apps", "DaemonSet", "spec", "selector"},
    {"batch", "Job", "spec", "completions"},
    {"batch", "Job", "spec", "selector"},
    {"batch", "Job", "spec", "template"},
    {"batch", "Job", "spec", "completionMode"},
    {"", "Secret", "type", ""},
    {"rbac.authorization.k8s.io", "RoleBinding", "roleRef", ""},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", "roleRef", ""},
    {"storage.k8s.io", "StorageClass", "provisioner", ""},
    {"storage.k8s.io", "StorageClass", "parameters", ""},
    {"storage.k8s.io", "StorageClass", "reclaimPolicy", ""},
    {"storage.k8s.io", "StorageClass", "volumeBindingMode", ""},
    {"scheduling.k8s.io", "PriorityClass", "value", ""},
    {"networking.k8s.io", "IngressClass", "spec", "controller"},
    {"node.k8s.io", "RuntimeClass", "handler", ""},
    {"apiextensions.k8s.io", "CustomResourceDefinition", "spec", "scope"},
    {"apiextensions.k8s.io", "CustomResourceDefinition", "spec", "group"},
    {"discovery.k8s.io", "EndpointSlice", "addressType", ""},
};

json::Value value_at(const json::Value& object, std::string_view first, std::string_view second) {
    const json::Value* found = second.empty() ? object.find(first) : object.find_path({first, second});
    return found == nullptr ? json::Value{} : *found;
}

/// A ConfigMap or Secret that was declared immutable keeps its content, and stays so.
void check_sealed(const json::Value& after, const json::Value& before, FieldErrors& errors) {
    const json::Value* sealed = before.find("immutable");
    if (sealed == nullptr || sealed->if_boolean() != true) return;
    for (const std::string_view field : {"immutable", "data", "binaryData"})
        if (value_at(after, field, "") != value_at(before, field, ""))
            errors.push_back(forbidden(Where(field), "field is immutable when `immutable` is set"));
}

/// Of a pod only a few fields change: images, a deadline that comes nearer, tolerations that are added.
void check_pod(const json::Value& after, const json::Value& before, FieldErrors& errors) {
    const auto reduced = [](const json::Value& pod) {
        json::Value spec = pod.find("spec") == nullptr ? json::Value{} : *pod.find("spec");
        json::Object* fields = spec.if_object();
        if (fields == nullptr) return spec;
        for (const std::string_view list : {"containers", "initContainers"})
            if (json::Value* containers = fields->find(list); containers != nullptr && containers->is_array())
                for (json::Value& container : *containers->if_array())
                    if (json::Object* each = container.if_object()) each->erase("image");
        for (const std::string_view field :
             {"activeDeadlineSeconds", "tolerations", "terminationGracePeriodSeconds", "ephemeralContainers"})
            fields->erase(field);
        return spec;
    };
    if (reduced(after) != reduced(before))
        errors.push_back(forbidden(
            Where("spec"),
            "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
            "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
            "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"));
}

/// Of a stateful set only its size, template and a few policies change.
void check_stateful_set(const json::Value& after, const json::Value& before, FieldErrors& errors) {
    const auto reduced = [](const json::Value& set) {
        json::Value spec = set.find("spec") == nullptr ? json::Value{} : *set.find("spec");
        if (json::Object* fields = spec.if_object())
            for (const std::string_view field :
                 {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                  "persistentVolumeClaimRetentionPolicy", "minReadySeconds"})
                fields->erase(field);
        return spec;
    };
    if (reduced(after) != reduced(before))
        errors.push_back(
            forbidden(Where("spec"),
                      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
                      "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
                      "'minReadySeconds' are forbidden"));
}

/// A claim only grows.
void check_claim(const json::Value& after, const json::Value& before, FieldErrors& errors) {
    const auto reduced = [](const json::Value& claim) {
        json::Value spec = claim.find("spec") == nullptr ? json::Value{} : *claim.find("spec");
        if (json::Object* fields = spec.if_object())
            for (const std::string_view field : {"resources", "volumeName", "volumeAttributesClassName"})
                fields->erase(field);
        return spec;
    };
    if (reduced(after) != reduced(before))
        errors.push_back(forbidden(Where("spec"),
                                   "spec is immutable after creation except resources.requests and "
                                   "volumeAttributesClassName for bound claims"));
}

}  // namespace

void check_immutable(const json::Value& after, const json::Value& before, std::string_view group, std::string_view kind,
                     FieldErrors& errors) {
    for (const Immutable& rule : kFields) {
        if (rule.group != group || rule.kind != kind) continue;
        json::Value now = value_at(after, rule.first, rule.second);
        if (now == value_at(before, rule.first, rule.second)) continue;
        const Where where = rule.second.empty() ? Where(rule.first) : Where(rule.first) / rule.second;
        errors.push_back(
            invalid(where, std::move(now), rule.first == "roleRef" ? "cannot change roleRef" : "field is immutable"));
    }
    if (!group.empty() && kind != "StatefulSet") return;
    if (kind == "ConfigMap" || kind == "Secret") check_sealed(after, before, errors);
    if (kind == "Pod") check_pod(after, before, errors);
    if (kind == "PersistentVolumeClaim") check_claim(after, before, errors);
    if (group == "apps" && kind == "StatefulSet") check_stateful_set(after, before, errors);
    if (kind == "Service") {
        const std::string_view address = before.text_at({"spec", "clusterIP"});
        const bool keeps =
            before.text_at({"spec", "type"}) != "ExternalName" && after.text_at({"spec", "type"}) != "ExternalName";
        if (keeps && !address.empty() && after.text_at({"spec", "clusterIP"}) != address)
            errors.push_back(
                invalid(Where("spec.clusterIPs[0]"), after.text_at({"spec", "clusterIP"}), "may not change once set"));
    }
}

}  // namespace rhizome::cluster::detail
