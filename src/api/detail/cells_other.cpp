// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "api/detail/cells.h"
#include "api/table.h"

namespace rhizome::api::detail {
namespace {

json::Array namespace_cells(const Printed& row) {
    return {row.name(), std::string(row.text({"status", "phase"})), row.age()};
}

std::string node_status(const Printed& node) {
    std::string status = "Unknown";
    for (const json::Value& each : node.list({"status", "conditions"}))
        if (each.text_at({"type"}) == "Ready") status = each.text_at({"status"}) == "True" ? "Ready" : "NotReady";
    return node.flag({"spec", "unschedulable"}) ? status + ",SchedulingDisabled" : status;
}

std::string node_roles(const Printed& node) {
    constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
    std::vector<std::string> roles;
    if (const json::Value* labels = node.object.find_path({"metadata", "labels"}); labels != nullptr)
        if (const json::Object* object = labels->if_object())
            for (const auto& member : *object) {
                if (member.key.starts_with(kPrefix) && member.key.size() > kPrefix.size())
                    roles.push_back(member.key.substr(kPrefix.size()));
                else if (member.key == "kubernetes.io/role" && !scalar_text(&member.value, "").empty())
                    roles.push_back(scalar_text(&member.value, ""));
            }
    std::sort(roles.begin(), roles.end());
    return roles.empty() ? "<none>" : joined(roles);
}

std::string node_address(const Printed& node, std::string_view type) {
    for (const json::Value& each : node.list({"status", "addresses"}))
        if (each.text_at({"type"}) == type) return std::string(each.text_at({"address"}));
    return "<none>";
}

json::Array node_cells(const Printed& row) {
    return {row.name(),
            node_status(row),
            node_roles(row),
            row.age(),
            std::string(row.text({"status", "nodeInfo", "kubeletVersion"})),
            node_address(row, "InternalIP"),
            node_address(row, "ExternalIP"),
            row.text_or({"status", "nodeInfo", "osImage"}, "<unknown>"),
            row.text_or({"status", "nodeInfo", "kernelVersion"}, "<unknown>"),
            row.text_or({"status", "nodeInfo", "containerRuntimeVersion"}, "<unknown>")};
}

json::Array config_map_cells(const Printed& row) {
    return {row.name(), row.count({"data"}) + row.count({"binaryData"}), row.age()};
}
json::Array secret_cells(const Printed& row) {
    return {row.name(), std::string(row.text({"type"})), row.count({"data"}), row.age()};
}
json::Array service_account_cells(const Printed& row) { return {row.name(), row.count({"secrets"}), row.age()}; }

/// The first time that is there.
std::string seen(const Printed& row, std::initializer_list<Path> places) {
    for (const Path& place : places)
        if (from_rfc3339(row.text(place))) return row.since(place);
    return "<unknown>";
}

json::Array event_cells(const Printed& row) {
    // The two versions of Event name their parts differently.
    const bool newer = row.object.find("regarding") != nullptr;
    const std::string_view object = newer ? "regarding" : "involvedObject";
    std::string kind(row.text({object, "kind"}));
    for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const std::string first = seen(row, {{"firstTimestamp"}, {"deprecatedFirstTimestamp"}, {"eventTime"}});
    std::string last =
        seen(row, {{"series", "lastObservedTime"}, {"lastTimestamp"}, {"deprecatedLastTimestamp"}, {"eventTime"}});
    std::int64_t count = row.number({"count"}, row.number({"deprecatedCount"}));
    if (const json::Value* series = row.object.find("series"); series != nullptr && series->is_object())
        count = row.number({"series", "count"});
    if (count > 1) last = fmt::format("{} (x{} over {})", last, count, first);
    if (count == 0) count = 1;
    std::vector<std::string> source;
    for (const auto& place : {row.text({"source", "component"}), row.text({"source", "host"})})
        if (!place.empty()) source.emplace_back(place);
    if (source.empty() && !row.text({"reportingComponent"}).empty())
        source.emplace_back(row.text({"reportingComponent"}));
    if (source.empty() && !row.text({"reportingController"}).empty())
        source.emplace_back(row.text({"reportingController"}));
    std::string message(newer ? row.text({"note"}) : row.text({"message"}));
    while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
    return {std::move(last),
            std::string(row.text({"type"})),
            std::string(row.text({"reason"})),
            fmt::format("{}/{}", kind, row.text({object, "name"})),
            std::string(row.text({object, "fieldPath"})),
            joined(source, ", "),
            std::move(message),
            first,
            count,
            row.name()};
}

json::Array quota_cells(const Printed& row) {
    std::vector<std::string> requests;
    std::vector<std::string> limits;
    const json::Value* hard = row.object.find_path({"status", "hard"});
    if (hard == nullptr) hard = row.object.find_path({"spec", "hard"});
    if (hard != nullptr && hard->is_object()) {
        std::vector<std::string> names;
        for (const auto& member : *hard->if_object()) names.push_back(member.key);
        std::sort(names.begin(), names.end());
        for (const std::string& name : names) {
            const std::string text = fmt::format("{}: {}/{}", name, row.text_or({"status", "used", name}, "0"),
                                                 scalar_text(hard->find(name), ""));
            (name.starts_with("limits.") ? limits : requests).push_back(text);
        }
    }
    return {row.name(), row.age(), joined(requests, ", "), joined(limits, ", ")};
}

json::Array component_cells(const Printed& row) {
    std::string status = "Unknown";
    std::string message;
    std::string error;
    for (const json::Value& each : row.list({"conditions"})) {
        if (each.text_at({"type"}) != "Healthy") continue;
        status = each.text_at({"status"}) == "True" ? "Healthy" : "Unhealthy";
        message = each.text_at({"message"});
        error = each.text_at({"error"});
    }
    return {row.name(), std::move(status), std::move(message), std::move(error)};
}

json::Array api_service_cells(const Printed& row) {
    std::string available = "Unknown";
    for (const json::Value& each : row.list({"status", "conditions"})) {
        if (each.text_at({"type"}) != "Available") continue;
        available = each.text_at({"status"});
        if (available != "True") available += fmt::format(" ({})", each.text_at({"reason"}));
    }
    const json::Value* service = row.object.find_path({"spec", "service"});
    return {row.name(),
            service == nullptr ? "Local"
                               : fmt::format("{}/{}", service->text_at({"namespace"}), service->text_at({"name"})),
            std::move(available), row.age()};
}

std::string quantity_or_unknown(const json::Value* value) { return scalar_text(value, "<unknown>"); }

/// One metric of an autoscaler: what is, against what shall be.
std::string metric_text(const json::Value& metric, const json::Array& current, std::size_t index) {
    const std::string_view type = metric.text_at({"type"});
    const std::string part = type == "Resource"            ? "resource"
                             : type == "ContainerResource" ? "containerResource"
                             : type == "Pods"              ? "pods"
                             : type == "Object"            ? "object"
                                                           : "external";
    const json::Value* target = metric.find_path({part, "target"});
    const json::Value* now = index < current.size() ? current[index].find_path({part, "current"}) : nullptr;
    const std::string_view resource = metric.text_at({part, "name"});
    const std::string prefix = resource.empty() ? "" : fmt::format("{}: ", resource);
    if (target == nullptr) return prefix + "<unknown>";
    if (target->find("averageUtilization") != nullptr) {
        const std::string is = now == nullptr || now->find("averageUtilization") == nullptr
                                   ? "<unknown>"
                                   : scalar_text(now->find("averageUtilization"), "") + "%";
        return fmt::format("{}{}/{}%", prefix, is, scalar_text(target->find("averageUtilization"), ""));
    }
    const bool average = target->find("averageValue") != nullptr;
    const std::string_view field = average ? "averageValue" : "value";
    return fmt::format("{}{}/{}{}", prefix, quantity_or_unknown(now == nullptr ? nullptr : now->find(field)),
                       quantity_or_unknown(target->find(field)), average && type != "Resource" ? " (avg)" : "");
}

std::string autoscaler_targets(const Printed& row) {
    const json::Array& metrics = row.list({"spec", "metrics"});
    std::vector<std::string> texts;
    constexpr std::size_t kShownMax = 2;
    for (std::size_t i = 0; i < metrics.size() && i < kShownMax; ++i)
        texts.push_back(metric_text(metrics[i], row.list({"status", "currentMetrics"}), i));
    if (metrics.size() > kShownMax)
        return fmt::format("{} + {} more...", joined(texts, ", "), metrics.size() - kShownMax);
    if (!texts.empty()) return joined(texts, ", ");
    if (const json::Value* wanted = row.object.find_path({"spec", "targetCPUUtilizationPercentage"})) {  // v1
        const json::Value* now = row.object.find_path({"status", "currentCPUUtilizationPercentage"});
        return fmt::format("cpu: {}/{}%", now == nullptr ? "<unknown>" : scalar_text(now, "") + "%",
                           scalar_text(wanted, ""));
    }
    return "<none>";
}

json::Array autoscaler_cells(const Printed& row) {
    const json::Value* least = row.object.find_path({"spec", "minReplicas"});
    return {row.name(),
            fmt::format("{}/{}", row.text({"spec", "scaleTargetRef", "kind"}),
                        row.text({"spec", "scaleTargetRef", "name"})),
            autoscaler_targets(row),
            scalar_text(least, "<unset>"),
            row.number({"spec", "maxReplicas"}),
            row.number({"status", "currentReplicas"}),
            row.age()};
}

json::Array signing_request_cells(const Printed& row) {
    std::vector<std::string> conditions;
    for (const json::Value& each : row.list({"status", "conditions"})) conditions.emplace_back(each.text_at({"type"}));
    if (conditions.empty()) conditions.emplace_back("Pending");
    if (!row.text({"status", "certificate"}).empty()) conditions.emplace_back("Issued");
    const std::int64_t lasts = row.number({"spec", "expirationSeconds"}, -1);
    return {row.name(),
            row.age(),
            row.text_or({"spec", "signerName"}, "<none>"),
            std::string(row.text({"spec", "username"})),
            lasts < 0 ? "<none>" : human_duration(seconds{lasts}),
            joined(conditions)};
}

json::Array budget_cells(const Printed& row) {
    return {row.name(), scalar_text(row.object.find_path({"spec", "minAvailable"}), "N/A"),
            scalar_text(row.object.find_path({"spec", "maxUnavailable"}), "N/A"),
            row.number({"status", "disruptionsAllowed"}), row.age()};
}

json::Array binding_cells(const Printed& row) {
    std::array<std::vector<std::string>, 3> subjects;
    for (const json::Value& each : row.list({"subjects"})) {
        const std::string_view kind = each.text_at({"kind"});
        const std::string name(each.text_at({"name"}));
        if (kind == "User") subjects[0].push_back(name);
        if (kind == "Group") subjects[1].push_back(name);
        if (kind == "ServiceAccount") subjects[2].push_back(fmt::format("{}/{}", each.text_at({"namespace"}), name));
    }
    return {row.name(),
            fmt::format("{}/{}", row.text({"roleRef", "kind"}), row.text({"roleRef", "name"})),
            row.age(),
            joined(subjects[0], ", "),
            joined(subjects[1], ", "),
            joined(subjects[2], ", ")};
}

json::Array webhooks_cells(const Printed& row) { return {row.name(), row.count({"webhooks"}), row.age()}; }

json::Array policy_cells(const Printed& row) {
    const json::Value* kind = row.object.find_path({"spec", "paramKind"});
    return {row.name(), row.count({"spec", "validations"}),
            kind == nullptr ? "<unset>" : fmt::format("{}/{}", kind->text_at({"apiVersion"}), kind->text_at({"kind"})),
            row.age()};
}

json::Array policy_binding_cells(const Printed& row) {
    const json::Value* reference = row.object.find_path({"spec", "paramRef"});
    std::string shown = "<unset>";
    if (reference != nullptr) {
        const std::string_view name = reference->text_at({"name"});
        const std::string_view name_space = reference->text_at({"namespace"});
        shown = name_space.empty() ? std::string(name) : fmt::format("{}/{}", name_space, name);
    }
    return {row.name(), std::string(row.text({"spec", "policyName"})), std::move(shown), row.age()};
}

json::Array priority_class_cells(const Printed& row) {
    return {row.name(), row.number({"value"}), row.flag({"globalDefault"}), row.age(),
            row.text_or({"preemptionPolicy"}, "PreemptLowerPriority")};
}
json::Array lease_cells(const Printed& row) {
    return {row.name(), std::string(row.text({"spec", "holderIdentity"})), row.age()};
}
json::Array runtime_class_cells(const Printed& row) {
    return {row.name(), std::string(row.text({"handler"})), row.age()};
}

json::Array flow_schema_cells(const Printed& row) {
    std::string missing = "?";
    for (const json::Value& each : row.list({"status", "conditions"}))
        if (each.text_at({"type"}) == "Dangling") missing = each.text_at({"status"});
    return {row.name(),
            row.text_or({"spec", "priorityLevelConfiguration", "name"}, "<none>"),
            row.number({"spec", "matchingPrecedence"}),
            row.text_or({"spec", "distinguisherMethod", "type"}, "<none>"),
            row.age(),
            std::move(missing)};
}

json::Array priority_level_cells(const Printed& row) {
    const auto shown = [&](Path path) { return json::Value(scalar_text(row.object.find_path(path), "<none>")); };
    return {row.name(),
            std::string(row.text({"spec", "type"})),
            shown({"spec", "limited", "nominalConcurrencyShares"}),
            shown({"spec", "limited", "limitResponse", "queuing", "queues"}),
            shown({"spec", "limited", "limitResponse", "queuing", "handSize"}),
            shown({"spec", "limited", "limitResponse", "queuing", "queueLengthLimit"}),
            row.age()};
}

struct Entry {
    std::string_view group;
    std::string_view kind;
    CellsOf cells;
};
constexpr Entry kEntries[] = {
    {"", "Namespace", namespace_cells},
    {"", "Node", node_cells},
    {"", "ConfigMap", config_map_cells},
    {"", "Secret", secret_cells},
    {"", "ServiceAccount", service_account_cells},
    {"", "Event", event_cells},
    {"events.k8s.io", "Event", event_cells},
    {"", "LimitRange", created_cells},
    {"", "ResourceQuota", quota_cells},
    {"", "ComponentStatus", component_cells},
    {"apiregistration.k8s.io", "APIService", api_service_cells},
    {"autoscaling", "HorizontalPodAutoscaler", autoscaler_cells},
    {"certificates.k8s.io", "CertificateSigningRequest", signing_request_cells},
    {"policy", "PodDisruptionBudget", budget_cells},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", binding_cells},
    {"rbac.authorization.k8s.io", "RoleBinding", binding_cells},
    {"rbac.authorization.k8s.io", "ClusterRole", created_cells},
    {"rbac.authorization.k8s.io", "Role", created_cells},
    {"apiextensions.k8s.io", "CustomResourceDefinition", created_cells},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", webhooks_cells},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", webhooks_cells},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicy", policy_cells},
    {"admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", policy_binding_cells},
    {"scheduling.k8s.io", "PriorityClass", priority_class_cells},
    {"coordination.k8s.io", "Lease", lease_cells},
    {"node.k8s.io", "RuntimeClass", runtime_class_cells},
    {"flowcontrol.apiserver.k8s.io", "FlowSchema", flow_schema_cells},
    {"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", priority_level_cells},
};

}  // namespace

CellsOf other_cells(std::string_view group, std::string_view kind) {
    for (const Entry& entry : kEntries)
        if (entry.group == group && entry.kind == kind) return entry.cells;
    return nullptr;
}

}  // namespace rhizome::api::detail
