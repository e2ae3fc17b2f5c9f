// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/kubectl_world.h"

/// Custom kinds with the real kubectl: tests/vectors/kubectl/custom-kinds.txt and custom-again.txt.
namespace rhizome::cli {
namespace {

class CustomKubectl : public test::KubectlWorld {};

constexpr const char* kCrontabs = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"crontabs.stable.example.com"},"spec":{"group":"stable.example.com","scope":"Namespaced",
"names":{"plural":"crontabs","singular":"crontab","kind":"CronTab","shortNames":["ct"],"categories":["all"]},
"versions":[{"name":"v1","served":true,"storage":true,
 "schema":{"openAPIV3Schema":{"type":"object","description":"When to do what.","properties":{
  "spec":{"type":"object","required":["cronSpec"],"properties":{
   "cronSpec":{"type":"string","description":"Five fields.","pattern":"^(\\d+|\\*)(/\\d+)?(\\s+(\\d+|\\*)(/\\d+)?){4}$"},
   "image":{"type":"string"},
   "replicas":{"type":"integer","minimum":1,"maximum":10,"default":1}}},
  "status":{"type":"object","properties":{"replicas":{"type":"integer"},"labelSelector":{"type":"string"}}}}}},
 "additionalPrinterColumns":[
  {"name":"Spec","type":"string","jsonPath":".spec.cronSpec"},
  {"name":"Replicas","type":"integer","jsonPath":".spec.replicas"},
  {"name":"Image","type":"string","jsonPath":".spec.image","priority":1},
  {"name":"Age","type":"date","jsonPath":".metadata.creationTimestamp"}],
 "selectableFields":[{"jsonPath":".spec.image"}],
 "subresources":{"status":{},"scale":{"specReplicasPath":".spec.replicas","statusReplicasPath":".status.replicas","labelSelectorPath":".status.labelSelector"}}},
 {"name":"v1beta1","served":true,"storage":false,"deprecated":true,
 "schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}})";

std::string crontab(const std::string& spec, const std::string& metadata = R"("name":"my-cron")") {
    return R"({"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{)" + metadata + R"(},"spec":)" + spec +
           "}";
}

TEST_F(CustomKubectl, IsServedByOneNode) {
    found("n1");
    const std::string good = crontab(R"({"cronSpec":"* * * * */5","image":"busybox"})");
    say({"get", "crontabs"});
    say({"create", "-f", "-"}, kCrontabs);
    say({"wait", "--for=condition=established", "crd/crontabs.stable.example.com", "--timeout=10s"});
    say({"get", "crd"});
    say({"api-resources", "--api-group=stable.example.com"});
    say({"api-resources", "--api-group=stable.example.com", "--categories=all", "-o", "name"});
    say({"get", "crontabs"});
    say({"create", "-f", "-"}, crontab(R"({"cronSpec":"often","replicas":"two"})"));
    say({"create", "-f", "-"}, crontab(R"({"cronSpec":"* * * * *","bogus":1})"));
    say({"create", "-f", "-", "--validate=ignore"},
        crontab(R"({"cronSpec":"* * * * *","bogus":1})", R"("name":"other")"));
    say({"apply", "-f", "-"}, good);
    say({"apply", "-f", "-"}, good);
    say({"get", "ct"});
    say({"get", "crontab/my-cron", "-o", "wide"});
    say({"get", "crontabs.v1.stable.example.com", "-o", "name"});
    say({"get", "ct", "--field-selector", "spec.image=busybox", "-o", "name"});
    say({"get", "ct", "my-cron", "-o", "jsonpath={.spec}"});
    say({"apply", "-f", "-"}, crontab(R"({"cronSpec":"* * * * */7","image":"busybox"})"));
    say({"describe", "ct", "my-cron"});
    say({"explain", "crontabs"});
    say({"explain", "crontab.spec.cronSpec"});
    say({"patch", "ct", "my-cron", "-p", R"({"spec":{"image":"alpine"}})"});
    say({"patch", "ct", "my-cron", "--type=merge", "-p", R"({"spec":{"image":"alpine"}})"});
    say({"patch", "ct", "my-cron", "--type=merge", "-p", R"({"spec":{"replicas":11}})"});
    say({"patch", "ct", "my-cron", "--subresource=status", "--type=merge", "-p", R"({"status":{"replicas":2}})"});
    say({"scale", "ct", "my-cron", "--replicas=3"});
    say({"get", "ct", "my-cron", "-o", "jsonpath={.spec.replicas}/{.status.replicas}/{.metadata.generation}"});
    say({"label", "ct", "my-cron", "a=b"});
    say({"annotate", "ct", "--all", "note=x"});
    say({"get", "ct", "-l", "a=b", "-o", "name"});
    say({"get", "crontabs.v1beta1.stable.example.com", "my-cron", "-o", "jsonpath={.apiVersion}"});
    say({"get", "all"});
    say({"delete", "ct", "other"});
    say({"delete", "crd", "crontabs.stable.example.com"});
    say({"get", "crontabs"});
    say({"get", "crd"});
    test::expect_golden("kubectl/custom-kinds.txt", transcript_);
}

/// A cluster-scoped kind and a namespaced one of the same name.
std::string example(const std::string& scope) {
    return R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"examples.test.com"},
"spec":{"group":"test.com","scope":")" +
           scope + R"(","names":{"plural":"examples","singular":"example","kind":"Example"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
 "spec":{"type":"object","properties":{"test":{"type":"string"}}}}}}}]}})";
}

TEST_F(CustomKubectl, ComesBackInAnotherScope) {
    found("n1");
    const std::string one =
        R"({"apiVersion":"test.com/v1","kind":"Example","metadata":{"name":"one"},"spec":{"test":"a"}})";
    say({"apply", "-f", "-"}, example("Cluster"));
    say({"apply", "-f", "-"}, one);
    say({"get", "examples"});
    say({"delete", "-f", "-"}, example("Cluster"));
    say({"api-resources", "--api-group=test.com"});
    say({"apply", "-f", "-"}, example("Namespaced"));
    say({"get", "examples"});
    say({"apply", "-f", "-"}, one);
    say({"apply", "--server-side", "--field-manager=mine", "-f", "-"}, one);
    say({"get", "example", "one", "-o", "jsonpath={.metadata.namespace}/{.spec.test}"});
    // Held by a finalizer: the definition stays until it is let go.
    say({"patch", "example", "one", "--type=merge", "-p", R"({"metadata":{"finalizers":["test.com/hold"]}})"});
    say({"delete", "crd", "examples.test.com", "--wait=false"});
    say({"get", "crd", "examples.test.com", "-o",
         "jsonpath={.metadata.finalizers}/{.status.conditions[?(@.type==\"Terminating\")].status}"});
    say({"create", "-f", "-"}, R"({"apiVersion":"test.com/v1","kind":"Example","metadata":{"name":"two"}})");
    say({"patch", "example", "one", "--type=merge", "-p", R"({"metadata":{"finalizers":null}})"});
    say({"wait", "--for=delete", "crd/examples.test.com", "--timeout=30s"});
    say({"get", "crd"});
    test::expect_golden("kubectl/custom-again.txt", transcript_);
}

}  // namespace
}  // namespace rhizome::cli
