// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "cluster/base64.h"
#include "cluster/detail/fill.h"

namespace rhizome::cluster::detail {
namespace {

using Fill = void (*)(json::Object& object, json::Object& spec);

void rolling(json::Object& spec, std::string_view key, json::Object parameters) {
    json::Object* strategy = made_object(spec, key);
    if (strategy == nullptr) return;
    fill(*strategy, "type", "RollingUpdate");
    if (text(*strategy, "type") != "RollingUpdate") return;
    if (json::Object* rolling = made_object(*strategy, "rollingUpdate"))
        for (auto& member : parameters) fill(*rolling, member.key, std::move(member.value));
}

void fill_phase(json::Object& object, std::string_view phase) {
    if (json::Object* status = made_object(object, "status")) fill(*status, "phase", phase);
}

void deployment(json::Object& /*object*/, json::Object& spec) {
    fill(spec, "replicas", 1);
    rolling(spec, "strategy", {{"maxUnavailable", "25%"}, {"maxSurge", "25%"}});
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
}

void daemon_set(json::Object& /*object*/, json::Object& spec) {
    rolling(spec, "updateStrategy", {{"maxUnavailable", 1}, {"maxSurge", 0}});
    fill(spec, "revisionHistoryLimit", 10);
}

void stateful_set(json::Object& /*object*/, json::Object& spec) {
    fill(spec, "replicas", 1);
    fill(spec, "podManagementPolicy", "OrderedReady");
    rolling(spec, "updateStrategy", {{"partition", 0}});
    fill(spec, "revisionHistoryLimit", 10);
    if (json::Object* retention = made_object(spec, "persistentVolumeClaimRetentionPolicy"))
        for (const std::string_view when : {"whenDeleted", "whenScaled"}) fill(*retention, when, "Retain");
    each(spec, "volumeClaimTemplates", [](json::Object& claim) {
        fill(claim, "apiVersion", "v1");
        fill(claim, "kind", "PersistentVolumeClaim");
        if (json::Object* wanted = made_object(claim, "spec")) fill_claim_spec(*wanted);
        fill_phase(claim, "Pending");
    });
}

void replica_set(json::Object& /*object*/, json::Object& spec) { fill(spec, "replicas", 1); }

const json::Object* template_labels(json::Object& spec) {
    json::Object* pod = object_at(spec, "template");
    json::Object* metadata = pod == nullptr ? nullptr : object_at(*pod, "metadata");
    return metadata == nullptr ? nullptr : object_at(*metadata, "labels");
}

void copy_labels(json::Object& object, const json::Object* labels) {
    if (labels == nullptr || labels->empty()) return;
    const json::Object copied = *labels;
    json::Object* metadata = made_object(object, "metadata");
    json::Object* own = metadata == nullptr ? nullptr : made_object(*metadata, "labels");
    if (own != nullptr && own->empty()) *own = copied;
}

void replication_controller(json::Object& object, json::Object& spec) {
    fill(spec, "replicas", 1);
    const json::Object* labels = template_labels(spec);
    if (labels == nullptr || labels->empty()) return;
    const json::Object copied = *labels;
    copy_labels(object, &copied);
    json::Object* selector = made_object(spec, "selector");
    if (selector != nullptr && selector->empty()) *selector = copied;
}

void job(json::Object& object, json::Object& spec) {
    if (!spec.contains("completions") && !spec.contains("parallelism")) spec.set("completions", 1);
    fill(spec, "parallelism", 1);
    fill(spec, "backoffLimit", 6);
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    fill(spec, "podReplacementPolicy", spec.contains("podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
    copy_labels(object, template_labels(spec));
}

void cron_job(json::Object& /*object*/, json::Object& spec) {
    fill(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
}

void service(json::Object& /*object*/, json::Object& spec) {
    fill(spec, "sessionAffinity", "None");
    if (text(spec, "sessionAffinity") == "ClientIP") {
        json::Object* affinity = made_object(spec, "sessionAffinityConfig");
        json::Object* client = affinity == nullptr ? nullptr : made_object(*affinity, "clientIP");
        if (client != nullptr) fill(*client, "timeoutSeconds", 10'800);
    }
    fill(spec, "type", "ClusterIP");
    const std::string_view type = text(spec, "type");
    const bool external = type == "NodePort" || type == "LoadBalancer";
    const bool balanced = type == "LoadBalancer";
    const bool named = type == "ExternalName";
    each(spec, "ports", [](json::Object& port) {
        fill(port, "protocol", "TCP");
        const json::Value* target = port.find("targetPort");
        const bool unset =
            target == nullptr || target->if_int64() == 0 || (target->is_string() && target->if_string()->empty());
        if (unset && port.contains("port")) {
            const json::Value same = *port.find("port");
            port.set("targetPort", same);
        }
    });
    if (external) fill(spec, "externalTrafficPolicy", "Cluster");
    if (balanced) fill(spec, "allocateLoadBalancerNodePorts", true);
    if (!named) {
        fill(spec, "internalTrafficPolicy", "Cluster");
        fill(spec, "ipFamilyPolicy", "SingleStack");
        if (!spec.contains("ipFamilies")) spec.set("ipFamilies", json::Array{"IPv4"});
    }
}

void volume_claim(json::Object& object, json::Object& spec) {
    fill_claim_spec(spec);
    fill_phase(object, "Pending");
}

void volume(json::Object& object, json::Object& spec) {
    fill(spec, "persistentVolumeReclaimPolicy", "Retain");
    fill(spec, "volumeMode", "Filesystem");
    if (json::Object* path = object_at(spec, "hostPath"))
        if (!path->contains("type")) path->set("type", "");
    fill_phase(object, "Pending");
}

void name_space(json::Object& object, json::Object& spec) {
    fill_phase(object, "Active");
    json::Object* metadata = object_at(object, "metadata");
    if (metadata == nullptr) return;
    json::Value& finalizers = spec["finalizers"];
    if (finalizers.is_null()) finalizers = json::Array{};
    json::Array* list = finalizers.if_array();
    if (list != nullptr && list->empty() && text(*metadata, "deletionTimestamp").empty())
        list->emplace_back("kubernetes");
    const std::string name(text(*metadata, "name"));
    json::Object* labels = name.empty() ? nullptr : made_object(*metadata, "labels");
    if (labels != nullptr) labels->set("kubernetes.io/metadata.name", name);
}

void network_policy(json::Object& /*object*/, json::Object& spec) {
    for (const std::string_view direction : {"ingress", "egress"})
        each(spec, direction, [](json::Object& rule) {
            each(rule, "ports", [](json::Object& port) { fill(port, "protocol", "TCP"); });
        });
    if (spec.contains("policyTypes")) return;
    json::Array types{"Ingress"};
    const json::Value* egress = spec.find("egress");
    if (egress != nullptr && egress->is_array() && !egress->if_array()->empty()) types.emplace_back("Egress");
    spec.set("policyTypes", std::move(types));
}

void autoscaler_1(json::Object& /*object*/, json::Object& spec) {
    fill(spec, "minReplicas", 1);
    fill(spec, "targetCPUUtilizationPercentage", 80);
}

void autoscaler_2(json::Object& /*object*/, json::Object& spec) {
    fill(spec, "minReplicas", 1);
    if (spec.contains("metrics")) return;
    spec.set("metrics",
             json::Array{json::Object{
                 {"type", "Resource"},
                 {"resource",
                  json::Object{{"name", "cpu"},
                               {"target", json::Object{{"type", "Utilization"}, {"averageUtilization", 80}}}}}}});
}

void secret(json::Object& object, json::Object& /*spec*/) {
    fill(object, "type", "Opaque");
    // What was written in clear becomes data, and wins over it.
    const json::Object* clear = object_at(object, "stringData");
    if (clear == nullptr) return;
    const json::Object written = *clear;
    json::Object* data = made_object(object, "data");
    if (data == nullptr) return;
    for (const auto& member : written)
        if (const std::string* value = member.value.if_string()) data->set(member.key, base64(as_bytes(*value)));
    object.erase("stringData");
}

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

void role_binding(json::Object& object, json::Object& /*spec*/) {
    if (json::Object* role = object_at(object, "roleRef")) fill(*role, "apiGroup", kRbac);
    each(object, "subjects", [](json::Object& subject) {
        const std::string_view kind = text(subject, "kind");
        if (kind == "User" || kind == "Group") fill(subject, "apiGroup", kRbac);
    });
}

void limit_range(json::Object& /*object*/, json::Object& spec) {
    each(spec, "limits", [](json::Object& item) {
        if (text(item, "type") != "Container") return;
        const auto copy = [&](std::string_view to, std::string_view from) {
            const json::Object* source = object_at(item, from);
            if (source == nullptr) return;
            const json::Object values = *source;
            if (json::Object* target = made_object(item, to))
                for (const auto& member : values) fill(*target, member.key, member.value);
        };
        copy("default", "max");
        copy("defaultRequest", "default");
        copy("defaultRequest", "min");
    });
}

void storage_class(json::Object& object, json::Object& /*spec*/) {
    fill(object, "reclaimPolicy", "Delete");
    fill(object, "volumeBindingMode", "Immediate");
}

void driver(json::Object& /*object*/, json::Object& spec) {
    fill(spec, "attachRequired", true);
    for (const std::string_view flag : {"podInfoOnMount", "storageCapacity", "requiresRepublish", "seLinuxMount"})
        fill(spec, flag, false);
    fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if (!spec.contains("volumeLifecycleModes")) spec.set("volumeLifecycleModes", json::Array{"Persistent"});
}

void priority_class(json::Object& object, json::Object& /*spec*/) {
    fill(object, "preemptionPolicy", "PreemptLowerPriority");
}

void webhooks(json::Object& object, json::Object& /*spec*/) {
    const bool mutating = text(object, "kind") == "MutatingWebhookConfiguration";
    each(object, "webhooks", [&](json::Object& hook) {
        fill(hook, "failurePolicy", "Fail");
        fill(hook, "matchPolicy", "Equivalent");
        fill(hook, "namespaceSelector", json::Object{});
        fill(hook, "objectSelector", json::Object{});
        fill(hook, "timeoutSeconds", 10);
        if (mutating) fill(hook, "reinvocationPolicy", "Never");
        each(hook, "rules", [](json::Object& rule) { fill(rule, "scope", "*"); });
        json::Object* client = object_at(hook, "clientConfig");
        if (json::Object* target = client == nullptr ? nullptr : object_at(*client, "service"))
            fill(*target, "port", 443);
    });
}

void definition(json::Object& /*object*/, json::Object& spec) {
    if (json::Object* conversion = made_object(spec, "conversion")) fill(*conversion, "strategy", "None");
    json::Object* names = made_object(spec, "names");
    const std::string kind(names == nullptr ? std::string_view{} : text(*names, "kind"));
    if (kind.empty()) return;
    std::string singular = kind;
    std::transform(singular.begin(), singular.end(), singular.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    fill(*names, "singular", singular);
    fill(*names, "listKind", kind + "List");
}

void endpoints(json::Object& object, json::Object& /*spec*/) {
    each(object, "subsets", [](json::Object& subset) {
        each(subset, "ports", [](json::Object& port) { fill(port, "protocol", "TCP"); });
    });
}

void endpoint_slice(json::Object& object, json::Object& /*spec*/) {
    each(object, "ports", [](json::Object& port) {
        if (!port.contains("name")) port.set("name", "");
        fill(port, "protocol", "TCP");
    });
}

void ingress_class(json::Object& /*object*/, json::Object& spec) {
    if (json::Object* parameters = object_at(spec, "parameters")) fill(*parameters, "scope", "Cluster");
}

void token_request(json::Object& /*object*/, json::Object& spec) { fill(spec, "expirationSeconds", 3600); }

struct FillEntry {
    std::string_view group;
    std::string_view kind;
    std::string_view version;
    bool has_spec;
    Fill rules;
};
constexpr FillEntry kFillEntries[] = {
    {"apps", "Deployment", "v1", true, deployment},
    {"apps", "DaemonSet", "v1", true, daemon_set},
    {"apps", "StatefulSet", "v1", true, stateful_set},
    {"apps", "ReplicaSet", "v1", true, replica_set},
    {"", "ReplicationController", "v1", true, replication_controller},
    {"batch", "Job", "v1", true, job},
    {"batch", "CronJob", "v1", true, cron_job},
    {"", "Service", "v1", true, service},
    {"", "PersistentVolumeClaim", "v1", true, volume_claim},
    {"", "PersistentVolume", "v1", true, volume},
    {"", "Namespace", "v1", true, name_space},
    {"networking.k8s.io", "NetworkPolicy", "v1", true, network_policy},
    {"autoscaling", "HorizontalPodAutoscaler", "v1", true, autoscaler_1},
    {"autoscaling", "HorizontalPodAutoscaler", "v2", true, autoscaler_2},
    {"", "Secret", "v1", false, secret},
    {kRbac, "RoleBinding", "v1", false, role_binding},
    {kRbac, "ClusterRoleBinding", "v1", false, role_binding},
    {"", "LimitRange", "v1", true, limit_range},
    {"storage.k8s.io", "StorageClass", "v1", false, storage_class},
    {"storage.k8s.io", "CSIDriver", "v1", true, driver},
    {"scheduling.k8s.io", "PriorityClass", "v1", false, priority_class},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", "v1", false, webhooks},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "v1", false, webhooks},
    {"apiextensions.k8s.io", "CustomResourceDefinition", "v1", true, definition},
    {"", "Endpoints", "v1", false, endpoints},
    {"discovery.k8s.io", "EndpointSlice", "v1", false, endpoint_slice},
    {"networking.k8s.io", "IngressClass", "v1", true, ingress_class},
    {"authentication.k8s.io", "TokenRequest", "v1", true, token_request},
};

}  // namespace

void fill_kind(json::Object& object, std::string_view group, std::string_view kind, std::string_view version) {
    for (const FillEntry& entry : kFillEntries) {
        if (entry.group != group || entry.kind != kind || entry.version != version) continue;
        json::Object none;
        json::Object* spec = entry.has_spec ? object_at(object, "spec") : &none;
        if (spec == nullptr) return;
        // Rules may add members beside `spec` and move it, so they work on a copy that is put back.
        if (!entry.has_spec) {
            entry.rules(object, none);
            return;
        }
        json::Object filled = std::move(*spec);
        entry.rules(object, filled);
        object.set("spec", std::move(filled));
        return;
    }
}

}  // namespace rhizome::cluster::detail
