// SPDX-License-Identifier: Apache-2.0
// Pods and what makes them.
#include <optional>

#include <fmt/core.h>

#include "api/detail/cells.h"
#include "api/table.h"

namespace rhizome::api::detail {
namespace {

/// What stands in the column Status, and what is counted on the way to it.
struct PodSummary {
    std::string reason{};
    std::int64_t restarts = 0;
    std::int64_t ready = 0;
    std::optional<Time> last_restart{};
};

void count_restart(PodSummary& summary, const json::Value& container) {
    const json::Value* restarts = container.find("restartCount");
    summary.restarts += restarts == nullptr ? 0 : restarts->if_int64().value_or(0);
    const auto ended = from_rfc3339(container.text_at({"lastState", "terminated", "finishedAt"}));
    if (ended && (!summary.last_restart || *ended > *summary.last_restart)) summary.last_restart = ended;
}

std::string end_of(const json::Value& terminated) {
    if (const auto reason = terminated.text_at({"reason"}); !reason.empty()) return std::string(reason);
    const json::Value* signal = terminated.find("signal");
    if (signal != nullptr && signal->if_int64().value_or(0) != 0) return fmt::format("Signal:{}", *signal->if_int64());
    const json::Value* code = terminated.find("exitCode");
    return fmt::format("ExitCode:{}", code == nullptr ? 0 : code->if_int64().value_or(0));
}

/// True while init containers are not done: the pod's own containers say nothing yet then.
bool summarise_init(const Printed& pod, PodSummary& summary) {
    const json::Array& all = pod.list({"status", "initContainerStatuses"});
    for (std::size_t i = 0; i < all.size(); ++i) {
        const json::Value& each = all[i];
        count_restart(summary, each);
        const json::Value* terminated = each.find_path({"state", "terminated"});
        if (terminated != nullptr && terminated->find("exitCode") != nullptr &&
            terminated->find("exitCode")->if_int64() == 0)
            continue;
        const json::Value* started = each.find("started");
        if (started != nullptr && started->if_boolean() == true) {  // a sidecar that runs
            const json::Value* ready = each.find("ready");
            if (ready != nullptr && ready->if_boolean() == true) ++summary.ready;
            continue;
        }
        const std::string_view waiting = each.text_at({"state", "waiting", "reason"});
        if (terminated != nullptr)
            summary.reason = "Init:" + end_of(*terminated);
        else if (!waiting.empty() && waiting != "PodInitializing")
            summary.reason = fmt::format("Init:{}", waiting);
        else
            summary.reason = fmt::format("Init:{}/{}", i, pod.count({"spec", "initContainers"}));
        return true;
    }
    return false;
}

void summarise_containers(const Printed& pod, PodSummary& summary) {
    bool runs = false;
    const json::Array& all = pod.list({"status", "containerStatuses"});
    for (auto each = all.rbegin(); each != all.rend(); ++each) {
        count_restart(summary, *each);
        const std::string_view waiting = each->text_at({"state", "waiting", "reason"});
        const json::Value* terminated = each->find_path({"state", "terminated"});
        const json::Value* ready = each->find("ready");
        if (!waiting.empty())
            summary.reason = waiting;
        else if (terminated != nullptr)
            summary.reason = end_of(*terminated);
        else if (ready != nullptr && ready->if_boolean() == true && each->find_path({"state", "running"}) != nullptr) {
            runs = true;
            ++summary.ready;
        }
    }
    if (summary.reason == "Completed" && runs) {
        bool is_ready = false;
        for (const json::Value& each : pod.list({"status", "conditions"}))
            is_ready = is_ready || (each.text_at({"type"}) == "Ready" && each.text_at({"status"}) == "True");
        summary.reason = is_ready ? "Running" : "NotReady";
    }
}

PodSummary summarise(const Printed& pod) {
    PodSummary summary;
    summary.reason = pod.text_or({"status", "reason"}, pod.text({"status", "phase"}));
    for (const json::Value& each : pod.list({"status", "conditions"}))
        if (each.text_at({"type"}) == "PodScheduled" && each.text_at({"reason"}) == "SchedulingGated")
            summary.reason = "SchedulingGated";
    if (!summarise_init(pod, summary)) {
        summarise_containers(pod, summary);
    }
    const std::string_view phase = pod.text({"status", "phase"});
    if (!pod.text({"metadata", "deletionTimestamp"}).empty()) {
        if (pod.text({"status", "reason"}) == "NodeLost")
            summary.reason = "Unknown";
        else if (phase != "Succeeded" && phase != "Failed")
            summary.reason = "Terminating";
    }
    return summary;
}

std::string gates(const Printed& pod) {
    const json::Array& all = pod.list({"spec", "readinessGates"});
    if (all.empty()) return "<none>";
    std::size_t open = 0;
    for (const json::Value& gate : all)
        for (const json::Value& each : pod.list({"status", "conditions"}))
            if (each.text_at({"type"}) == gate.text_at({"conditionType"}) && each.text_at({"status"}) == "True") ++open;
    return fmt::format("{}/{}", open, all.size());
}

json::Array pod_cells(const Printed& pod) {
    const PodSummary summary = summarise(pod);
    std::string restarts = std::to_string(summary.restarts);
    if (summary.restarts != 0 && summary.last_restart)
        restarts += fmt::format(" ({} ago)", human_duration(pod.now - *summary.last_restart));
    std::size_t containers = pod.count({"spec", "containers"});
    for (const json::Value& each : pod.list({"spec", "initContainers"}))
        if (each.text_at({"restartPolicy"}) == "Always") ++containers;
    return {pod.name(),
            fmt::format("{}/{}", summary.ready, containers),
            summary.reason,
            restarts,
            pod.age(),
            pod.text_or({"status", "podIP"}, "<none>"),
            pod.text_or({"spec", "nodeName"}, "<none>"),
            pod.text_or({"status", "nominatedNodeName"}, "<none>"),
            gates(pod)};
}

json::Value containers_at(const Printed& row, Path path) { return joined_fields(row.list(path), "name"); }
json::Value images_at(const Printed& row, Path path) { return joined_fields(row.list(path), "image"); }

json::Array replica_cells(const Printed& row) {  // ReplicaSet and ReplicationController
    const json::Value* selector = row.object.find_path({"spec", "selector"});
    const bool plain = row.object.text_at({"kind"}) == "ReplicationController";
    return {row.name(),
            row.number({"spec", "replicas"}),
            row.number({"status", "replicas"}),
            row.number({"status", "readyReplicas"}),
            row.age(),
            containers_at(row, {"spec", "template", "spec", "containers"}),
            images_at(row, {"spec", "template", "spec", "containers"}),
            plain ? labels_text(selector) : selector_text(selector)};
}

json::Array deployment_cells(const Printed& row) {
    return {row.name(),
            fmt::format("{}/{}", row.number({"status", "readyReplicas"}), row.number({"spec", "replicas"})),
            row.number({"status", "updatedReplicas"}),
            row.number({"status", "availableReplicas"}),
            row.age(),
            containers_at(row, {"spec", "template", "spec", "containers"}),
            images_at(row, {"spec", "template", "spec", "containers"}),
            selector_text(row.object.find_path({"spec", "selector"}))};
}

json::Array stateful_set_cells(const Printed& row) {
    return {row.name(), fmt::format("{}/{}", row.number({"status", "readyReplicas"}), row.number({"spec", "replicas"})),
            row.age(), containers_at(row, {"spec", "template", "spec", "containers"}),
            images_at(row, {"spec", "template", "spec", "containers"})};
}

json::Array daemon_set_cells(const Printed& row) {
    return {row.name(),
            row.number({"status", "desiredNumberScheduled"}),
            row.number({"status", "currentNumberScheduled"}),
            row.number({"status", "numberReady"}),
            row.number({"status", "updatedNumberScheduled"}),
            row.number({"status", "numberAvailable"}),
            labels_text(row.object.find_path({"spec", "template", "spec", "nodeSelector"})),
            row.age(),
            containers_at(row, {"spec", "template", "spec", "containers"}),
            images_at(row, {"spec", "template", "spec", "containers"}),
            selector_text(row.object.find_path({"spec", "selector"}))};
}

std::string job_state(const Printed& job) {
    const auto has = [&](std::string_view type) {
        for (const json::Value& each : job.list({"status", "conditions"}))
            if (each.text_at({"type"}) == type && each.text_at({"status"}) == "True") return true;
        return false;
    };
    if (has("Complete")) return "Complete";
    if (has("Failed")) return "Failed";
    if (!job.text({"metadata", "deletionTimestamp"}).empty()) return "Terminating";
    if (has("Suspended")) return "Suspended";
    if (has("FailureTarget")) return "FailureTarget";
    if (has("SuccessCriteriaMet")) return "SuccessCriteriaMet";
    return "Running";
}

json::Array job_cells(const Printed& row) {
    const std::int64_t succeeded = row.number({"status", "succeeded"});
    const json::Value* completions = row.object.find_path({"spec", "completions"});
    const std::int64_t parallelism = row.number({"spec", "parallelism"});
    std::string progress = completions != nullptr && completions->if_int64()
                               ? fmt::format("{}/{}", succeeded, *completions->if_int64())
                           : parallelism > 1 ? fmt::format("{}/1 of {}", succeeded, parallelism)
                                             : fmt::format("{}/1", succeeded);
    std::string duration;
    if (const auto start = from_rfc3339(row.text({"status", "startTime"})))
        duration = human_duration(from_rfc3339(row.text({"status", "completionTime"})).value_or(row.now) - *start);
    return {row.name(),
            job_state(row),
            std::move(progress),
            std::move(duration),
            row.age(),
            containers_at(row, {"spec", "template", "spec", "containers"}),
            images_at(row, {"spec", "template", "spec", "containers"}),
            selector_text(row.object.find_path({"spec", "selector"}))};
}

json::Array cron_job_cells(const Printed& row) {
    const json::Value* suspend = row.object.find_path({"spec", "suspend"});
    const std::string last = row.since({"status", "lastScheduleTime"});
    return {row.name(),
            std::string(row.text({"spec", "schedule"})),
            row.text_or({"spec", "timeZone"}, "<none>"),
            suspend == nullptr              ? "<unset>"
            : row.flag({"spec", "suspend"}) ? "True"
                                            : "False",
            row.count({"status", "active"}),
            last == "<unknown>" ? "<none>" : last,
            row.age(),
            containers_at(row, {"spec", "jobTemplate", "spec", "template", "spec", "containers"}),
            images_at(row, {"spec", "jobTemplate", "spec", "template", "spec", "containers"}),
            selector_text(row.object.find_path({"spec", "jobTemplate", "spec", "selector"}))};
}

json::Array pod_template_cells(const Printed& row) {
    return {row.name(), containers_at(row, {"template", "spec", "containers"}),
            images_at(row, {"template", "spec", "containers"}),
            labels_text(row.object.find_path({"template", "metadata", "labels"}))};
}

json::Array scale_cells(const Printed& row) {
    return {row.name(), row.number({"spec", "replicas"}), row.number({"status", "replicas"}), row.age()};
}

json::Array revision_cells(const Printed& row) {
    std::string controller = "<none>";
    for (const json::Value& each : row.list({"metadata", "ownerReferences"})) {
        const json::Value* controls = each.find("controller");
        if (controls == nullptr || controls->if_boolean() != true) continue;
        const std::string_view version = each.text_at({"apiVersion"});
        const std::size_t slash = version.find('/');
        std::string kind(each.text_at({"kind"}));
        for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        controller = fmt::format("{}{}/{}", kind,
                                 slash == std::string_view::npos ? "" : fmt::format(".{}", version.substr(0, slash)),
                                 each.text_at({"name"}));
    }
    return {row.name(), controller, row.number({"revision"}), row.age()};
}

}  // namespace

CellsOf workload_cells(std::string_view group, std::string_view kind) {
    if (group.empty() && kind == "Pod") return pod_cells;
    if (group.empty() && kind == "ReplicationController") return replica_cells;
    if (group.empty() && kind == "PodTemplate") return pod_template_cells;
    if (group == "apps" && kind == "Deployment") return deployment_cells;
    if (group == "apps" && kind == "ReplicaSet") return replica_cells;
    if (group == "apps" && kind == "StatefulSet") return stateful_set_cells;
    if (group == "apps" && kind == "DaemonSet") return daemon_set_cells;
    if (group == "apps" && kind == "ControllerRevision") return revision_cells;
    if (group == "autoscaling" && kind == "Scale") return scale_cells;
    if (group == "batch" && kind == "Job") return job_cells;
    if (group == "batch" && kind == "CronJob") return cron_job_cells;
    return nullptr;
}

}  // namespace rhizome::api::detail
