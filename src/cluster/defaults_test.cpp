// SPDX-License-Identifier: Apache-2.0
#include "cluster/defaults.h"

#include <gtest/gtest.h>

#include "cluster/base64.h"
#include "cluster/decode.h"
#include "support/read_json.h"

namespace rhizome::cluster {
namespace {

using test::read;
const Kinds& kinds() {
    static const Kinds kKinds;
    return kKinds;
}
json::Value defaulted(std::string_view group, std::string_view version, std::string_view plural,
                      std::string_view text) {
    const Kind& kind = *kinds().find(group, version, plural);
    auto decoded = decode(read(text), kind, FieldValidation::Strict);
    if (!decoded) ADD_FAILURE() << decoded.error().message;
    if (!decoded) return {};
    json::Value object = std::move(decoded->object);
    apply_defaults(object, kind);
    json::Value again = object;
    apply_defaults(again, kind);
    EXPECT_EQ(again, object) << "filling in twice changes nothing";
    return object;
}

/// All that a short manifest gets, without what the server sets.
TEST(Defaults, FillDeploymentsAsKubernetesDoes) {
    EXPECT_EQ(
        json::print_canonical(defaulted("apps", "v1", "deployments", R"({"metadata":{"name":"web"},"spec":{
            "selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},
            "spec":{"containers":[{"name":"a","image":"nginx","ports":[{"containerPort":80}],
            "livenessProbe":{"httpGet":{"port":80}}}],"volumes":[{"name":"v"},{"name":"c","configMap":{"name":"x"}}]}}}})")),
        json::print_canonical(read(R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{
            "progressDeadlineSeconds":600,"replicas":1,"revisionHistoryLimit":10,
            "selector":{"matchLabels":{"app":"web"}},
            "strategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":"25%"},"type":"RollingUpdate"},
            "template":{"metadata":{"creationTimestamp":null,"labels":{"app":"web"}},"spec":{
            "containers":[{"image":"nginx","imagePullPolicy":"Always",
            "livenessProbe":{"failureThreshold":3,"httpGet":{"path":"/","port":80,"scheme":"HTTP"},"periodSeconds":10,
            "successThreshold":1,"timeoutSeconds":1},"name":"a","ports":[{"containerPort":80,"protocol":"TCP"}],
            "resources":{},"terminationMessagePath":"/dev/termination-log","terminationMessagePolicy":"File"}],
            "dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler",
            "securityContext":{},"terminationGracePeriodSeconds":30,
            "volumes":[{"emptyDir":{},"name":"v"},{"configMap":{"defaultMode":420,"name":"x"},"name":"c"}]}}},
            "status":{}})")));
}

TEST(Defaults, FollowTheRulesOfKinds) {
    const struct {
        std::string_view what;
        std::string_view group;
        std::string_view version;
        std::string_view plural;
        std::string_view document;
        std::initializer_list<std::string_view> place;
        std::string_view expected;
    } rows[] = {
        {"a service",
         "",
         "v1",
         "services",
         R"({"spec":{"ports":[{"port":80}]}})",
         {"spec"},
         R"({"ports":[{"port":80,"protocol":"TCP","targetPort":80}],"sessionAffinity":"None","type":"ClusterIP","internalTrafficPolicy":"Cluster","ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4"]})"},
        {"a load balancer",
         "",
         "v1",
         "services",
         R"({"spec":{"type":"LoadBalancer","sessionAffinity":"ClientIP"}})",
         {"spec"},
         R"({"sessionAffinity":"ClientIP","sessionAffinityConfig":{"clientIP":{"timeoutSeconds":10800}},"type":"LoadBalancer","externalTrafficPolicy":"Cluster","allocateLoadBalancerNodePorts":true,"internalTrafficPolicy":"Cluster","ipFamilyPolicy":"SingleStack","ipFamilies":["IPv4"]})"},
        {"an external name",
         "",
         "v1",
         "services",
         R"({"spec":{"type":"ExternalName","externalName":"x"}})",
         {"spec"},
         R"({"type":"ExternalName","externalName":"x","sessionAffinity":"None"})"},
        {"a job", "batch", "v1", "jobs", R"({"spec":{}})", {"spec", "completions"}, "1"},
        {"a work queue has no completions",
         "batch",
         "v1",
         "jobs",
         R"({"spec":{"parallelism":2}})",
         {"spec", "parallelism"},
         "2"},
        {"labels of a job",
         "batch",
         "v1",
         "jobs",
         R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}})",
         {"metadata", "labels"},
         R"({"a":"b"})"},
        {"a cron job",
         "batch",
         "v1",
         "cronjobs",
         R"({"spec":{"schedule":"* * * * *"}})",
         {"spec", "concurrencyPolicy"},
         "\"Allow\""},
        {"a daemon set",
         "apps",
         "v1",
         "daemonsets",
         R"({"spec":{}})",
         {"spec", "updateStrategy"},
         R"({"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":1,"maxSurge":0}})"},
        {"another strategy",
         "apps",
         "v1",
         "deployments",
         R"({"spec":{"strategy":{"type":"Recreate"}}})",
         {"spec", "strategy"},
         R"({"type":"Recreate"})"},
        {"zero replicas are no missing ones",
         "apps",
         "v1",
         "deployments",
         R"({"spec":{"replicas":0}})",
         {"spec", "replicas"},
         "0"},
        {"a stateful set",
         "apps",
         "v1",
         "statefulsets",
         R"({"spec":{}})",
         {"spec", "podManagementPolicy"},
         "\"OrderedReady\""},
        {"a replication controller",
         "",
         "v1",
         "replicationcontrollers",
         R"({"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}})",
         {"spec", "selector"},
         R"({"a":"b"})"},
        {"a secret",
         "",
         "v1",
         "secrets",
         R"({"stringData":{"a":"geheim"},"data":{"a":"AAAA","b":"AAAA"}})",
         {"data"},
         R"({"a":"Z2VoZWlt","b":"AAAA"})"},
        {"a namespace",
         "",
         "v1",
         "namespaces",
         R"({"metadata":{"name":"n"}})",
         {"spec"},
         R"({"finalizers":["kubernetes"]})"},
        {"a namespace's label",
         "",
         "v1",
         "namespaces",
         R"({"metadata":{"name":"n"}})",
         {"metadata", "labels"},
         R"({"kubernetes.io/metadata.name":"n"})"},
        {"a policy",
         "networking.k8s.io",
         "v1",
         "networkpolicies",
         R"({"spec":{"egress":[{}]}})",
         {"spec", "policyTypes"},
         R"(["Ingress","Egress"])"},
        {"a binding",
         "rbac.authorization.k8s.io",
         "v1",
         "rolebindings",
         R"({"roleRef":{"kind":"Role","name":"r"},"subjects":[{"kind":"User","name":"u"}]})",
         {"subjects"},
         R"([{"kind":"User","name":"u","apiGroup":"rbac.authorization.k8s.io"}])"},
        {"an autoscaler",
         "autoscaling",
         "v2",
         "horizontalpodautoscalers",
         R"({"spec":{"maxReplicas":3}})",
         {"spec", "minReplicas"},
         "1"},
        {"a storage class",
         "storage.k8s.io",
         "v1",
         "storageclasses",
         R"({"provisioner":"p"})",
         {"reclaimPolicy"},
         "\"Delete\""},
        {"limits without requests",
         "",
         "v1",
         "pods",
         R"({"spec":{"containers":[{"name":"a","image":"b:1","resources":{"limits":{"cpu":"1"}}}]}})",
         {"spec", "enableServiceLinks"},
         "true"},
    };
    for (const auto& row : rows) {
        const json::Value object = defaulted(row.group, row.version, row.plural, row.document);
        const json::Value* found = object.find_path(row.place);
        ASSERT_NE(found, nullptr) << row.what << ' ' << json::print(object);
        EXPECT_EQ(*found, read(row.expected)) << row.what << ' ' << json::print(*found);
    }
    EXPECT_EQ(defaulted("batch", "v1", "jobs", R"({"spec":{"parallelism":2}})").find_path({"spec", "completions"}),
              nullptr);
    const json::Value pod = defaulted(
        "", "v1", "pods",
        R"({"spec":{"hostNetwork":true,"containers":[{"name":"a","image":"r:5000/b:1","ports":[{"containerPort":80}],"resources":{"limits":{"cpu":"1"}}},{"name":"c","image":"x@sha256:00"}]}})");
    const json::Array& containers = *pod.find_path({"spec", "containers"})->if_array();
    EXPECT_EQ(containers[0].text_at({"imagePullPolicy"}), "IfNotPresent");
    EXPECT_EQ(containers[1].text_at({"imagePullPolicy"}), "IfNotPresent");
    EXPECT_EQ(containers[0].text_at({"resources", "requests", "cpu"}), "1");
    EXPECT_EQ(json::print(*containers[0].find("ports")), R"([{"containerPort":80,"protocol":"TCP","hostPort":80}])");
}

/// No kind's rules stop at a document that says nothing, or what it says is odd.
TEST(Defaults, TakeEveryDocument) {
    for (const auto& kind : kinds().all())
        for (const char* odd :
             {"{}", R"({"spec":{}})", R"({"spec":null,"metadata":{}})", R"({"spec":{"template":{}}})"}) {
            json::Value object = read(odd);
            apply_defaults(object, *kind);
            json::Value again = object;
            apply_defaults(again, *kind);
            EXPECT_EQ(again, object) << kind->kind;
        }
}

TEST(Defaults, BeginObjectsAsKubernetesDoes) {
    const Kind& pods = *kinds().find("", "v1", "pods");
    json::Value pod =
        read(R"({"metadata":{"name":"p","uid":"mine","resourceVersion":"7"},"spec":{"containers":[{"resources":
        {"limits":{"cpu":"1","memory":"1Gi"},"requests":{"cpu":"1000m","memory":"1Gi"}}}]},"status":{"phase":"Running"}})");
    prepare_for_create(pod, pods);
    EXPECT_EQ(*pod.find("status"), read(R"({"phase":"Pending","qosClass":"Guaranteed"})"));
    EXPECT_EQ(pod.find_path({"metadata", "uid"}), nullptr);
    const Kind& deployments = *kinds().find("apps", "v1", "deployments");
    json::Value web = read(R"({"metadata":{"name":"web"},"spec":{"replicas":1},"status":{"replicas":9}})");
    prepare_for_create(web, deployments);
    EXPECT_EQ(web, read(R"({"metadata":{"name":"web","generation":1},"spec":{"replicas":1},"status":{}})"));

    const json::Value before = read(
        R"({"metadata":{"name":"web","uid":"u","generation":4,"labels":{"a":"b"}},"spec":{"replicas":1},"status":{"replicas":1}})");
    json::Value relabelled = read(R"({"metadata":{"name":"web"},"spec":{"replicas":1},"status":{"replicas":9}})");
    prepare_for_update(relabelled, before, deployments, false);
    EXPECT_EQ(
        relabelled,
        read(R"({"metadata":{"name":"web","uid":"u","generation":4},"spec":{"replicas":1},"status":{"replicas":1}})"));
    json::Value scaled = read(R"({"metadata":{"name":"web"},"spec":{"replicas":2}})");
    prepare_for_update(scaled, before, deployments, false);
    EXPECT_EQ(scaled.find_path({"metadata", "generation"})->if_int64(), 5);
    json::Value reported = read(R"({"metadata":{"name":"web"},"spec":{"replicas":7},"status":{"replicas":7}})");
    prepare_for_update(reported, before, deployments, true);
    EXPECT_EQ(reported.find_path({"spec", "replicas"})->if_int64(), 1);
    EXPECT_EQ(reported.find_path({"status", "replicas"})->if_int64(), 7);
    EXPECT_EQ(reported.find_path({"metadata", "generation"})->if_int64(), 4);
}

TEST(Base64, IsThatOfTheStandard) {
    const std::pair<std::string_view, std::string_view> rows[] = {{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, encoded] : rows) EXPECT_EQ(base64(as_bytes(plain)), encoded);
}

TEST(Defaults, AJobsPodsAreKnownByItsUid) {
    json::Value job = read(R"({"metadata":{"name":"j","uid":"u"},"spec":{"template":{"spec":{}}}})");
    fill_identity(job, *kinds().find("batch", "v1", "jobs"));
    EXPECT_EQ(job.text_at({"spec", "selector", "matchLabels", "batch.kubernetes.io/controller-uid"}), "u");
    EXPECT_EQ(json::print(*job.find_path({"spec", "template", "metadata", "labels"})),
              R"({"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j","controller-uid":"u",)"
              R"("job-name":"j"})");
    json::Value manual = read(R"({"metadata":{"name":"j","uid":"u"},"spec":{"manualSelector":true,"template":{}}})");
    const json::Value as_it_was = manual;
    fill_identity(manual, *kinds().find("batch", "v1", "jobs"));
    EXPECT_EQ(manual, as_it_was);
}

TEST(Defaults, ChangesAreCountedWhereSomethingFollowsThem) {
    const auto counts = [](const Kind& of) {
        json::Value object = json::Object{{"metadata", json::Object{}}};
        prepare_for_create(object, of);
        return object.find_path({"metadata", "generation"}) != nullptr;
    };
    EXPECT_TRUE(counts(*kinds().find("apps", "v1", "deployments")));
    EXPECT_TRUE(counts(*kinds().find("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations")));
    EXPECT_FALSE(counts(*kinds().find("", "v1", "pods")));
    EXPECT_FALSE(counts(*kinds().find("", "v1", "services")));
    EXPECT_FALSE(counts(*kinds().find("", "v1", "configmaps")));
}

TEST(Defaults, WhatIsOfAnotherTypeStaysAsItIs) {
    const struct {
        std::string_view group;
        std::string_view plural;
        std::string_view document;
    } rows[] = {
        {"apps", "deployments", R"({"spec":{"strategy":"x"}})"},
        {"apps", "deployments", R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":7}}})"},
        {"apps", "statefulsets", R"({"spec":{"persistentVolumeClaimRetentionPolicy":[],"updateStrategy":true}})"},
        {"", "persistentvolumeclaims", R"({"spec":{},"status":"x"})"},
        {"", "namespaces", R"({"metadata":{"name":"n","labels":"x"},"spec":{"finalizers":"x"},"status":7})"},
        {"", "services", R"({"spec":{"sessionAffinity":"ClientIP","sessionAffinityConfig":"x"}})"},
        {"", "secrets", R"({"stringData":{"a":"b"},"data":"x"})"},
        {"", "limitranges", R"({"spec":{"limits":[{"type":"Container","max":{"cpu":"1"},"default":"x"}]}})"},
        {"", "pods", R"({"spec":{"containers":[{"resources":{"limits":{"cpu":"1"},"requests":"x"}}]}})"},
        {"batch", "jobs", R"({"metadata":"x","spec":{"template":{"metadata":{"labels":{"a":"b"}}}}})"},
        {"apiextensions.k8s.io", "customresourcedefinitions", R"({"spec":{"conversion":"x","names":"x"}})"},
    };
    for (const auto& row : rows) {
        const json::Value stored = read(row.document);
        json::Value object = stored;
        apply_defaults(object, *kinds().find(row.group, "v1", row.plural));
        for (const auto& member : *stored.if_object()) EXPECT_NE(object.find(member.key), nullptr) << row.document;
    }
}

}  // namespace
}  // namespace rhizome::cluster
