// SPDX-License-Identifier: Apache-2.0
#include "cluster/convert.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "cluster/object.h"

namespace rhizome::cluster {
namespace {

constexpr std::string_view kEvents = "events.k8s.io";
constexpr std::string_view kMetricsAnnotation = "rhizome.dev/autoscaling-v2-metrics";
constexpr std::string_view kBehaviorAnnotation = "rhizome.dev/autoscaling-v2-behavior";

/// Names of the core group on the left, those of `events.k8s.io` on the right.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kEventNames{{
    {"involvedObject", "regarding"},
    {"message", "note"},
    {"source", "deprecatedSource"},
    {"firstTimestamp", "deprecatedFirstTimestamp"},
    {"lastTimestamp", "deprecatedLastTimestamp"},
    {"count", "deprecatedCount"},
    {"reportingComponent", "reportingController"},
}};

void convert_event(json::Object& object, bool to_core) {
    json::Object renamed;
    for (auto& [key, value] : object) {
        const auto at = std::find_if(kEventNames.begin(), kEventNames.end(), [&, &key = key](const auto& names) {
            return key == (to_core ? names.second : names.first);
        });
        renamed.set(at == kEventNames.end() ? std::string_view{key} : (to_core ? at->first : at->second),
                    std::move(value));
    }
    object = std::move(renamed);
}

/// The share of CPU that a metric asks for; nothing for every other metric.
std::optional<std::int64_t> cpu_share(const json::Value& metric, std::string_view part) {
    if (metric.text_at({"type"}) != "Resource" || metric.text_at({"resource", "name"}) != "cpu") return std::nullopt;
    const json::Value* share = metric.find_path({"resource", part, "averageUtilization"});
    return share == nullptr ? std::nullopt : share->if_int64();
}

/// Takes the share of CPU out of a list of metrics.
std::optional<std::int64_t> take_cpu_share(json::Array& metrics, std::string_view part) {
    for (auto at = metrics.begin(); at != metrics.end(); ++at)
        if (const auto share = cpu_share(*at, part)) {
            metrics.erase(at);
            return share;
        }
    return std::nullopt;
}

json::Object cpu_target(std::int64_t share) {
    return {
        {"type", "Resource"},
        {"resource", json::Object{{"name", "cpu"},
                                  {"target", json::Object{{"type", "Utilization"}, {"averageUtilization", share}}}}}};
}

json::Array taken_array(json::Object& object, std::string_view key) {
    json::Value* found = object.find(key);
    json::Array taken = found != nullptr && found->is_array() ? std::move(*found->if_array()) : json::Array{};
    object.erase(key);
    return taken;
}

void note(json::Value& object, std::string_view annotation, const json::Value& said) {
    object_in(object_in(object, "metadata"), "annotations")[annotation] = json::print(said);
}

/// What `note` kept; the annotation is gone afterwards.
json::Value taken_note(json::Value& object, std::string_view annotation) {
    json::Value* metadata = object.find("metadata");
    json::Value* annotations = metadata == nullptr ? nullptr : metadata->find("annotations");
    if (annotations == nullptr || !annotations->is_object()) return {};
    const std::string text{annotations->text_at({annotation})};
    if (text.empty()) return {};
    annotations->make_object().erase(annotation);
    if (annotations->if_object()->empty()) metadata->make_object().erase("annotations");
    auto parsed = json::parse(text);
    return parsed ? *std::move(parsed) : json::Value{};
}

void autoscaler_to_1(json::Value& object) {
    if (json::Value* spec = object.find("spec"); spec != nullptr && spec->is_object()) {
        json::Object& fields = spec->make_object();
        json::Array metrics = taken_array(fields, "metrics");
        if (const auto share = take_cpu_share(metrics, "target")) fields.set("targetCPUUtilizationPercentage", *share);
        const json::Value behavior = fields.find("behavior") == nullptr ? json::Value{} : *fields.find("behavior");
        fields.erase("behavior");
        if (!metrics.empty()) note(object, kMetricsAnnotation, std::move(metrics));
        if (!behavior.is_null()) note(object, kBehaviorAnnotation, behavior);
    }
    if (json::Value* status = object.find("status"); status != nullptr && status->is_object()) {
        json::Object& fields = status->make_object();
        json::Array metrics = taken_array(fields, "currentMetrics");
        fields.erase("conditions");
        if (const auto share = take_cpu_share(metrics, "current"))
            fields.set("currentCPUUtilizationPercentage", *share);
    }
}

void autoscaler_to_2(json::Value& object) {
    json::Value metrics = taken_note(object, kMetricsAnnotation);
    json::Value behavior = taken_note(object, kBehaviorAnnotation);
    if (json::Value* spec = object.find("spec"); spec != nullptr && spec->is_object()) {
        json::Object& fields = spec->make_object();
        json::Array all;
        if (const json::Value* share = fields.find("targetCPUUtilizationPercentage"))
            if (const auto number = share->if_int64()) all.emplace_back(cpu_target(*number));
        fields.erase("targetCPUUtilizationPercentage");
        if (json::Array* others = metrics.if_array())
            for (json::Value& each : *others) all.push_back(std::move(each));
        if (!all.empty()) fields.set("metrics", std::move(all));
        if (behavior.is_object()) fields.set("behavior", std::move(behavior));
    }
    if (json::Value* status = object.find("status"); status != nullptr && status->is_object()) {
        json::Object& fields = status->make_object();
        const json::Value* share = fields.find("currentCPUUtilizationPercentage");
        const auto number = share == nullptr ? std::nullopt : share->if_int64();
        fields.erase("currentCPUUtilizationPercentage");
        if (number)
            fields.set("currentMetrics",
                       json::Array{json::Object{
                           {"type", "Resource"},
                           {"resource", json::Object{{"name", "cpu"},
                                                     {"current", json::Object{{"averageUtilization", *number}}}}}}});
    }
}

}  // namespace

void convert(json::Value& object, const Kind& to) {
    json::Object* fields = object.if_object();
    if (fields == nullptr) return;
    const auto from = parse_api_version(object.text_at({"apiVersion"}));
    if (!from || (from->group == to.group && from->version == to.version)) return;
    const std::string written{from->version};
    if (to.kind == "Event" && (to.group.empty() || to.group == kEvents)) {
        convert_event(*fields, to.group.empty());
    } else if (to.group == "autoscaling" && to.kind == "HorizontalPodAutoscaler") {
        if (to.version == "v1" && written == "v2") autoscaler_to_1(object);
        if (to.version == "v2" && written == "v1") autoscaler_to_2(object);
    }
    object["apiVersion"] = to.api_version();
}

std::string_view kept_group(const Kind& kind) {
    return kind.kind == "Event" && kind.group == kEvents ? std::string_view{} : kind.group;
}

}  // namespace rhizome::cluster
