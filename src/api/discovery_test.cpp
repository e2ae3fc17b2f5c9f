// SPDX-License-Identifier: Apache-2.0
#include "api/discovery.h"

#include <set>

#include <gtest/gtest.h>

#include "api/openapi.h"
#include "base/bytes.h"

namespace rhizome::api {
namespace {

using cluster::Kinds;

const json::Value* with(const json::Value& list, std::string_view field, std::string_view value) {
    for (const json::Value& each : *list.if_array())
        if (each.text_at({field}) == value) return &each;
    return nullptr;
}

TEST(Discovery, AggregatesEverythingInOneDocument) {
    const Kinds kinds;
    const json::Value core = aggregated_discovery(kinds, true);
    EXPECT_EQ(core.text_at({"kind"}), "APIGroupDiscoveryList");
    ASSERT_EQ(core.find("items")->if_array()->size(), 1u);
    const json::Value& group = (*core.find("items")->if_array())[0];
    EXPECT_EQ(group.find_path({"metadata", "name"}), nullptr) << "the core group has no name";
    const json::Value& version = (*group.find("versions")->if_array())[0];
    EXPECT_EQ(version.text_at({"version"}), "v1");
    const json::Value* pods = with(*version.find("resources"), "resource", "pods");
    ASSERT_NE(pods, nullptr);
    EXPECT_EQ(pods->text_at({"responseKind", "kind"}), "Pod");
    EXPECT_EQ(pods->text_at({"scope"}), "Namespaced");
    EXPECT_EQ(pods->text_at({"singularResource"}), "pod");
    EXPECT_EQ(json::print(*pods->find("shortNames")), R"(["po"])");
    EXPECT_EQ(json::print(*pods->find("verbs")),
              R"(["create","delete","deletecollection","get","list","patch","update","watch"])");
    EXPECT_EQ(with(*pods->find("subresources"), "subresource", "eviction")->text_at({"responseKind", "group"}),
              "policy");

    const json::Value named = aggregated_discovery(kinds, false);
    const json::Value* autoscaling = nullptr;
    for (const json::Value& each : *named.find("items")->if_array())
        if (each.text_at({"metadata", "name"}) == "autoscaling") autoscaling = &each;
    ASSERT_NE(autoscaling, nullptr);
    EXPECT_EQ((*autoscaling->find("versions")->if_array())[0].text_at({"version"}), "v2") << "the preferred one first";
}

TEST(Discovery, ChangesWhenAKindIsLearnt) {
    Kinds kinds;
    const std::string before = text_hash(json::print(aggregated_discovery(kinds, false)));
    ASSERT_TRUE(kinds.add({.group = "a.example.com", .version = "v1", .kind = "W", .plural = "ws", .singular = "w"}));
    EXPECT_NE(text_hash(json::print(aggregated_discovery(kinds, false))), before);
    EXPECT_EQ(listed_groups(kinds).back(), "a.example.com") << "custom groups come last";
    ASSERT_TRUE(kinds.remove("a.example.com", "ws"));
    EXPECT_EQ(text_hash(json::print(aggregated_discovery(kinds, false))), before);
}

TEST(Discovery, HasThePlainForms) {
    const Kinds kinds;
    EXPECT_EQ(json::print(*api_versions("10.0.0.1:6443").find("versions")), R"(["v1"])");
    const json::Value groups = api_group_list(kinds);
    EXPECT_EQ(groups.find("groups")->if_array()->size(), kinds.groups().size() - 1);
    EXPECT_EQ(with(*groups.find("groups"), "name", "apps")->text_at({"preferredVersion", "groupVersion"}), "apps/v1");
    EXPECT_EQ(api_group(kinds, "batch").text_at({"preferredVersion", "version"}), "v1");
    EXPECT_TRUE(api_group(kinds, "nothing").is_null());
    const json::Value apps = api_resource_list(kinds, "apps", "v1");
    EXPECT_EQ(apps.text_at({"groupVersion"}), "apps/v1");
    const json::Value* scale = with(*apps.find("resources"), "name", "deployments/scale");
    ASSERT_NE(scale, nullptr);
    EXPECT_EQ(scale->text_at({"kind"}), "Scale");
    EXPECT_EQ(scale->text_at({"group"}), "autoscaling");
    EXPECT_EQ(with(*apps.find("resources"), "name", "deployments/status")->find("group"), nullptr);
    EXPECT_TRUE(api_resource_list(kinds, "apps", "v9").is_null());
}

/// Every `$ref` of a document.
void references(const json::Value& value, std::set<std::string>& found) {
    if (const json::Object* object = value.if_object()) {
        if (const json::Value* target = object->find("$ref"); target != nullptr && target->is_string())
            found.insert(*target->if_string());
        for (const auto& member : *object) references(member.value, found);
    } else if (const json::Array* array = value.if_array()) {
        for (const json::Value& each : *array) references(each, found);
    }
}

TEST(Openapi, DescribesEveryVersionCompletely) {
    const Kinds kinds;
    for (const std::string_view group : kinds.groups()) {
        for (const std::string_view version : kinds.versions(group)) {
            const json::Value document = openapi_document(kinds, group, version);
            const json::Value* schemas = document.find_path({"components", "schemas"});
            ASSERT_NE(schemas, nullptr);
            std::set<std::string> found;
            references(document, found);
            for (const std::string& target : found) {
                constexpr std::string_view kPrefix = "#/components/schemas/";
                ASSERT_TRUE(target.starts_with(kPrefix)) << target;
                EXPECT_NE(schemas->find(target.substr(kPrefix.size())), nullptr) << target;
            }
        }
    }
    EXPECT_TRUE(openapi_document(kinds, "apps", "v9").is_null());
}

TEST(Openapi, TheOlderFormIsCompleteToo) {
    Kinds kinds;
    ASSERT_TRUE(kinds.add(
        {.group = "example.com", .version = "v1", .kind = "Widget", .plural = "widgets", .singular = "widget"}));
    const json::Value document = openapi_v2_document(kinds);
    const json::Value* definitions = document.find("definitions");
    ASSERT_NE(definitions, nullptr);
    std::set<std::string> found;
    references(document, found);
    for (const std::string& target : found) {
        constexpr std::string_view kPrefix = "#/definitions/";
        ASSERT_TRUE(target.starts_with(kPrefix)) << target;
        EXPECT_NE(definitions->find(target.substr(kPrefix.size())), nullptr) << target;
    }
    EXPECT_EQ(definitions->text_at({"io.k8s.api.core.v1.ServiceList", "properties", "items", "description"}),
              "List of services");
    // A field stands as a reference alone: clients of this form read nothing around it.
    EXPECT_EQ(json::print(*definitions->find_path({"io.k8s.api.core.v1.Pod", "properties", "metadata"})),
              R"({"$ref":"#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"})");
    EXPECT_NE(definitions->find_path({"io.k8s.api.core.v1.LimitRangeItem", "properties", "default"}), nullptr)
        << "a field may be called default";
    EXPECT_NE(definitions->find_path(
                  {"io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps", "properties", "oneOf"}),
              nullptr)
        << "and one oneOf";
    // kubectl checks the items of a List by this form: the fields that it names would be the only ones allowed.
    const json::Value* widget = definitions->find("com.example.v1.Widget");
    ASSERT_NE(widget, nullptr);
    EXPECT_NE(widget->find("x-kubernetes-preserve-unknown-fields"), nullptr);
    EXPECT_EQ(widget->find("properties"), nullptr) << "a kind that takes any field lists none";
    const std::string text = json::print(document);
    EXPECT_EQ(text.find(R"("oneOf":[)"), std::string::npos) << "this form has no alternatives";
    EXPECT_NE(text.find("Watch for changes to the described resources"), std::string::npos);
}

TEST(Openapi, TheOlderFormHasAProtobufMessage) {
    const auto document = json::parse(R"({"swagger":"2.0","info":{"title":"T","version":"v"},"definitions":{"A":{
        "type":"object","required":["b"]}}})");
    ASSERT_TRUE(document);
    EXPECT_EQ(to_hex(as_bytes(openapi_v2_protobuf(*document))),
              "0a03322e30"                        // swagger: 2.0
              "12060a0154120176"                  // info: title and version
              "4200"                              // paths: none
              "4a160a140a0141120f"                // definitions: one named A
              "b201080a066f626a6563749a010162");  // type: object; required: b
}

TEST(Openapi, SaysWhatKubectlLooksFor) {
    Kinds kinds;
    ASSERT_TRUE(kinds.add(
        {.group = "example.com", .version = "v1", .kind = "Widget", .plural = "widgets", .singular = "widget"}));
    const json::Value apps = openapi_document(kinds, "apps", "v1");
    const json::Value* patch =
        apps.find_path({"paths", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "patch"});
    ASSERT_NE(patch, nullptr);
    EXPECT_EQ(json::print(*patch->find("x-kubernetes-group-version-kind")),
              R"({"group":"apps","version":"v1","kind":"Deployment"})");
    EXPECT_NE(with(*patch->find("parameters"), "name", "fieldValidation"), nullptr);
    const json::Value* containers =
        apps.find_path({"components", "schemas", "io.k8s.api.core.v1.PodSpec", "properties", "containers"});
    ASSERT_NE(containers, nullptr);
    EXPECT_EQ(containers->text_at({"x-kubernetes-patch-merge-key"}), "name");
    EXPECT_EQ(containers->text_at({"x-kubernetes-list-type"}), "map");
    // Changing the type of a strategy drops the parameters of the old one: kubectl says so only when it reads this.
    const json::Value* strategy =
        apps.find_path({"components", "schemas", "io.k8s.api.apps.v1.DeploymentSpec", "properties", "strategy"});
    ASSERT_NE(strategy, nullptr);
    EXPECT_EQ(json::print(*strategy),
              R"({"allOf":[{"$ref":"#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy"}],"default":{},)"
              R"("x-kubernetes-patch-strategy":"retainKeys"})");
    EXPECT_EQ(json::print(*apps.find_path(
                  {"components", "schemas", "io.k8s.api.apps.v1.Deployment", "x-kubernetes-group-version-kind"})),
              R"([{"group":"apps","version":"v1","kind":"Deployment"}])");
    const json::Value custom = openapi_document(kinds, "example.com", "v1");
    EXPECT_NE(custom.find_path({"components", "schemas", "com.example.v1.Widget"}), nullptr);
    EXPECT_EQ(json::print(openapi_index({{openapi_path("apps", "v1"), "77"}})),
              R"({"paths":{"apis/apps/v1":{"serverRelativeURL":"/openapi/v3/apis/apps/v1?hash=77"}}})");
}

}  // namespace
}  // namespace rhizome::api
