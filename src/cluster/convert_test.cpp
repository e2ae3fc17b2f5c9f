// SPDX-License-Identifier: Apache-2.0
#include "cluster/convert.h"

#include <gtest/gtest.h>

#include "support/read_json.h"

namespace rhizome::cluster {
namespace {

using test::read;

const Kind& kind(std::string_view group, std::string_view version, std::string_view plural) {
    static const Kinds kinds;
    return *kinds.find(group, version, plural);
}

TEST(Convert, AShareOfCpuBecomesAMetricAndBack) {
    const auto one = read(R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},
        "spec":{"maxReplicas":3,"targetCPUUtilizationPercentage":70},
        "status":{"currentReplicas":2,"currentCPUUtilizationPercentage":10}})");
    json::Value object = one;
    convert(object, kind("autoscaling", "v2", "horizontalpodautoscalers"));
    EXPECT_EQ(object, read(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},
        "spec":{"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"cpu",
            "target":{"type":"Utilization","averageUtilization":70}}}]},
        "status":{"currentReplicas":2,"currentMetrics":[{"type":"Resource","resource":{"name":"cpu",
            "current":{"averageUtilization":10}}}]}})"));
    convert(object, kind("autoscaling", "v1", "horizontalpodautoscalers"));
    EXPECT_EQ(object, one);
}

TEST(Convert, WhatTheOlderVersionHasNoWordForComesBack) {
    const auto two = read(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"a"},
        "spec":{"maxReplicas":3,"metrics":[{"type":"Resource","resource":{"name":"memory",
            "target":{"type":"AverageValue","averageValue":"1Gi"}}}],"behavior":{"scaleUp":{"selectPolicy":"Max"}}}})");
    json::Value object = two;
    convert(object, kind("autoscaling", "v1", "horizontalpodautoscalers"));
    EXPECT_EQ(object.find_path({"spec", "metrics"}), nullptr);
    EXPECT_EQ(object.find_path({"spec", "behavior"}), nullptr);
    convert(object, kind("autoscaling", "v2", "horizontalpodautoscalers"));
    EXPECT_EQ(object, two);
}

TEST(Convert, AnEventHasTwoSetsOfNames) {
    const auto core = read(R"({"apiVersion":"v1","kind":"Event","metadata":{"name":"e"},"involvedObject":{"kind":"Pod"},
        "message":"hello","count":2,"reason":"Why","reportingComponent":"me"})");
    json::Value object = core;
    convert(object, kind("events.k8s.io", "v1", "events"));
    EXPECT_EQ(object, read(R"({"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},
        "regarding":{"kind":"Pod"},"note":"hello","deprecatedCount":2,"reason":"Why","reportingController":"me"})"));
    convert(object, kind("", "v1", "events"));
    EXPECT_EQ(object, core);
}

TEST(Convert, TheSameVersionStaysAsItIs) {
    const auto pod = read(R"({"apiVersion":"v1","kind":"Pod","message":"kept"})");
    json::Value object = pod;
    convert(object, kind("", "v1", "pods"));
    EXPECT_EQ(object, pod);
}

TEST(Convert, WhatIsNoMapOfAnnotationsMakesRoomForThem) {
    for (const char* metadata :
         {R"({"name":"a","annotations":"x"})", R"({"name":"a","annotations":[1]})", R"("x")", "7", "null", "[]"}) {
        json::Value object = read(R"({"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler",
            "spec":{"metrics":[{"type":"Pods"}],"behavior":{"scaleUp":{}}}})");
        object["metadata"] = read(metadata);
        convert(object, kind("autoscaling", "v1", "horizontalpodautoscalers"));
        EXPECT_EQ(object.text_at({"metadata", "annotations", "rhizome.dev/autoscaling-v2-behavior"}),
                  R"({"scaleUp":{}})");
        json::Value older = read(R"({"apiVersion":"autoscaling/v1","kind":"HorizontalPodAutoscaler","spec":{}})");
        older["metadata"] = read(metadata);
        convert(older, kind("autoscaling", "v2", "horizontalpodautoscalers"));
        EXPECT_EQ(older.text_at({"apiVersion"}), "autoscaling/v2");
    }
}

TEST(Convert, EventsOfBothGroupsAreKeptTogether) {
    EXPECT_EQ(kept_group(kind("events.k8s.io", "v1", "events")), "");
    EXPECT_EQ(kept_group(kind("apps", "v1", "deployments")), "apps");
}

}  // namespace
}  // namespace rhizome::cluster
