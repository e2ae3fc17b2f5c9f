// SPDX-License-Identifier: Apache-2.0
#include "cluster/kinds.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "ledger/resource.h"
#include "support/vectors.h"

namespace rhizome::cluster {
namespace {

CustomKind widgets() {
    return {.group = "example.com",
            .version = "v1",
            .kind = "Widget",
            .plural = "widgets",
            .singular = "widget",
            .short_names = {"wd"},
            .status = true,
            .scale = true};
}

TEST(Kinds, HasEveryKindOfTheSpecification) {
    const auto text = test::read_file(test::source_root() / "docs/spec/kubernetes-kinds.json");
    ASSERT_TRUE(text);
    const auto facts = boost::json::parse(*text);
    const Kinds kinds;
    const auto& rows = facts.at("kinds").as_array();
    EXPECT_EQ(kinds.all().size(), rows.size());
    for (const auto& row : rows) {
        const std::string group = test::text(row, "group");
        const std::string version = test::text(row, "version");
        const Kind* kind = kinds.find(group, version, test::text(row, "plural"));
        ASSERT_NE(kind, nullptr) << row;
        EXPECT_EQ(kind, kinds.find_kind(group, version, test::text(row, "kind")));
        EXPECT_EQ(kind->singular, test::text(row, "singular"));
        EXPECT_EQ(kind->namespaced, row.at("namespaced").as_bool());
        EXPECT_EQ(kind->message, test::text(row, "protobufMessage"));
        ASSERT_NE(kind->schema, nullptr) << row;
        EXPECT_EQ(kind->schema->message, kind->message);
        EXPECT_EQ(kind->verbs.names().size(), row.at("verbs").as_array().size());
        EXPECT_EQ(kind->subresources.size(), row.at("subresources").as_array().size());
        EXPECT_TRUE(std::is_sorted(kind->field_selectors.begin(), kind->field_selectors.end()));
        if (kind->verbs.contains(Verb::List)) {
            EXPECT_EQ(kind->columns.size(), row.at("tableColumns").as_array().size());
            EXPECT_TRUE(kind->selects("metadata.name")) << row;
        }
    }
}

/// The ledger must not include this module and so lists by itself what it stores without a definition.
TEST(Kinds, AreThoseThatTheLedgerStores) {
    const Kinds kinds;
    for (const auto& kind : kinds.all()) {
        const auto scope = ledger::builtin_scope(kind->group, kind->kind);
        const bool on_chain = kind->keeping == Keeping::Chain;
        ASSERT_EQ(scope.has_value(), on_chain) << kind->group << ' ' << kind->kind;
        if (scope) {
            EXPECT_EQ(*scope == ledger::Scope::Namespaced, kind->namespaced) << kind->kind;
        }
    }
}

TEST(Kinds, FindsByPathByDocumentAndByState) {
    const Kinds kinds;
    const Kind* deployment = kinds.find("apps", "v1", "deployments");
    ASSERT_NE(deployment, nullptr);
    EXPECT_EQ(deployment->api_version(), "apps/v1");
    EXPECT_EQ(deployment->resource(), "deployments.apps");
    EXPECT_EQ(deployment->short_names[0], "deploy");
    EXPECT_NE(deployment->find_subresource("scale"), nullptr);
    EXPECT_EQ(deployment->find_subresource("scale")->group, "autoscaling");
    EXPECT_EQ(deployment->find_subresource("log"), nullptr);
    EXPECT_EQ(kinds.find("apps", "v2", "deployments"), nullptr);
    EXPECT_EQ(kinds.find("", "v1", "deployments"), nullptr);
    EXPECT_EQ(kinds.preferred("autoscaling", "HorizontalPodAutoscaler")->version, "v2");
    EXPECT_EQ(kinds.find("autoscaling", "v1", "horizontalpodautoscalers")->version, "v1");
    EXPECT_EQ(kinds.versions("autoscaling"), (std::vector<std::string_view>{"v2", "v1"}));
    EXPECT_EQ(kinds.groups().front(), "");
    EXPECT_EQ(kinds.find("", "v1", "events")->keeping, Keeping::Gossip);
    EXPECT_EQ(kinds.find("authorization.k8s.io", "v1", "selfsubjectaccessreviews")->keeping, Keeping::Nowhere);
}

TEST(Kinds, LearnsAndForgetsCustomKinds) {
    Kinds kinds;
    const Kinds before = kinds;
    ASSERT_TRUE(kinds.add(widgets()));
    const Kind* widget = kinds.find("example.com", "v1", "widgets");
    ASSERT_NE(widget, nullptr);
    EXPECT_TRUE(widget->custom);
    EXPECT_EQ(widget->columns.size(), 2u);
    EXPECT_EQ(widget->columns[1].name, "Age");
    EXPECT_NE(widget->find_subresource("status"), nullptr);
    EXPECT_TRUE(widget->selects("metadata.name"));
    EXPECT_NE(kinds.revision(), before.revision());
    EXPECT_EQ(before.find("example.com", "v1", "widgets"), nullptr) << "a copy stays what it was";

    auto newer = widgets();
    newer.version = "v2";
    newer.preferred = true;
    ASSERT_TRUE(kinds.add(newer));
    EXPECT_EQ(kinds.versions("example.com"), (std::vector<std::string_view>{"v2", "v1"}));
    EXPECT_EQ(kinds.preferred("example.com", "Widget")->version, "v2");
    const Kinds with_widgets = kinds;
    EXPECT_TRUE(kinds.remove("example.com", "widgets"));
    EXPECT_FALSE(kinds.remove("example.com", "widgets"));
    EXPECT_EQ(kinds.find("example.com", "v1", "widgets"), nullptr);
    EXPECT_EQ(with_widgets.find("example.com", "v1", "widgets")->kind, "Widget") << "a reader keeps what it holds";
}

TEST(Kinds, RefusesNamesThatAreTaken) {
    Kinds kinds;
    ASSERT_TRUE(kinds.add(widgets()));
    auto other = widgets();
    other.kind = "Gadget";
    other.plural = "gadgets";
    other.singular = "widget";
    EXPECT_FALSE(kinds.add(other));
    other.singular = "gadget";
    EXPECT_TRUE(kinds.add(other));
    other.plural = "more-gadgets";
    EXPECT_FALSE(kinds.add(other)) << "one resource of a kind";
    auto builtin = widgets();
    builtin.group = "apps";
    builtin.kind = "Deployment";
    EXPECT_FALSE(kinds.add(builtin));
    EXPECT_FALSE(kinds.remove("apps", "deployments")) << "Kubernetes' own kinds stay";
}

TEST(Kinds, OrdersVersionsAsKubernetesDoes) {
    std::vector<std::string_view> versions{"foo10",    "v1",   "v11alpha2", "v12alpha1", "v10",     "v3beta1",
                                           "v11beta2", "foo1", "v2",        "v10beta3",  "v3beta10"};
    std::sort(versions.begin(), versions.end(), version_before);
    EXPECT_EQ(versions, (std::vector<std::string_view>{"v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta10", "v3beta1",
                                                       "v12alpha1", "v11alpha2", "foo1", "foo10"}));
}

TEST(Kinds, ReadsApiVersions) {
    EXPECT_EQ(parse_api_version("v1"), (GroupVersion{"", "v1"}));
    EXPECT_EQ(parse_api_version("apps/v1"), (GroupVersion{"apps", "v1"}));
    for (const char* bad : {"", "/v1", "apps/", "a/b/c"}) EXPECT_FALSE(parse_api_version(bad)) << bad;
}

}  // namespace
}  // namespace rhizome::cluster
