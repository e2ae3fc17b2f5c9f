// SPDX-License-Identifier: Apache-2.0
#include "api/access.h"

#include <fmt/core.h>

namespace rhizome::api {
namespace {

bool only_reads(std::string_view verb) { return verb == "get" || verb == "list" || verb == "watch"; }

std::vector<std::string> texts_at(const json::Value& object, std::initializer_list<std::string_view> keys) {
    std::vector<std::string> out;
    const json::Value* list = object.find_path(keys);
    if (list != nullptr && list->is_array())
        for (const json::Value& one : *list->if_array())
            if (const std::string* text = one.if_string()) out.push_back(*text);
    return out;
}

}  // namespace

Ground ground_of(const Asked& asked, const cluster::Kind* kind) {
    if (!asked.url.empty()) return only_reads(asked.verb) || asked.verb == "head" ? Ground::Open : Ground::Masters;
    if (asked.verb == "impersonate") return Ground::Masters;
    const bool secret = asked.group.empty() && asked.resource == "secrets";
    // What a pod's shell shows is not on the chain for everybody to read.
    const bool inside = asked.subresource == "exec" || asked.subresource == "attach" ||
                        asked.subresource == "portforward" || asked.subresource == "proxy" ||
                        asked.subresource == "log";
    if (only_reads(asked.verb)) return secret || inside ? Ground::Lock : Ground::Open;
    if (kind == nullptr) return Ground::Lock;
    if (kind->keeping == cluster::Keeping::Nowhere) return kind->kind == "Binding" ? Ground::Lock : Ground::Open;
    if (kind->keeping == cluster::Keeping::Gossip) {
        // Everybody may ask for a certificate; whoever decides about the cluster gives it.
        const bool request = kind->kind == "CertificateSigningRequest";
        return request && asked.verb != "create" ? Ground::Lock : Ground::Open;
    }
    return Ground::Lock;
}

Access without_lock(Ground ground, const User& user) {
    if (ground == Ground::Open) return {true, "open to every user of the cluster"};
    const bool master = user.is_in(kMasters);
    return {master, fmt::format("for the group {} only", kMasters)};
}

Result<ReviewQuestion, Status> review_question(const Call& call, const json::Value& object) {
    const bool self = call.kind->kind == "SelfSubjectAccessReview";
    ReviewQuestion question{.user = call.user};
    const json::Value* resource = object.find_path({"spec", "resourceAttributes"});
    const json::Value* url = object.find_path({"spec", "nonResourceAttributes"});
    cluster::FieldErrors errors;
    if (resource != nullptr && url != nullptr)
        errors.push_back(cluster::invalid(cluster::Where("spec.nonResourceAttributes"), *url,
                                          "cannot be specified in combination with resourceAttributes"));
    if (resource == nullptr && url == nullptr)
        errors.push_back(cluster::invalid(cluster::Where("spec.resourceAttributes"), json::Value{},
                                          "exactly one of nonResourceAttributes or resourceAttributes must be "
                                          "specified"));
    if (!self) {
        question.user = User{.name = std::string{object.text_at({"spec", "user"})},
                             .uid = std::string{object.text_at({"spec", "uid"})},
                             .groups = texts_at(object, {"spec", "groups"})};
        if (question.user.name.empty() && question.user.groups.empty())
            errors.push_back(
                cluster::invalid(cluster::Where("spec.user"), "", "at least one of user or group must be specified"));
    }
    if (!errors.empty()) return Fail{invalid(*call.kind, "", errors)};
    if (url != nullptr) {
        question.asked.url = url->text_at({"path"});
        question.asked.verb = url->text_at({"verb"});
        if (question.asked.url.empty()) question.asked.url = "/";
        return question;
    }
    Asked& asked = question.asked;
    asked.verb = resource->text_at({"verb"});
    asked.group = resource->text_at({"group"});
    asked.version = resource->text_at({"version"});
    asked.resource = resource->text_at({"resource"});
    asked.subresource = resource->text_at({"subresource"});
    asked.name_space = resource->text_at({"namespace"});
    asked.name = resource->text_at({"name"});
    if (call.kind->kind == "LocalSubjectAccessReview" && asked.name_space != call.path.name_space)
        return Fail{bad_request(
            fmt::format("spec.resourceAttributes.namespace must match namespace: {}", call.path.name_space))};
    return question;
}

}  // namespace rhizome::api
