// SPDX-License-Identifier: Apache-2.0
// Parts of a pod with verbs of their own: eviction, binding, ephemeral containers.
#include <algorithm>

#include <fmt/core.h>

#include "api/admission.h"
#include "api/call.h"
#include "api/shown.h"
#include "cluster/object.h"
#include "cluster/selector.h"

namespace rhizome::api {
namespace {

/// Pods that do nothing yet, or nothing any more, can go whatever a budget says.
bool goes_freely(const json::Value& pod) {
    const std::string_view phase = pod.text_at({"status", "phase"});
    return phase == "Succeeded" || phase == "Failed" || phase == "Pending" || phase.empty() ||
           cluster::is_terminating(pod);
}

bool covers(const json::Value& budget, const json::Value& pod) {
    const auto selector =
        cluster::LabelSelector::from_document(budget.find_path({"spec", "selector"}), cluster::Where{"spec.selector"});
    return selector && selector->matches_object(pod);
}

Status over_budget(std::string_view budget, std::string message) {
    Status refused = too_many_requests("Cannot evict pod as it would violate the pod's disruption budget.", 10);
    refused.causes.push_back({.reason = "DisruptionBudget", .message = std::move(message)});
    refused.name = budget;
    return refused;
}

/// The budget as it stands once the pod is gone.
Result<json::Value, Status> charged(json::Value budget, const json::Value& pod, Time now) {
    const std::string name{cluster::name_of(budget)};
    if (budget.number_at({"status", "observedGeneration"}) < budget.number_at({"metadata", "generation"}))
        return Fail{
            over_budget(name, fmt::format("The disruption budget {} is still being processed by the server.", name))};
    const std::int64_t allowed = budget.number_at({"status", "disruptionsAllowed"});
    if (allowed <= 0)
        return Fail{over_budget(name, fmt::format("The disruption budget {} needs {} healthy pods and has {} currently",
                                                  name, budget.number_at({"status", "desiredHealthy"}),
                                                  budget.number_at({"status", "currentHealthy"})))};
    json::Value& status = cluster::object_in(budget, "status");
    status["disruptionsAllowed"] = allowed - 1;
    cluster::object_in(status, "disruptedPods")[cluster::name_of(pod)] = to_rfc3339(now);
    const std::string created{budget.text_at({"metadata", "creationTimestamp"})};
    strip_shown(budget);
    if (!created.empty()) budget["metadata"]["creationTimestamp"] = created;
    return budget;
}

std::string shown_name(const json::Value& container) { return std::string{container.text_at({"name"})}; }

}  // namespace

Planned eviction_verb(const Call& call, const Present& present, const std::vector<json::Value>& budgets,
                      const HeardOf& heard_of) {
    if (call.verb != Verb::Create) return Fail{method_not_allowed()};
    TRY(const json::Value body, read_object(call));
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    if (const auto name = cluster::name_of(body); !name.empty() && name != call.path.name)
        return Fail{bad_request("name in URL does not match name in Eviction object")};
    const json::Value pod = shown_value(*call.kind, present.object, heard_of);
    Call deletion = call;
    deletion.verb = Verb::Delete;
    deletion.media = "application/json";
    const json::Value* options = body.find("deleteOptions");
    deletion.body = options == nullptr || !options->is_object() ? std::string{} : json::print(*options);
    std::vector<json::Value> beside;
    if (!goes_freely(pod)) {
        std::vector<const json::Value*> covering;
        for (const json::Value& one : budgets)
            if (covers(one, pod)) covering.push_back(&one);
        if (covering.size() > 1)
            return Fail{
                internal("This pod has more than one PodDisruptionBudget, which the eviction subresource does "
                         "not support.")};
        if (!covering.empty()) {
            TRY(json::Value budget, charged(*covering.front(), pod, call.now));
            beside.push_back(std::move(budget));
        }
    }
    TRY(auto planned, delete_verb(deletion, present, heard_of));
    if (auto* draft = std::get_if<Draft>(&planned)) {
        draft->beside = std::move(beside);
        draft->says_success = true;
        draft->code = 201;
    }
    return planned;
}

Planned binding_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    if (call.verb != Verb::Create) return Fail{method_not_allowed()};
    TRY(const json::Value body, read_object(call));
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    const std::string_view target_kind = body.text_at({"target", "kind"});
    const std::string_view node = body.text_at({"target", "name"});
    cluster::FieldErrors errors;
    const cluster::Where where{"target"};
    if (!target_kind.empty() && target_kind != "Node")
        errors.push_back(cluster::not_supported(where / "kind", target_kind, {"Node", "<empty>"}));
    if (node.empty()) errors.push_back(cluster::required(where / "name"));
    if (!errors.empty()) {
        Status refused = invalid(*call.kind, call.path.name, errors);
        refused.kind = "Binding";
        refused.message = fmt::format("Binding \"{}\" is invalid: {}", call.path.name, cluster::text(errors));
        return Fail{std::move(refused)};
    }
    TRY(json::Value pod, standing_value(call, present, heard_of));
    const auto refuse = [&](std::string why) {
        Status refused = conflict(*call.kind, call.path.name, why);
        refused.message = fmt::format("Operation cannot be fulfilled on pods/binding \"{}\": {}", call.path.name, why);
        return Fail{std::move(refused)};
    };
    if (const auto uid = cluster::uid_of(body); !uid.empty() && uid != cluster::uid_of(pod))
        return refuse(fmt::format("Precondition failed: UID in precondition: {}, UID in object meta: {}", uid,
                                  cluster::uid_of(pod)));
    if (cluster::is_terminating(pod))
        return refuse(fmt::format("pod {} is being deleted, cannot be assigned to a host", call.path.name));
    if (const auto held = pod.text_at({"spec", "nodeName"}); !held.empty())
        return refuse(fmt::format("pod {} is already assigned to node \"{}\"", call.path.name, held));
    pod["spec"]["nodeName"] = node;
    for (const std::string_view map : {"annotations", "labels"})
        if (const json::Value* given = body.find_path({"metadata", map}); given != nullptr && given->is_object())
            for (const auto& member : *given->if_object()) pod["metadata"][map][member.key] = member.value;
    json::Array conditions;
    if (const json::Value* old = pod.find_path({"status", "conditions"}); old != nullptr && old->is_array())
        for (const json::Value& one : *old->if_array())
            if (one.text_at({"type"}) != "PodScheduled") conditions.push_back(one);
    conditions.emplace_back(
        json::Object{{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", to_rfc3339(call.now)}});
    pod["status"]["conditions"] = std::move(conditions);
    strip_shown(pod);
    Draft draft{.object = std::move(pod), .code = 201};
    draft.says_success = true;
    return std::variant<Reply, Draft>{std::move(draft)};
}

Planned ephemeral_verb(const Call& call, const Present& present, const HeardOf& heard_of) {
    if (call.verb != Verb::Update && call.verb != Verb::Patch) return Fail{method_not_allowed()};
    if (!present.object) return Fail{not_found(*call.kind, call.path.name)};
    TRY(const json::Value before, standing_value(call, present, heard_of));
    json::Value wanted;
    if (call.verb == Verb::Patch) {
        TRY(wanted, patched_value(call, before));
    } else {
        TRY(wanted, read_object(call));
    }
    const json::Value* given = wanted.find_path({"spec", "ephemeralContainers"});
    const json::Array containers = given == nullptr || !given->is_array() ? json::Array{} : *given->if_array();
    json::Value object = before;
    object["metadata"]["resourceVersion"] = cluster::resource_version_of(wanted);
    object["spec"]["ephemeralContainers"] = containers;
    TRY(auto warnings, admit_change(call, object, before, false));
    // Those that are there stay as they are: a container that was started cannot become another one.
    const json::Value* old = before.find_path({"spec", "ephemeralContainers"});
    const json::Value* now = object.find_path({"spec", "ephemeralContainers"});
    if (old != nullptr && old->is_array())
        for (const json::Value& one : *old->if_array()) {
            const json::Array& all = *now->if_array();
            const auto at = std::find_if(all.begin(), all.end(),
                                         [&](const json::Value& each) { return shown_name(each) == shown_name(one); });
            cluster::FieldErrors errors;
            const cluster::Where where{"spec.ephemeralContainers"};
            if (at == all.end())
                errors.push_back(cluster::forbidden(
                    where, fmt::format("existing ephemeral containers \"{}\" may not be removed", shown_name(one))));
            else if (*at != one)
                errors.push_back(cluster::forbidden(
                    where, fmt::format("existing ephemeral containers \"{}\" may not be changed", shown_name(one))));
            if (!errors.empty()) return Fail{invalid(*call.kind, call.path.name, errors)};
        }
    return change_to(call, present, before, std::move(object), std::move(warnings), heard_of);
}

}  // namespace rhizome::api
