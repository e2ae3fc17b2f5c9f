// SPDX-License-Identifier: Apache-2.0
#include "cluster/validate.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "cluster/decode.h"
#include "cluster/defaults.h"
#include "cluster/detail/rules.h"
#include "cluster/testing.h"
#include "support/read_json.h"

namespace rhizome::cluster {
namespace {

using test::read;
using testing::kind;
using testing::kinds;

json::Value admitted(std::string_view text, const Kind& about) {
    auto decoded = decode(read(text), about, FieldValidation::Strict);
    if (!decoded) ADD_FAILURE() << text << ": " << decoded.error().message;
    if (!decoded) return {};
    json::Value object = std::move(decoded->object);
    json::Value& metadata = object["metadata"];
    if (metadata.find("name") == nullptr) metadata["name"] = "x";
    if (about.namespaced) metadata["namespace"] = "d";
    apply_defaults(object, about);
    return object;
}

constexpr std::string_view kPod = R"("spec":{"containers":[{"name":"a","image":"b"}])";

TEST(Validate, FindsWhatUsersMeet) {
    const struct {
        std::string_view group;
        std::string_view plural;
        std::string document;
        std::vector<std::string_view> errors;  // beginnings of their texts
    } rows[] = {
        {"", "pods", fmt::format("{{{}}}}}", kPod), {}},
        {"", "pods", R"({"spec":{}})", {"spec.containers: Required value"}},
        {"",
         "pods",
         R"({"spec":{"containers":[{"image":"b"},{"name":"A"}]}})",
         {"spec.containers[0].name: Required value",
          "spec.containers[1].name: Invalid value: \"A\": a lowercase RFC 1123 label",
          "spec.containers[1].image: Required value"}},
        {"",
         "pods",
         R"({"spec":{"containers":[{"name":"a","image":"b"},{"name":"a","image":"b"}]}})",
         {"spec.containers[1].name: Duplicate value: \"a\""}},
        {"",
         "pods",
         fmt::format(R"({{{},"restartPolicy":"Sometimes"}}}})", kPod),
         {"spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"Never\", "
          "\"OnFailure\""}},
        {"",
         "pods",
         R"({"spec":{"containers":[{"name":"a","image":"b","volumeMounts":[{"name":"v","mountPath":"/x"}]}]}})",
         {"spec.containers[0].volumeMounts[0].name: Not found: \"v\""}},
        {"",
         "pods",
         R"({"spec":{"containers":[{"name":"a","image":"b","resources":{"requests":{"cpu":"2"},"limits":{"cpu":"1"}}}]}})",
         {"spec.containers[0].resources.requests: Invalid value: \"2\": must be less than or equal to cpu limit of 1"}},
        {"",
         "pods",
         R"({"spec":{"containers":[{"name":"a","image":"b","ports":[{"containerPort":70000}]}]}})",
         {"spec.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive"}},
        {"",
         "pods",
         R"({"spec":{"containers":[{"name":"a","image":"b","livenessProbe":{"periodSeconds":-1}}]}})",
         {"spec.containers[0].livenessProbe: Required value: must specify a handler type",
          "spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1"}},
        {"",
         "pods",
         R"({"spec":{"volumes":[{"name":"v","emptyDir":{},"hostPath":{"path":"/"}}],"containers":[{"name":"a","image":"b"}]}})",
         {"spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type"}},
        {"apps",
         "deployments",
         R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}})",
         {}},
        {"apps",
         "deployments",
         R"({"spec":{"replicas":-1,"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}}})",
         {"spec.replicas: Invalid value: -1: must be greater than or equal to 0", "spec.selector: Required value"}},
        {"apps",
         "deployments",
         R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}})",
         {"spec.template.metadata.labels: Invalid value: {\"a\":\"c\"}: `selector` does not match template `labels`"}},
        {"apps",
         "deployments",
         R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}})",
         {"spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""}},
        {"apps",
         "statefulsets",
         R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"volumeClaimTemplates":[{"metadata":{"name":"v"}}],"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b","volumeMounts":[{"name":"v","mountPath":"/x"}]}]}}}})",
         {}},
        {"batch",
         "jobs",
         R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"b"}]}}}})",
         {"spec.template.spec.restartPolicy: Unsupported value: \"Always\": supported values: \"Never\", "
          "\"OnFailure\""}},
        {"batch",
         "cronjobs",
         R"({"spec":{"schedule":"every day","jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"a","image":"b"}]}}}}}})",
         {"spec.schedule: Invalid value: \"every day\""}},
        {"",
         "services",
         R"({"spec":{"ports":[{"port":80},{"port":80}]}})",
         {"spec.ports[0].name: Required value", "spec.ports[1].name: Required value",
          "spec.ports[1]: Duplicate value"}},
        {"", "services", R"({"spec":{}})", {"spec.ports: Required value"}},
        {"", "services", R"({"spec":{"clusterIP":"None"}})", {}},
        {"",
         "services",
         R"({"spec":{"ports":[{"port":0}],"clusterIP":"nonsense"}})",
         {"spec.ports[0].port: Invalid value: 0", "spec.ports[0].targetPort: Invalid value: 0",
          "spec.clusterIP: Invalid value: \"nonsense\""}},
        {"", "configmaps", R"({"data":{"a b":"c"}})", {"data[a b]: Invalid value: \"a b\": a valid config key"}},
        {"",
         "secrets",
         R"({"type":"kubernetes.io/tls"})",
         {"data[tls.crt]: Required value", "data[tls.key]: Required value"}},
        {"",
         "persistentvolumeclaims",
         R"({"spec":{}})",
         {"spec.accessModes: Required value: at least 1 access mode is required",
          "spec.resources.requests[storage]: Required value"}},
        {"",
         "resourcequotas",
         R"({"spec":{"hard":{"cpu":"-1"}}})",
         {"spec.hard[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"}},
        {"networking.k8s.io",
         "ingresses",
         R"({"spec":{}})",
         {"spec: Invalid value: {}: either `defaultBackend` or `rules` must be specified"}},
        {"networking.k8s.io",
         "ingresses",
         R"({"spec":{"rules":[{"host":"1.2.3.4","http":{"paths":[{"path":"x","pathType":"Prefix","backend":{"service":{"name":"s"}}}]}}]}})",
         {"spec.rules[0].host: Invalid value: \"1.2.3.4\": must be a DNS name, not an IP address",
          "spec.rules[0].http.paths[0].path: Invalid value: \"x\": must be an absolute path",
          "spec.rules[0].http.paths[0].backend.service: Required value: port name or number is required"}},
        {"networking.k8s.io",
         "networkpolicies",
         R"({"spec":{"podSelector":{},"ingress":[{"from":[{"ipBlock":{"cidr":"x"}}]}]}})",
         {"spec.ingress[0].from[0].ipBlock.cidr: Invalid value: \"x\": must be a valid CIDR value"}},
        {"rbac.authorization.k8s.io",
         "roles",
         R"({"rules":[{"apiGroups":[""],"resources":["pods"]}]})",
         {"rules[0].verbs: Required value: verbs must contain at least one value"}},
        {"rbac.authorization.k8s.io",
         "rolebindings",
         R"({"roleRef":{"kind":"Thing","name":"x"}})",
         {"roleRef.kind: Unsupported value: \"Thing\": supported values: \"ClusterRole\", \"Role\""}},
        {"policy",
         "poddisruptionbudgets",
         R"({"spec":{"minAvailable":1,"maxUnavailable":"x"}})",
         {"spec: Invalid value: ", "spec.maxUnavailable: Invalid value: \"x\": a valid percent string"}},
        {"autoscaling",
         "horizontalpodautoscalers",
         R"({"spec":{"minReplicas":5,"maxReplicas":3,"scaleTargetRef":{"kind":"D","name":"n"}}})",
         {"spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`"}},
        {"scheduling.k8s.io",
         "priorityclasses",
         R"({"value":2000000000})",
         {"value: Forbidden: maximum allowed value"}},
        {"storage.k8s.io",
         "storageclasses",
         R"({"reclaimPolicy":"Keep"})",
         {"provisioner: Required value", "reclaimPolicy: Unsupported value: \"Keep\""}},
        {"apiextensions.k8s.io",
         "customresourcedefinitions",
         R"({"metadata":{"name":"wrong"},"spec":{"group":"e.com","scope":"Namespaced","names":{"plural":"ws","kind":"W"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}})",
         {"metadata.name: Invalid value: \"wrong\": must be spec.names.plural+\".\"+spec.group"}},
    };
    for (const auto& row : rows) {
        const Kind& about = kind(row.group, row.plural);
        const FieldErrors errors = validate_create(admitted(row.document, about), about);
        EXPECT_EQ(errors.size(), row.errors.size()) << row.plural << ' ' << row.document << ' ' << text(errors);
        if (errors.size() != row.errors.size()) continue;
        for (std::size_t i = 0; i < errors.size(); ++i)
            EXPECT_TRUE(errors[i].text().starts_with(row.errors[i])) << errors[i].text();
    }
}

TEST(Validate, KeepsWhatMayNotChange) {
    const struct {
        std::string_view group;
        std::string_view plural;
        std::string_view before;
        std::string_view after;
        std::string_view error;  // empty: allowed
    } rows[] = {
        {"apps", "deployments",
         R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}})",
         R"({"spec":{"selector":{"matchLabels":{"a":"c"}},"template":{"metadata":{"labels":{"a":"c"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}})",
         R"(spec.selector: Invalid value: {"matchLabels":{"a":"c"}}: field is immutable)"},
        {"apps", "deployments",
         R"({"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"b"}]}}}})",
         R"({"spec":{"replicas":7,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"a","image":"c"}]}}}})",
         ""},
        {"", "pods", R"({"spec":{"containers":[{"name":"a","image":"b:1"}]}})",
         R"({"spec":{"containers":[{"name":"a","image":"c:1"}]}})", ""},
        {"", "pods", R"({"spec":{"containers":[{"name":"a","image":"b"}]}})",
         R"({"spec":{"nodeName":"n","containers":[{"name":"a","image":"b"}]}})",
         "spec: Forbidden: pod updates may not change fields other than"},
        {"", "configmaps", R"({"immutable":true,"data":{"a":"1"}})", R"({"immutable":true,"data":{"a":"2"}})",
         "data: Forbidden: field is immutable when `immutable` is set"},
        {"", "configmaps", R"({"data":{"a":"1"}})", R"({"data":{"a":"2"}})", ""},
        {"", "secrets", R"({"type":"Opaque"})", R"({"type":"other"})",
         R"(type: Invalid value: "other": field is immutable)"},
        {"rbac.authorization.k8s.io", "rolebindings", R"({"roleRef":{"kind":"Role","name":"x"}})",
         R"({"roleRef":{"kind":"Role","name":"y"}})", "roleRef: Invalid value: "},
        {"", "services", R"({"spec":{"clusterIP":"10.0.0.1","ports":[{"port":80}]}})",
         R"({"spec":{"clusterIP":"10.0.0.2","ports":[{"port":80}]}})",
         R"(spec.clusterIPs[0]: Invalid value: "10.0.0.2": may not change once set)"},
        // A fault that was there before does not keep anybody from changing something else.
        {"", "services", R"({"spec":{}})", R"({"spec":{"sessionAffinity":"ClientIP"}})", ""},
    };
    for (const auto& row : rows) {
        const Kind& about = kind(row.group, row.plural);
        const FieldErrors errors = validate_update(admitted(row.after, about), admitted(row.before, about), about);
        if (row.error.empty()) {
            EXPECT_TRUE(errors.empty()) << row.after << ' ' << text(errors);
        } else {
            ASSERT_EQ(errors.size(), 1u) << row.after << ' ' << text(errors);
            EXPECT_TRUE(errors[0].text().starts_with(row.error)) << errors[0].text();
        }
    }
}

TEST(Validate, KnowsSchedules) {
    for (const char* good :
         {"* * * * *", "*/5 * * * *", "0 0 1 1 0", "1,2,3 4-6 * jan-mar MON", "@daily", "0 12 ? * 1-5/2"})
        EXPECT_TRUE(detail::is_cron_schedule(good)) << good;
    for (const char* bad : {"", "* * * *", "* * * * * *", "60 * * * *", "* 24 * * *", "* * 0 * *", "* * * 13 *",
                            "*/0 * * * *", "a * * * *", "5-1 * * * *", "@sometimes", "1, * * * *"})
        EXPECT_FALSE(detail::is_cron_schedule(bad)) << bad;
}

/// Rules never stop at a document that says nothing or something odd.
TEST(Validate, TakesEveryDocument) {
    for (const auto& about : kinds().all())
        for (const char* odd :
             {"{}", "null", R"({"spec":{}})", R"({"spec":7,"data":[],"rules":[{}],"metadata":{"name":"a"}})",
              R"({"spec":{"template":{},"containers":[{}],"ports":[{}],"rules":[{}],"versions":[{}]}})"}) {
            (void)validate_create(read(odd), *about);
            (void)validate_update(read(odd), read("{}"), *about);
        }
}

TEST(Validate, AnImageThatIsNoTextIsNotLookedInto) {
    for (const char* image : {"1", R"("")", "[]", "{}", "null", "true"}) {
        json::Value pod = read(R"({"metadata":{"name":"x","namespace":"d"},"spec":{"containers":[{"name":"a"}]}})");
        (*pod.find("spec")->find("containers")->if_array())[0]["image"] = read(image);
        (void)validate_update(pod, pod, kind("", "pods"));
    }
}

TEST(Validate, ManyOldFaultsHideNoNewOne) {
    const auto map = [](int count) {
        json::Value object = read(R"({"metadata":{"name":"x","namespace":"d"},"data":{}})");
        for (int i = 0; i < count; ++i) object["data"]["a b " + std::to_string(i)] = "x";
        return object;
    };
    EXPECT_TRUE(validate_update(map(50'000), map(50'000), kind("", "configmaps")).empty());
    EXPECT_FALSE(validate_update(map(1001), map(1000), kind("", "configmaps")).empty());
    EXPECT_FALSE(validate_update(map(2), map(1), kind("", "configmaps")).empty());
}

TEST(Validate, ThePodsOfAStatefulSetHaveItsClaimsAsVolumes) {
    std::string mounts;
    for (int i = 0; i < 600; ++i)
        mounts += fmt::format(R"({}{{"name":"claim","mountPath":"/{}"}})", i == 0 ? "" : ",", i);
    const auto set = [&](std::string_view claim) {
        return admitted(fmt::format(R"({{"spec":{{"serviceName":"s","selector":{{"matchLabels":{{"a":"b"}}}},
            "volumeClaimTemplates":[{{"metadata":{{"name":"{}"}}}}],"template":{{"metadata":{{"labels":{{"a":"b"}}}},
            "spec":{{"containers":[{{"name":"c","image":"i","volumeMounts":[{}]}}]}}}}}}}})",
                                    claim, mounts),
                        kind("apps", "statefulsets"));
    };
    EXPECT_EQ(text(validate_create(set("claim"), kind("apps", "statefulsets"))), "[]");
    EXPECT_FALSE(validate_create(set("other"), kind("apps", "statefulsets")).empty());
}

}  // namespace
}  // namespace rhizome::cluster
