// SPDX-License-Identifier: Apache-2.0
// Single answers of verbs that clients take word for word.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/call.h"
#include "api/shown.h"
#include "api/testing.h"

namespace rhizome::api {
namespace {

class SmallVerbs : public ::testing::Test {
protected:
    Call call(Verb verb, std::string_view target, Query::Pairs query = {}, std::string body = {},
              std::string_view media = "application/json") {
        const auto path = parse_resource_path(target);
        Call made{.verb = verb, .path = *path, .query = Query{std::move(query)}, .body = std::move(body)};
        made.kind = world_.kinds.find(path->group, path->version, path->resource);
        made.media = media;
        made.now = Time::from_unix_seconds(1'800'000'000);
        return made;
    }
    Standing standing(const Call& about) {
        const Layer layer = Selection{.kind = about.kind}.layer();
        return world_.revisions.find(layer, *path_of(*about.kind, about.path.name_space, about.path.name));
    }
    void add_pod(std::string_view name, std::string_view spec) {
        world_.put(testing::World::document("v1", "Pod", "web", name, fmt::format(R"(,"spec":{})", spec)));
    }

    testing::World world_;
};

constexpr std::string_view kPod = "/api/v1/namespaces/web/pods/p";

TEST_F(SmallVerbs, APodThatRunsNowhereSaysSo) {
    add_pod("p", R"({"containers":[{"name":"main","image":"i"}]})");
    const Call exec = call(Verb::Get, fmt::format("{}/exec", kPod), {{"container", "main"}});
    ASSERT_TRUE(is_pod_stream(exec));
    const Reply refused = pod_stream_verb(exec, standing(exec), {});
    EXPECT_EQ(refused.code, 400u);
    EXPECT_NE(refused.body.find("pod p does not have a host assigned"), std::string::npos) << refused.body;
    const Call log = call(Verb::Get, fmt::format("{}/log", kPod));
    const Reply empty = pod_stream_verb(log, standing(log), {});
    EXPECT_EQ(empty.code, 200u);
    EXPECT_EQ(empty.body, "");
    EXPECT_EQ(empty.media, "text/plain");
    const Call other = call(Verb::Get, fmt::format("{}/exec", kPod), {{"container", "side"}});
    EXPECT_NE(pod_stream_verb(other, standing(other), {}).body.find("container side is not valid for pod p"),
              std::string::npos);
    const Call gone = call(Verb::Get, "/api/v1/namespaces/web/pods/q/exec");
    EXPECT_EQ(pod_stream_verb(gone, standing(gone), {}).code, 404u);
}

TEST_F(SmallVerbs, OnlyPodsHaveStreams) {
    EXPECT_TRUE(is_pod_stream(call(Verb::Create, fmt::format("{}/portforward", kPod))));
    EXPECT_FALSE(is_pod_stream(call(Verb::Get, fmt::format("{}/status", kPod))));
    EXPECT_FALSE(is_pod_stream(call(Verb::Get, "/api/v1/namespaces/web/services/p/exec")));
}

TEST_F(SmallVerbs, APatchThatLeavesNoDocumentIsBlamed) {
    add_pod("p", R"({"containers":[{"name":"main","image":"i"}]})");
    const struct {
        const char* patch;
        const char* why;
    } rows[] = {
        {R"({"metadata":{"labels":"invalid"}})", "cannot restore map from string"},
        {R"({"spec":{"containers":"none"}})", "cannot restore slice from string"},
        {R"({"spec":7})", "cannot restore struct from: int64"},
    };
    for (const auto& row : rows) {
        const Call patch = call(Verb::Patch, kPod, {}, row.patch, "application/strategic-merge-patch+json");
        const Planned planned = patch_verb(patch, {.object = standing(patch)}, {});
        ASSERT_FALSE(planned);
        EXPECT_EQ(planned.error().code, 422u);
        EXPECT_NE(planned.error().message.find(row.why), std::string::npos) << planned.error().message;
    }
}

TEST_F(SmallVerbs, VersionNoughtIsAnyVersion) {
    world_.put(testing::World::config_map("web", "c", "1"));
    const auto update = [&](std::string_view version) {
        const Call put =
            call(Verb::Update, "/api/v1/namespaces/web/configmaps/c", {},
                 fmt::format(R"({{"metadata":{{"name":"c","resourceVersion":"{}"}},"data":{{"v":"2"}}}})", version));
        return update_verb(put, {.object = standing(put)}, {});
    };
    EXPECT_TRUE(update("0"));
    const Planned stale = update("1");
    ASSERT_FALSE(stale);
    EXPECT_EQ(stale.error().reason, "Conflict");
}

TEST_F(SmallVerbs, ATextThatIsNoDocumentIsCalledUnrecognized) {
    const Call post = call(Verb::Create, "/api/v1/namespaces", {}, "apiVersion: v1\nkind: Pod\n");
    const auto read = read_object(post);
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find("the object provided is unrecognized (must be of type Namespace)"),
              std::string::npos)
        << read.error().message;
    const Call twice = call(Verb::Create, "/api/v1/namespaces", {}, R"({"kind":"Namespace","kind":"Pod"})");
    EXPECT_NE(read_object(twice).error().message.find("duplicate field"), std::string::npos);
}

TEST_F(SmallVerbs, TheFirstNamespacesStay) {
    const Call first = call(Verb::Delete, "/api/v1/namespaces/default");
    const Planned kept = delete_verb(first, {.object = standing(first)}, {});
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().message, "namespaces \"default\" is forbidden: this namespace may not be deleted");
    const Call other = call(Verb::Delete, "/api/v1/namespaces/web");
    EXPECT_TRUE(delete_verb(other, {.object = standing(other)}, {}));
}

TEST_F(SmallVerbs, DeletionsAndEvictionsAskForADryRunInTheirBody) {
    const std::string eviction = fmt::format("{}/eviction", kPod);
    const struct {
        Verb verb;
        std::string_view target;
        const char* body;
        bool dry;
    } rows[] = {
        {Verb::Delete, kPod, R"({"kind":"DeleteOptions","dryRun":["All"]})", true},
        {Verb::Delete, kPod, R"({"kind":"DeleteOptions","dryRun":[]})", false},
        {Verb::Delete, kPod, "", false},
        {Verb::Create, eviction, R"({"kind":"Eviction","deleteOptions":{"dryRun":["All"]}})", true},
        {Verb::Create, eviction, R"({"kind":"Eviction","deleteOptions":{"gracePeriodSeconds":1}})", false},
        {Verb::Create, kPod, R"({"dryRun":["All"]})", false},
    };
    for (const auto& row : rows) {
        const auto asked = asks_for_dry_run(call(row.verb, row.target, {}, row.body));
        ASSERT_TRUE(asked) << row.body;
        EXPECT_EQ(*asked, row.dry) << row.body;
    }
}

TEST_F(SmallVerbs, WhatIsDataIsWrittenWithoutAWarning) {
    const auto warnings = [&](std::string_view target) { return standing_warnings(*call(Verb::Create, target).kind); };
    EXPECT_EQ(warnings("/api/v1/namespaces/web/secrets").size(), 0u) << "they are sealed before they are stored";
    EXPECT_EQ(warnings("/api/v1/namespaces/web/configmaps").size(), 0u);
    EXPECT_EQ(warnings("/api/v1/namespaces/web/events").size(), 0u);
}

TEST_F(SmallVerbs, AScaleHasATableOfItsOwn) {
    world_.put(testing::World::document("apps/v1", "Deployment", "web", "d", R"(,"spec":{"replicas":3})"));
    Call get = call(Verb::Get, "/apis/apps/v1/namespaces/web/deployments/d/scale");
    get.form = Form::Table;
    const Reply table = get_verb(get, standing(get), {});
    const auto body = json::parse(table.body);
    ASSERT_TRUE(body) << table.body;
    EXPECT_EQ(body->text_at({"kind"}), "Table");
    EXPECT_NE(table.body.find(R"("cells":["d",3,0,)"), std::string::npos) << table.body;
}

TEST_F(SmallVerbs, ADryRunOfAScaleShowsTheScale) {
    Call dry = call(Verb::Patch, "/apis/apps/v1/namespaces/web/deployments/d/scale", {{"dryRun", "All"}});
    const auto object = json::parse(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"d"},
        "spec":{"replicas":3}})");
    const Reply reply = value_reply(dry, 200, *object);
    const auto shown = json::parse(reply.body);
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->text_at({"kind"}), "Scale");
    EXPECT_EQ(shown->find_path({"spec", "replicas"})->if_int64(), 3);
}

TEST_F(SmallVerbs, AnAutoscalerIsShownInTheVersionThatIsAskedFor) {
    world_.put(testing::World::document("autoscaling/v1", "HorizontalPodAutoscaler", "web", "a",
                                        R"(,"spec":{"maxReplicas":2,"targetCPUUtilizationPercentage":70})"));
    const Call get = call(Verb::Get, "/apis/autoscaling/v2/namespaces/web/horizontalpodautoscalers/a");
    const json::Value shown = shown_value(*get.kind, standing(get), {});
    EXPECT_EQ(shown.text_at({"apiVersion"}), "autoscaling/v2");
    const json::Value* metrics = shown.find_path({"spec", "metrics"});
    ASSERT_NE(metrics, nullptr);
    EXPECT_EQ(metrics->if_array()->front().find_path({"resource", "target", "averageUtilization"})->if_int64(), 70);
}

}  // namespace
}  // namespace rhizome::api
