// SPDX-License-Identifier: Apache-2.0
#include "api/certificates.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/core.h>

#include "cluster/base64.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

constexpr seconds kYear{365LL * 24 * 3600};
constexpr std::array<std::string_view, 3> kTypes{"Approved", "Denied", "Failed"};

const json::Array* conditions_of(const json::Value& object) {
    const json::Value* conditions = object.find_path({"status", "conditions"});
    return conditions == nullptr ? nullptr : conditions->if_array();
}

const json::Value* condition_of(const json::Value& object, std::string_view type) {
    if (const json::Array* all = conditions_of(object))
        for (const json::Value& one : *all)
            if (one.text_at({"type"}) == type) return &one;
    return nullptr;
}

void check_conditions(const json::Array& conditions, cluster::FieldErrors& errors) {
    const cluster::Where where{"status.conditions"};
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < conditions.size(); ++i) {
        const json::Value& one = conditions[i];
        const std::string_view type = one.text_at({"type"});
        const std::string_view status = one.text_at({"status"});
        if (type.empty()) errors.push_back(cluster::required(where / i / "type"));
        if (!seen.insert(type).second) errors.push_back(cluster::duplicate(where / i / "type", type));
        const bool known = std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
        if (status.empty())
            errors.push_back(cluster::required(where / i / "status"));
        else if (known && status != "True")
            errors.push_back(cluster::not_supported(where / i / "status", status, {"True"}));
        else if (!known && status != "True" && status != "False" && status != "Unknown")
            errors.push_back(cluster::not_supported(where / i / "status", status, {"False", "True", "Unknown"}));
    }
    if (seen.contains("Approved") && seen.contains("Denied"))
        errors.push_back(cluster::invalid(where, json::Array{"Approved", "Denied"},
                                          "Approved and Denied conditions are mutually exclusive"));
}

}  // namespace

bool is_signing_request(const Kind& kind) {
    return kind.kind == "CertificateSigningRequest" && kind.group == "certificates.k8s.io";
}

void note_requester(json::Value& object, const User& user) {
    json::Value& spec = object["spec"];
    if (!spec.is_object()) return;  // validation says so
    for (const std::string_view key : {"username", "uid", "groups", "extra"}) spec.make_object().erase(key);
    for (const auto& member : user_info(user)) spec[member.key] = member.value;
}

Result<json::Value, Status> approved(const Call& call, const json::Value& before, const json::Value& wanted) {
    const json::Array* conditions = conditions_of(wanted);
    cluster::FieldErrors errors;
    if (conditions != nullptr) check_conditions(*conditions, errors);
    for (const std::string_view type : kTypes) {
        const json::Value* old = condition_of(before, type);
        const json::Value* now = condition_of(wanted, type);
        if (old == nullptr || (now != nullptr && now->text_at({"status"}) == old->text_at({"status"}) &&
                               now->text_at({"reason"}) == old->text_at({"reason"}) &&
                               now->text_at({"message"}) == old->text_at({"message"})))
            continue;
        errors.push_back(cluster::forbidden(
            cluster::Where{"status.conditions"},
            fmt::format("updates may not {} a condition of type \"{}\"", now == nullptr ? "remove" : "modify", type)));
    }
    if (!errors.empty()) return Fail{invalid(*call.kind, call.path.name, errors)};
    json::Value object = before;
    json::Array kept;
    if (conditions != nullptr)
        for (json::Value one : *conditions) {
            for (const std::string_view key : {"lastUpdateTime", "lastTransitionTime"})
                if (one.text_at({key}).empty()) one[key] = to_rfc3339(call.now);
            kept.push_back(std::move(one));
        }
    object["status"]["conditions"] = std::move(kept);
    return object;
}

bool waits_for_certificate(const json::Value& object) {
    return condition_of(object, "Approved") != nullptr && condition_of(object, "Denied") == nullptr &&
           condition_of(object, "Failed") == nullptr && object.text_at({"status", "certificate"}).empty();
}

std::string client_signer_refusal(const json::Value& object) {
    constexpr std::array<std::string_view, 3> kAllowed{"client auth", "digital signature", "key encipherment"};
    const json::Value* usages = object.find_path({"spec", "usages"});
    bool clients = false;
    if (usages != nullptr && usages->is_array())
        for (const json::Value& one : *usages->if_array()) {
            const std::string* usage = one.if_string();
            if (usage == nullptr || std::find(kAllowed.begin(), kAllowed.end(), *usage) == kAllowed.end())
                return "usages are \"client auth\", \"digital signature\" and \"key encipherment\"";
            clients = clients || *usage == "client auth";
        }
    return clients ? "" : "the usage \"client auth\" is missing";
}

std::string client_groups_refusal(const std::vector<std::string>& groups) {
    if (std::find(groups.begin(), groups.end(), kMasters) == groups.end()) return {};
    return fmt::format("use of {} signer with {} group is not allowed", kClientSigner, kMasters);
}

void set_certificate(json::Value& object, std::string_view pem) {
    object["status"]["certificate"] = cluster::base64(as_bytes(pem));
}

void set_failed(json::Value& object, std::string_view why, Time now) {
    object["status"]["conditions"].make_array().emplace_back(json::Object{{"type", "Failed"},
                                                                          {"status", "True"},
                                                                          {"reason", "SignerValidationFailure"},
                                                                          {"message", why},
                                                                          {"lastUpdateTime", to_rfc3339(now)},
                                                                          {"lastTransitionTime", to_rfc3339(now)}});
}

seconds certificate_duration(const json::Value& object) {
    const json::Value* wanted = object.find_path({"spec", "expirationSeconds"});
    const auto count = wanted == nullptr ? std::nullopt : wanted->if_int64();
    return count && *count >= 600 ? std::min(seconds{*count}, kYear) : kYear;
}

seconds request_kept(const json::Value& object) {
    const bool decided = condition_of(object, "Approved") != nullptr || condition_of(object, "Denied") != nullptr;
    return decided ? seconds{3600} : seconds{24LL * 3600};
}

}  // namespace rhizome::api
