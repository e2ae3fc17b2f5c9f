// SPDX-License-Identifier: Apache-2.0
// Questions that are answered and forgotten: who am I, may I, whose token is this.
#include "api/access.h"
#include "api/service_token.h"

namespace rhizome::api {
namespace {

json::Array texts(const std::vector<std::string>& all) {
    json::Array out;
    for (const std::string& one : all) out.emplace_back(one);
    return out;
}

json::Object rules_status(const ReviewHelp::Rules& found) {
    json::Array rules;
    for (const AccessRule& one : found.rules) {
        json::Object rule{
            {"verbs", texts(one.verbs)}, {"apiGroups", texts(one.groups)}, {"resources", texts(one.resources)}};
        if (!one.names.empty()) rule.set("resourceNames", texts(one.names));
        rules.emplace_back(std::move(rule));
    }
    json::Array urls;
    urls.emplace_back(json::Object{{"verbs", json::Array{"get"}}, {"nonResourceURLs", json::Array{"*"}}});
    return {
        {"resourceRules", std::move(rules)}, {"nonResourceRules", std::move(urls)}, {"incomplete", found.incomplete}};
}

json::Object token_status(const json::Value& object, const ReviewHelp& help) {
    std::vector<std::string> audiences;
    const json::Value* asked = object.find_path({"spec", "audiences"});
    if (asked != nullptr && asked->is_array())
        for (const json::Value& one : *asked->if_array())
            if (const std::string* text = one.if_string()) audiences.push_back(*text);
    if (audiences.empty()) audiences.emplace_back(kApiAudience);
    const auto known = help.authenticate(object.text_at({"spec", "token"}), audiences);
    if (!known) return {{"authenticated", false}, {"user", json::Object{}}, {"error", known.error().message}};
    return {{"authenticated", true}, {"user", user_info(known->user)}, {"audiences", texts(known->audiences)}};
}

}  // namespace

Planned review_verb(const Call& call, const ReviewHelp& help) {
    if (call.verb != Verb::Create) return Fail{method_not_allowed()};
    TRY(json::Value object, read_object(call));
    std::vector<std::string> warnings;
    TRY(decode_object(call, object, warnings));
    const std::string_view kind = call.kind->kind;
    if (kind == "SelfSubjectReview") {
        object["status"] = json::Object{{"userInfo", user_info(call.user)}};
    } else if (kind == "SelfSubjectRulesReview") {
        const std::string_view name_space = object.text_at({"spec", "namespace"});
        if (name_space.empty()) return Fail{bad_request("no namespace on request")};
        object["status"] = rules_status(help.rules(call.user, name_space));
    } else if (kind == "TokenReview") {
        if (object.text_at({"spec", "token"}).empty())
            return Fail{bad_request("token is required for TokenReview in authentication")};
        object["status"] = token_status(object, help);
    } else if (kind.ends_with("AccessReview")) {
        TRY(const ReviewQuestion question, review_question(call, object));
        const Access access = help.access(question.user, question.asked);
        object["status"] = json::Object{{"allowed", access.allowed}, {"reason", access.reason}};
    } else {
        return Fail{method_not_allowed()};
    }
    object["metadata"]["creationTimestamp"] = nullptr;
    Reply reply{.code = 201, .body = json::print(object) + "\n", .warnings = std::move(warnings)};
    return std::variant<Reply, Draft>{std::move(reply)};
}

}  // namespace rhizome::api
