// SPDX-License-Identifier: Apache-2.0
#include "api/request.h"

#include <gtest/gtest.h>

namespace rhizome::api {
namespace {

struct PathCase {
    const char* path;
    const char* group;
    const char* version;
    const char* name_space;
    const char* resource;
    const char* name;
    const char* subresource;
};

TEST(Request, ReadsPathsOfResources) {
    const PathCase cases[] = {
        {"/api/v1/pods", "", "v1", "", "pods", "", ""},
        {"/api/v1/namespaces", "", "v1", "", "namespaces", "", ""},
        {"/api/v1/namespaces/web", "", "v1", "", "namespaces", "web", ""},
        {"/api/v1/namespaces/web/status", "", "v1", "", "namespaces", "web", "status"},
        {"/api/v1/namespaces/web/finalize", "", "v1", "", "namespaces", "web", "finalize"},
        {"/api/v1/namespaces/web/pods", "", "v1", "web", "pods", "", ""},
        {"/api/v1/namespaces/web/pods/db/", "", "v1", "web", "pods", "db", ""},
        {"/api/v1/namespaces/web/pods/db/log", "", "v1", "web", "pods", "db", "log"},
        {"/apis/apps/v1/namespaces/web/deployments/x/scale", "apps", "v1", "web", "deployments", "x", "scale"},
        {"/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode", "rbac.authorization.k8s.io", "v1", "",
         "clusterroles", "system:node", ""},
    };
    for (const PathCase& one : cases) {
        SCOPED_TRACE(one.path);
        const auto read = parse_resource_path(one.path);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->group, one.group);
        EXPECT_EQ(read->version, one.version);
        EXPECT_EQ(read->name_space, one.name_space);
        EXPECT_EQ(read->resource, one.resource);
        EXPECT_EQ(read->name, one.name);
        EXPECT_EQ(read->subresource, one.subresource);
    }
    for (const char* other : {"/", "/api", "/api/v1", "/apis/apps/v1", "/healthz", "/api//pods", "/api/v1/pods/%2f",
                              "/api/v1/pods/%zz", "/api/v1/namespaces/a/pods/b/log/c", "api/v1/pods"})
        EXPECT_FALSE(parse_resource_path(other)) << other;
}

TEST(Request, WhatIsBehindProxyStaysAsItWasSent) {
    const std::pair<const char*, const char*> cases[] = {
        {"/api/v1/namespaces/web/services/http:s:80/proxy", ""},
        {"/api/v1/namespaces/web/services/http:s:80/proxy/", "/"},
        {"/api/v1/namespaces/web/services/http%3As:80/proxy/a%20b//c%2fd/", "/a%20b//c%2fd/"},
        {"/api/v1/namespaces/web/services/http:s:80/proxy/%zz", "/%zz"},
    };
    for (const auto& [path, rest] : cases) {
        SCOPED_TRACE(path);
        const auto read = parse_resource_path(path);
        ASSERT_TRUE(read);
        EXPECT_EQ(read->name_space, "web");
        EXPECT_EQ(read->name, "http:s:80");
        EXPECT_EQ(read->subresource, "proxy");
        EXPECT_EQ(read->rest, rest);
    }
    const auto node = parse_resource_path("/api/v1/nodes/n1:10250/proxy/pods");
    ASSERT_TRUE(node);
    EXPECT_EQ(node->name, "n1:10250");
    EXPECT_EQ(node->rest, "/pods");
    EXPECT_FALSE(parse_resource_path("/apis/apps/v1/deployments/a/proxy/b"));
}

TEST(Request, TheMethodAndThePathMakeTheVerb) {
    const auto verb = [](const char* method, const char* path, Query::Pairs query = {}) {
        return verb_of(method, *parse_resource_path(path), Query{std::move(query)});
    };
    EXPECT_EQ(verb("GET", "/api/v1/pods"), Verb::List);
    EXPECT_EQ(verb("GET", "/api/v1/pods", {{"watch", "true"}}), Verb::Watch);
    EXPECT_EQ(verb("GET", "/api/v1/nodes/a", {{"watch", "true"}}), Verb::Get);
    EXPECT_EQ(verb("DELETE", "/api/v1/nodes"), Verb::DeleteCollection);
    EXPECT_EQ(verb("DELETE", "/api/v1/nodes/a"), Verb::Delete);
    EXPECT_EQ(verb("BREW", "/api/v1/nodes/a"), std::nullopt);
}

TEST(Request, TheFirstFormThatIsKnownIsTaken) {
    EXPECT_EQ(form_wanted(""), Form::Object);
    EXPECT_EQ(form_wanted("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"), Form::Table);
    EXPECT_EQ(form_wanted("application/json;as=Table;v=v9;g=meta.k8s.io,application/json"), Form::Object);
    EXPECT_EQ(form_wanted("application/vnd.kubernetes.protobuf,application/json"), Form::Object);
    EXPECT_EQ(form_wanted("application/vnd.kubernetes.protobuf, */*"), Form::Object);
    EXPECT_EQ(form_wanted("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"), Form::Metadata);
    EXPECT_EQ(form_wanted("application/vnd.kubernetes.protobuf"), std::nullopt);
    EXPECT_EQ(aggregated_discovery_wanted("application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"),
              "v2");
    EXPECT_EQ(aggregated_discovery_wanted("application/json"), "");
}

}  // namespace
}  // namespace rhizome::api
