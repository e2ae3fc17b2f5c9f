// SPDX-License-Identifier: Apache-2.0
#include "api/webhooks.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cluster/base64.h"
#include "support/read_json.h"

namespace rhizome::api {
namespace {

const cluster::Kinds& kinds() {
    static const cluster::Kinds all;
    return all;
}

Call call_of(std::string_view group, std::string_view version, std::string_view plural, std::string space = "web") {
    Call call{.verb = Verb::Create, .kind = kinds().find(group, version, plural)};
    call.path.name_space = call.kind->namespaced ? std::move(space) : "";
    call.path.name = "x";
    return call;
}

Webhook hook_of(const std::string& more, bool mutates = false) {
    const auto read = json::parse(fmt::format(R"({{"webhooks":[{{"name":"h.example.com",{}}}]}})", more));
    EXPECT_TRUE(read) << more;
    auto hooks = webhooks_of(*read, mutates);
    EXPECT_EQ(hooks.size(), 1u);
    return hooks.front();
}

std::string rule(std::string_view resources, std::string_view operations = R"("*")", std::string_view scope = "*",
                 std::string_view groups = R"("*")", std::string_view versions = R"("*")") {
    return fmt::format(R"("rules":[{{"operations":[{}],"apiGroups":[{}],"apiVersions":[{}],"resources":[{}],)"
                       R"("scope":"{}"}}])",
                       operations, groups, versions, resources, scope);
}

bool asked(const Webhook& hook, const Call& call, Operation operation = Operation::Create, const Labels& labels = {}) {
    return wants(hook, call, operation, kinds(), labels).has_value();
}

TEST(Webhooks, RulesNameResourcesPartsScopesAndOperations) {
    const Call pods = call_of("", "v1", "pods");
    const Call nodes = call_of("", "v1", "nodes");
    Call status = pods;
    status.path.subresource = "status";
    struct Case {
        const char* resources;
        bool pod;
        bool status;
        bool node;
    };
    for (const Case& one :
         {Case{R"("pods")", true, false, false}, Case{R"("pods/status")", false, true, false},
          Case{R"("pods/*")", true, true, false}, Case{R"("*")", true, false, true}, Case{R"("*/*")", true, true, true},
          Case{R"("*/status")", false, true, false}, Case{R"("services")", false, false, false}}) {
        SCOPED_TRACE(one.resources);
        const Webhook hook = hook_of(rule(one.resources));
        EXPECT_EQ(asked(hook, pods), one.pod);
        EXPECT_EQ(asked(hook, status), one.status);
        EXPECT_EQ(asked(hook, nodes), one.node);
    }
    EXPECT_FALSE(asked(hook_of(rule(R"("pods")", R"("DELETE","UPDATE")")), pods));
    EXPECT_TRUE(asked(hook_of(rule(R"("pods")", R"("DELETE","UPDATE")")), pods, Operation::Delete));
    EXPECT_FALSE(asked(hook_of(rule(R"("*")", R"("*")", "Cluster")), pods));
    EXPECT_TRUE(asked(hook_of(rule(R"("*")", R"("*")", "Cluster")), nodes));
    EXPECT_FALSE(asked(hook_of(rule(R"("*")", R"("*")", "Namespaced")), nodes));
    EXPECT_FALSE(asked(hook_of(rule(R"("*")", R"("*")", "*", R"("apps")")), pods));
    EXPECT_FALSE(asked(hook_of(rule(R"("*")", R"("*")", "*", R"("")", R"("v2")")), pods));
}

TEST(Webhooks, EquivalentVersionsOfACustomKindCount) {
    cluster::Kinds with = kinds();
    for (const char* version : {"v1", "v2"})
        ASSERT_TRUE(with.add({.group = "example.com",
                              .version = version,
                              .kind = "Widget",
                              .plural = "widgets",
                              .singular = "widget",
                              .preferred = std::string_view{version} == "v2"}));
    Call call{.verb = Verb::Create, .kind = with.find("example.com", "v2", "widgets")};
    const std::string only_v1 = rule(R"("widgets")", R"("*")", "*", R"("example.com")", R"("v1")");
    const auto target = wants(hook_of(only_v1), call, Operation::Create, with, {});
    ASSERT_TRUE(target);
    EXPECT_EQ(target->kind->version, "v1");
    EXPECT_FALSE(wants(hook_of(only_v1 + R"(,"matchPolicy":"Exact")"), call, Operation::Create, with, {}));
    const json::Value object = *json::parse(R"({"apiVersion":"example.com/v2","kind":"Widget"})");
    const json::Value review = admission_review(call, {.uid = "u", .target = *target, .object = &object});
    EXPECT_EQ(review.text_at({"request", "object", "apiVersion"}), "example.com/v1");
    EXPECT_EQ(review.text_at({"request", "resource", "version"}), "v1");
    EXPECT_EQ(review.text_at({"request", "requestResource", "version"}), "v2");
}

TEST(Webhooks, SelectorsLookAtTheNamespaceAndAtBothVersions) {
    const Call pods = call_of("", "v1", "pods");
    const json::Value space = *json::parse(R"({"env":"prod"})");
    const json::Value other_space = *json::parse("{}");
    const json::Value object = *json::parse(R"({"metadata":{"labels":{"a":"1"}}})");
    const json::Value plain = *json::parse(R"({"metadata":{}})");
    const Webhook by_space = hook_of(rule(R"("pods")") + R"(,"namespaceSelector":{"matchLabels":{"env":"prod"}})");
    EXPECT_TRUE(asked(by_space, pods, Operation::Create, {.space = &space, .object = &plain}));
    EXPECT_FALSE(asked(by_space, pods, Operation::Create, {.space = &other_space, .object = &plain}));
    EXPECT_TRUE(asked(by_space, call_of("", "v1", "nodes"), Operation::Create, {}) == false);
    const Webhook by_object = hook_of(rule(R"("pods")") + R"(,"objectSelector":{"matchLabels":{"a":"1"}})");
    EXPECT_TRUE(asked(by_object, pods, Operation::Update, {.space = &space, .object = &plain, .before = &object}));
    EXPECT_TRUE(asked(by_object, pods, Operation::Update, {.space = &space, .object = &object, .before = &plain}));
    EXPECT_FALSE(asked(by_object, pods, Operation::Update, {.space = &space, .object = &plain, .before = &plain}));
}

Result<AdmissionAnswer> read(std::string_view body, std::string_view uid, const Webhook& hook) {
    const auto said = json::parse(body);
    return read_admission(said ? *said : json::Value{}, uid, hook);
}

std::string answer(std::string_view response, std::string_view version = "admission.k8s.io/v1") {
    return fmt::format(R"({{"kind":"AdmissionReview","apiVersion":"{}","response":{{"uid":"u",{}}}}})", version,
                       response);
}

TEST(Webhooks, DenialsHaveTheWordsThatUsersKnow) {
    const Webhook hook{.name = "h.example.com"};
    const auto denial = [&](std::string_view status) {
        const auto told = read(answer(fmt::format(R"("allowed":false{})", status)), "u", hook);
        EXPECT_TRUE(told) << told.error().message;
        return told->denial;
    };
    EXPECT_EQ(denial("").message, R"(admission webhook "h.example.com" denied the request without explanation)");
    EXPECT_EQ(denial("").code, 400u);
    const Status said = denial(R"(,"status":{"code":403,"message":"no tags","reason":"Forbidden"})");
    EXPECT_EQ(said.message, R"(admission webhook "h.example.com" denied the request: no tags)");
    EXPECT_EQ(said.code, 403u);
    EXPECT_EQ(said.reason, "Forbidden");
    EXPECT_EQ(denial(R"(,"status":{"reason":"Why"})").message,
              R"(admission webhook "h.example.com" denied the request: Why)");
    EXPECT_EQ(denial(R"(,"status":{"code":200,"message":"m"})").code, 400u) << "a refusal is no success";
    EXPECT_EQ(denial(R"(,"status":{"code":99999,"message":"m"})").code, 400u);
}

TEST(Webhooks, AnswersThatMakeNoSenseAreFailures) {
    const Webhook hook{.name = "h.example.com", .mutates = true};
    const std::string patch = cluster::base64(as_bytes(std::string_view{R"([{"op":"add","path":"/a","value":1}])"}));
    const auto good =
        read(answer(fmt::format(R"("allowed":true,"patchType":"JSONPatch","patch":"{}","warnings":["w\nx"],)"
                                R"("auditAnnotations":{{"k":"v"}})",
                                patch)),
             "u", hook);
    ASSERT_TRUE(good) << good.error().message;
    ASSERT_TRUE(good->patch);
    EXPECT_EQ(good->warnings, std::vector<std::string>{"w x"});
    EXPECT_EQ(good->audit.size(), 1u);
    for (const std::string& bad :
         {std::string{}, std::string{"no"}, std::string{"{}"}, answer(R"("allowed":true)", "admission.k8s.io/v1beta1"),
          answer(R"("allowed":"yes")"), answer(R"("x":1)"),
          answer(fmt::format(R"("allowed":true,"patch":"{}")", patch)),
          answer(R"("allowed":true,"patchType":"JSONPatch")"),
          answer(fmt::format(R"("allowed":true,"patchType":"Merge","patch":"{}")", patch)),
          answer(R"("allowed":true,"patchType":"JSONPatch","patch":"!!!!")"),
          answer(R"("allowed":true,"patchType":"JSONPatch","patch":"e30=")")})
        EXPECT_FALSE(read(bad, "u", hook)) << bad;
    EXPECT_FALSE(read(answer(R"("allowed":true)"), "another", hook));
    EXPECT_FALSE(read(answer(fmt::format(R"("allowed":true,"patchType":"JSONPatch","patch":"{}")", patch)), "u",
                      Webhook{.name = "v.example.com"}))
        << "one that only validates changes nothing";
    EXPECT_TRUE(read(answer(fmt::format(R"("allowed":true,"patchType":"JSONPatch","patch":"{}")",
                                        cluster::base64(as_bytes(std::string_view{"[]"})))),
                     "u", hook));
}

}  // namespace
}  // namespace rhizome::api
