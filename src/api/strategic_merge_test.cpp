// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "api/patch.h"
#include "support/read_json.h"

namespace rhizome::api {
namespace {

using test::read;

const cluster::Schema& schema(std::string_view name) {
    return *cluster::find_schema("io.k8s.api.core.v1." + std::string(name));
}

struct Row {
    std::string_view what;
    std::string_view schema;
    std::string_view original;
    std::string_view patch;
    std::string_view expected;
};

void expect_all(const std::vector<Row>& rows) {
    for (const Row& row : rows) {
        const auto patched = apply_strategic_merge_patch(read(row.original), read(row.patch), schema(row.schema));
        ASSERT_TRUE(patched) << row.what << ": " << patched.error().message;
        EXPECT_EQ(*patched, read(row.expected)) << row.what << ": " << json::print(*patched);
    }
}

TEST(StrategicMerge, MergesObjectsAndDeletesByNull) {
    expect_all({
        {"scalars", "PodSpec", R"({"nodeName":"a","hostNetwork":true})", R"({"nodeName":"b","hostNetwork":null})",
         R"({"nodeName":"b"})"},
        {"nulls of what is not there", "PodSpec", "{}", R"({"nodeName":null,"securityContext":{"runAsUser":null}})",
         R"({"securityContext":{}})"},
        {"maps", "ConfigMap", R"({"data":{"a":"1","b":"2"}})", R"({"data":{"a":null,"c":"3"}})",
         R"({"data":{"b":"2","c":"3"}})"},
        {"another type replaces", "PodSpec", R"({"nodeSelector":{"a":"b"}})", R"({"nodeSelector":"x"})",
         R"({"nodeSelector":"x"})"},
        {"$patch: replace", "PodSpec", R"({"securityContext":{"runAsUser":1,"fsGroup":2}})",
         R"({"securityContext":{"$patch":"replace","runAsUser":3}})", R"({"securityContext":{"runAsUser":3}})"},
        {"$patch: delete", "PodSpec", R"({"securityContext":{"runAsUser":1}})",
         R"({"securityContext":{"$patch":"delete"}})", R"({"securityContext":{}})"},
        {"fields without a schema", "Pod", R"({"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}}}]}})",
         R"({"metadata":{"managedFields":[{"fieldsV1":{"f:b":{}}}]}})",
         R"({"metadata":{"managedFields":[{"fieldsV1":{"f:b":{}}}]}})"},
    });
}

TEST(StrategicMerge, MergesListsByTheirKeys) {
    expect_all({
        {"a new element comes where the patch puts it: first", "PodSpec",
         R"({"containers":[{"name":"a","image":"1"}]})", R"({"containers":[{"name":"b","image":"2"}]})",
         R"({"containers":[{"name":"b","image":"2"},{"name":"a","image":"1"}]})"},
        {"an element that is there is merged", "PodSpec",
         R"({"containers":[{"name":"a","image":"1","tty":true},{"name":"b","image":"2"}]})",
         R"({"containers":[{"name":"b","image":"3"}]})",
         R"({"containers":[{"name":"a","image":"1","tty":true},{"name":"b","image":"3"}]})"},
        {"an element goes by $patch: delete", "PodSpec", R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]})",
         R"({"containers":[{"$patch":"delete","name":"b"}]})", R"({"containers":[{"name":"a"},{"name":"c"}]})"},
        {"deleted and written anew", "PodSpec", R"({"containers":[{"name":"a","image":"1","tty":true}]})",
         R"({"containers":[{"$patch":"delete","name":"a"},{"name":"a","image":"2"}]})",
         R"({"containers":[{"name":"a","image":"2"}]})"},
        {"the list goes by $patch: replace", "PodSpec", R"({"containers":[{"name":"a"},{"name":"b"}]})",
         R"({"containers":[{"name":"c"},{"$patch":"replace"}]})", R"({"containers":[{"name":"c"}]})"},
        {"lists in lists", "PodSpec", R"({"containers":[{"name":"a","env":[{"name":"X","value":"1"}]}]})",
         R"({"containers":[{"name":"a","env":[{"name":"Y","value":"2"},{"name":"X","value":null}]}]})",
         R"({"containers":[{"name":"a","env":[{"name":"Y","value":"2"},{"name":"X"}]}]})"},
        {"ports by their number", "Container", R"({"ports":[{"containerPort":80,"name":"a"}]})",
         R"({"ports":[{"containerPort":80,"name":"b"},{"containerPort":81}]})",
         R"({"ports":[{"containerPort":80,"name":"b"},{"containerPort":81}]})"},
        {"atomic lists are replaced", "Container", R"({"args":["a","b"]})", R"({"args":["c"]})", R"({"args":["c"]})"},
        {"tolerations have no key and are replaced", "PodSpec", R"({"tolerations":[{"key":"a"}]})",
         R"({"tolerations":[{"key":"b"}]})", R"({"tolerations":[{"key":"b"}]})"},
        {"sets of scalars", "Pod", R"({"metadata":{"finalizers":["a","b"]}})",
         R"({"metadata":{"finalizers":["b","c"]}})", R"({"metadata":{"finalizers":["a","b","c"]}})"},
    });
}

TEST(StrategicMerge, FollowsDirectives) {
    expect_all({
        {"$setElementOrder alone", "PodSpec", R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]})",
         R"({"$setElementOrder/containers":[{"name":"c"},{"name":"a"},{"name":"b"}]})",
         R"({"containers":[{"name":"c"},{"name":"a"},{"name":"b"}]})"},
        {"$setElementOrder as kubectl apply sends it", "PodSpec",
         R"({"containers":[{"name":"a","image":"1"},{"name":"injected"},{"name":"b"}]})",
         R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"},{"name":"c"}],
             "containers":[{"name":"a","image":"2"},{"name":"c"}]})",
         R"({"containers":[{"name":"injected"},{"name":"b"},{"name":"a","image":"2"},{"name":"c"}]})"},
        {"$setElementOrder with a deletion", "PodSpec", R"({"containers":[{"name":"a"},{"name":"b"}]})",
         R"({"$setElementOrder/containers":[{"name":"b"}],"containers":[{"$patch":"delete","name":"a"}]})",
         R"({"containers":[{"name":"b"}]})"},
        {"$setElementOrder of a list that was not there", "PodSpec", "{}",
         R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}],"containers":[{"name":"b"},{"name":"a"}]})",
         R"({"containers":[{"name":"b"},{"name":"a"}]})"},
        {"$deleteFromPrimitiveList", "Pod", R"({"metadata":{"finalizers":["a","b","c"]}})",
         R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["b"],"$setElementOrder/finalizers":["c","a"]}})",
         R"({"metadata":{"finalizers":["c","a"]}})"},
        {"$retainKeys", "PodSpec", R"({"volumes":[{"name":"v","emptyDir":{}}]})",
         R"({"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/x"}}]})",
         R"({"volumes":[{"name":"v","hostPath":{"path":"/x"}}]})"},
        {"directives do not stay in what is new", "PodSpec", "{}",
         R"({"volumes":[{"$retainKeys":["name"],"name":"v"}],"securityContext":{"$patch":"replace","fsGroup":1}})",
         R"({"volumes":[{"name":"v"}],"securityContext":{"fsGroup":1}})"},
    });
}

TEST(StrategicMerge, SaysWhatIsWrongWithAPatch) {
    const struct {
        std::string_view patch;
        unsigned code;
        std::string_view why;
    } rows[] = {
        {R"({"containers":[{"image":"x"}]})", 422, R"(map: {"image":"x"} does not contain declared merge key: name)"},
        {R"({"containers":[{"$patch":"delete"}]})", 422, "does not contain declared merge key: name"},
        {R"({"containers":[{"$patch":"merge","name":"a"}]})", 422,
         "merging lists cannot yet be specified in the patch"},
        {R"({"containers":[{"$patch":"odd","name":"a"}]})", 422, "unknown patch type: \"odd\" in map"},
        {R"({"containers":["a"]})", 422, "is no map"},
        {R"({"$patch":7})", 422, "unknown patch type: 7"},
        {R"({"securityContext":{"$retainKeys":["a"],"b":1}})", 400, "invalid patch format of retainKeys"},
        {R"({"$setElementOrder/containers":7})", 400, "invalid patch format of setElementOrder list"},
        {R"({"$deleteFromPrimitiveList/containers":7})", 400, "invalid patch format of primitive list"},
        {R"({"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]})", 400,
         "doesn't match $setElementOrder list"},
        {R"({"bogus":{"a":1}})", 400, "unable to find api field in struct PodSpec for the json field \"bogus\""},
        {R"([])", 400, "a strategic merge patch is an object"},
    };
    for (const auto& row : rows) {
        const auto patched =
            apply_strategic_merge_patch(read(R"({"containers":[{"name":"a"}],"securityContext":{},"bogus":{}})"),
                                        read(row.patch), schema("PodSpec"));
        ASSERT_FALSE(patched) << row.patch;
        EXPECT_EQ(patched.error().code, row.code) << row.patch;
        EXPECT_NE(patched.error().message.find(row.why), std::string::npos) << patched.error().message;
    }
}

TEST(StrategicMerge, WhatIsNoObjectInAStoredListIsMergedWithNone) {
    for (const auto& [stored, patch] : {std::pair{R"({"containers":["a"]})", R"({"containers":[{"name":"a"}]})"},
                                        std::pair{R"({"containers":[null]})", R"({"containers":[{"name":null}]})"},
                                        std::pair{R"({"containers":[7]})", R"({"containers":[{"name":7}]})"}}) {
        const auto patched = apply_strategic_merge_patch(read(stored), read(patch), schema("PodSpec"));
        ASSERT_FALSE(patched) << stored;
        EXPECT_EQ(patched.error().code, 422u);
        EXPECT_NE(patched.error().message.find("is no map"), std::string::npos) << patched.error().message;
    }
}

TEST(StrategicMerge, CostsNoQuadraticTime) {
    json::Value document;
    json::Value patch;
    for (int i = 0; i < 20'000; ++i) {
        json::Value container;
        container["name"] = "c" + std::to_string(i);
        document["containers"].make_array().push_back(container);
        container["image"] = "x";
        patch["containers"].make_array().push_back(container);
        patch["$setElementOrder/containers"].make_array().push_back(container);
    }
    const auto patched = apply_strategic_merge_patch(document, patch, schema("PodSpec"));
    ASSERT_TRUE(patched);
    EXPECT_EQ(*patched->find("containers"), *patch.find("containers"));
}

}  // namespace
}  // namespace rhizome::api
