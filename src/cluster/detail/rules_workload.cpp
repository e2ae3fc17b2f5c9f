// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "cluster/detail/rules.h"
#include "cluster/names.h"

namespace rhizome::cluster::detail {
namespace {

/// The selector of a workload: there, not empty, and matching its own pods.
void check_owned_pods(const Checker& spec, std::vector<std::string_view> restarts, bool plain_selector = false) {
    const Checker selector = spec.at("selector");
    if (!selector.present()) {
        selector.add(required(selector.where()));
    } else if (selector.size() == 0 && !plain_selector) {
        selector.add(
            invalid(selector.where(), *selector.value(),
                    "empty selector is invalid for " + std::string(plain_selector ? "this kind" : "workloads")));
    }
    const Checker pod_template = spec.at("template");
    if (!pod_template.present()) {
        pod_template.add(required(pod_template.where()));
        return;
    }
    check_template(pod_template, selector, std::move(restarts));
}

void deployment(const Checker& spec) {
    spec.at("replicas").not_negative();
    spec.at("minReadySeconds").not_negative();
    spec.at("revisionHistoryLimit").not_negative();
    spec.at("progressDeadlineSeconds").not_negative();
    const auto deadline = spec.at("progressDeadlineSeconds").number();
    if (deadline && *deadline <= spec.at("minReadySeconds").number().value_or(0))
        spec.add(
            invalid(spec.at("progressDeadlineSeconds").where(), *deadline, "must be greater than minReadySeconds"));
    const Checker strategy = spec.at("strategy");
    strategy.at("type").one_of({"Recreate", "RollingUpdate"});
    const Checker rolling = strategy.at("rollingUpdate");
    if (strategy.at("type").text() == "Recreate" && rolling.present())
        rolling.add(forbidden(rolling.where(), "may not be specified when strategy `type` is 'Recreate'"));
    rolling.at("maxSurge").count_or_percent();
    rolling.at("maxUnavailable").count_or_percent();
    const auto none = [](const Checker& amount) { return amount.number() == 0 || amount.text() == "0%"; };
    if (rolling.present() && none(rolling.at("maxSurge")) && none(rolling.at("maxUnavailable")))
        rolling.add(invalid(rolling.at("maxUnavailable").where(), *rolling.at("maxUnavailable").value(),
                            "may not be 0 when `maxSurge` is 0"));
    check_owned_pods(spec, {"Always"});
}

void replica_set(const Checker& spec) {
    spec.at("replicas").not_negative();
    spec.at("minReadySeconds").not_negative();
    check_owned_pods(spec, {"Always"});
}

void replication_controller(const Checker& spec) {
    spec.at("replicas").not_negative();
    spec.at("minReadySeconds").not_negative();
    check_owned_pods(spec, {"Always"}, true);
}

void daemon_set(const Checker& spec) {
    spec.at("minReadySeconds").not_negative();
    spec.at("revisionHistoryLimit").not_negative();
    spec.at("updateStrategy").at("type").one_of({"OnDelete", "RollingUpdate"});
    check_owned_pods(spec, {"Always"});
}

void stateful_set(const Checker& spec) {
    spec.at("replicas").not_negative();
    spec.at("podManagementPolicy").one_of({"OrderedReady", "Parallel"});
    spec.at("updateStrategy").at("type").one_of({"OnDelete", "RollingUpdate"});
    spec.at("updateStrategy").at("rollingUpdate").at("partition").not_negative();
    spec.at("volumeClaimTemplates").each([](const Checker& claim) { claim.at("metadata").at("name").require(); });
    // Claims of the templates are volumes of the pods: mounts of theirs are found.
    const Checker selector = spec.at("selector");
    if (!selector.present()) selector.add(required(selector.where()));
    std::set<std::string_view> claims;
    spec.at("volumeClaimTemplates").each([&](const Checker& claim) {
        claims.insert(claim.at("metadata").at("name").text());
    });
    check_template(spec.at("template"), selector, {"Always"}, std::move(claims));
}

void job_spec(const Checker& spec) {
    for (const std::string_view field : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                                         "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"})
        spec.at(field).not_negative();
    spec.at("completionMode").one_of({"NonIndexed", "Indexed"});
    if (spec.at("completionMode").text() == "Indexed" && !spec.at("completions").present())
        spec.add(required(spec.at("completions").where(), "when completion mode is Indexed"));
    // The selector is made by the controller from the job's uid unless its author insists.
    check_template(spec.at("template"), Checker{nullptr, Where{}, spec.errors()}, {"OnFailure", "Never"});
}

void cron_job(const Checker& spec) {
    const Checker schedule = spec.at("schedule");
    if (schedule.require() && !is_cron_schedule(schedule.text()))
        schedule.add(
            invalid(schedule.where(), *schedule.value(),
                    fmt::format("expected exactly 5 fields of minute, hour, day of month, month and day of week, "
                                "or a descriptor like @daily: {}",
                                schedule.text())));
    spec.at("concurrencyPolicy").one_of({"Allow", "Forbid", "Replace"});
    spec.at("startingDeadlineSeconds").not_negative();
    spec.at("successfulJobsHistoryLimit").not_negative();
    spec.at("failedJobsHistoryLimit").not_negative();
    job_spec(spec.at("jobTemplate").at("spec"));
}

struct CronField {
    std::int64_t least;
    std::int64_t most;
    std::string_view names;  ///< three letters each
};
constexpr std::array<CronField, 5> kCronFields{CronField{0, 59, ""}, CronField{0, 23, ""}, CronField{1, 31, ""},
                                               CronField{1, 12, "janfebmaraprmayjunjulaugsepoctnovdec"},
                                               CronField{0, 6, "sunmontuewedthufrisat"}};

std::optional<std::int64_t> cron_value(std::string_view text, const CronField& field) {
    if (text.size() == 3 && !field.names.empty()) {
        std::string lower(text);
        for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        const std::size_t at = field.names.find(lower);
        if (at != std::string_view::npos && at % 3 == 0) return field.least + static_cast<std::int64_t>(at / 3);
    }
    if (text.empty() || text.size() > 4) return std::nullopt;
    std::int64_t number = 0;
    for (const char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        number = number * 10 + (c - '0');
    }
    return number;
}

/// One of the parts between commas: `*`, `a`, `a-b`, each with `/step`.
bool is_cron_range(std::string_view text, const CronField& field) {
    const std::size_t slash = text.find('/');
    if (slash != std::string_view::npos) {
        const auto step = cron_value(text.substr(slash + 1), {1, 9999, ""});
        if (!step || *step == 0) return false;
        text = text.substr(0, slash);
    }
    if (text == "*" || text == "?") return true;
    const std::size_t dash = text.find('-');
    const auto first = cron_value(text.substr(0, dash), field);
    const auto last = dash == std::string_view::npos ? first : cron_value(text.substr(dash + 1), field);
    return first && last && *first >= field.least && *last <= field.most && *first <= *last;
}

}  // namespace

bool is_cron_schedule(std::string_view text) {
    constexpr std::array<std::string_view, 7> kDescriptors{"@yearly", "@annually", "@monthly", "@weekly",
                                                           "@daily",  "@midnight", "@hourly"};
    if (std::find(kDescriptors.begin(), kDescriptors.end(), text) != kDescriptors.end()) return true;
    std::size_t fields = 0;
    while (!text.empty()) {
        if (text.front() == ' ' || text.front() == '\t') {
            text.remove_prefix(1);
            continue;
        }
        std::string_view field = text.substr(0, text.find_first_of(" \t"));
        text.remove_prefix(field.size());
        if (fields == kCronFields.size()) return false;
        for (;;) {
            const std::size_t comma = field.find(',');
            if (!is_cron_range(field.substr(0, comma), kCronFields[fields])) return false;
            if (comma == std::string_view::npos) break;
            field.remove_prefix(comma + 1);
        }
        ++fields;
    }
    return fields == kCronFields.size();
}

void check_workload(const Checker& object, std::string_view group, std::string_view kind) {
    const Checker spec = object.at("spec");
    if (group.empty() && kind == "Pod") check_pod_spec(spec);
    if (group.empty() && kind == "ReplicationController") replication_controller(spec);
    if (group == "apps" && kind == "Deployment") deployment(spec);
    if (group == "apps" && kind == "ReplicaSet") replica_set(spec);
    if (group == "apps" && kind == "DaemonSet") daemon_set(spec);
    if (group == "apps" && kind == "StatefulSet") stateful_set(spec);
    if (group == "batch" && kind == "Job") job_spec(spec);
    if (group == "batch" && kind == "CronJob") cron_job(spec);
}

}  // namespace rhizome::cluster::detail
