// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/kubectl_world.h"

namespace rhizome::cli {
namespace {

class NodesKubectl : public test::KubectlWorld {};

constexpr const char* kPod = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p1","labels":{"app":"LABEL"}},
"spec":{"containers":[{"name":"main","image":"busybox"}]}})";

std::string pod(const std::string& label) { return std::regex_replace(std::string{kPod}, std::regex{"LABEL"}, label); }

TEST_F(NodesKubectl, AsOneNodeAnswersIt) {
    found("n1");
    say({"get", "namespaces"});
    say({"get", "nodes"});
    say({"create", "namespace", "web"});
    say({"create", "namespace", "web"});
    say({"create", "configmap", "cfg", "--from-literal=a=1"});
    say({"get", "configmap", "cfg", "-o", "jsonpath={.data.a}"});
    say({"create", "secret", "generic", "s1", "--from-literal=k=v"});
    say({"get", "secret", "s1"});
    say({"create", "serviceaccount", "robot"});
    say({"create", "deployment", "web", "--image=nginx", "--replicas=2"});
    say({"get", "deployments"});
    say({"get", "deployments", "-o", "wide"});
    say({"scale", "deployment", "web", "--replicas=5"});
    say({"get", "deployment", "web", "-o", "jsonpath={.spec.replicas}/{.metadata.generation}"});
    say({"set", "image", "deployment/web", "nginx=nginx:2"});
    say({"rollout", "pause", "deployment/web"});
    say({"expose", "deployment", "web", "--port=80"});
    say({"autoscale", "deployment", "web", "--min=1", "--max=3"});
    say({"create", "job", "j1", "--image=busybox"});
    say({"create", "cronjob", "cj", "--image=busybox", "--schedule=* * * * *"});
    say({"create", "role", "r1", "--verb=get", "--resource=pods"});
    say({"create", "rolebinding", "rb1", "--role=r1", "--user=u"});
    say({"create", "clusterrole", "cr1", "--verb=get", "--resource=pods"});
    say({"create", "quota", "q1", "--hard=pods=2"});
    say({"create", "poddisruptionbudget", "b1", "--selector=app=web", "--min-available=1"});
    say({"create", "priorityclass", "pc1", "--value=10"});
    say({"create", "ingress", "i1", "--rule=h/p=web:80"});
    say({"run", "r1", "--image=busybox"});
    say({"apply", "-f", "-"}, pod("one"));
    say({"apply", "-f", "-"}, pod("one"));
    say({"apply", "-f", "-"}, pod("two"));
    say({"get", "pods", "--show-labels"});
    say({"get", "pods", "-l", "app=two", "-o", "name"});
    say({"get", "pods", "--field-selector", "metadata.name=p1", "-o", "name"});
    say({"get", "pods", "-A"});
    say({"get", "pod", "p1", "-o", "custom-columns=N:.metadata.name,I:.spec.containers[0].image"});
    say({"get", "pods", "--chunk-size=1", "-o", "name"});
    say({"label", "pod", "p1", "x=y"});
    say({"annotate", "pod", "p1", "note=hello"});
    say({"patch", "pod", "p1", "-p", R"({"metadata":{"labels":{"a":"b"}}})"});
    say({"patch", "pod", "p1", "--type=json", "-p", R"([{"op":"remove","path":"/metadata/labels/a"}])"});
    say({"patch", "pod", "p1", "--type=merge", "-p", R"({"metadata":{"labels":{"x":null}}})"});
    say({"get", "pod", "p1", "-o", "jsonpath={.metadata.labels}"});
    say({"create", "-f", "-"}, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"bogus":1})");
    say({"create", "configmap", "dry", "--dry-run=server"});
    say({"get", "configmap", "dry"});
    say({"get", "pods", "nope"});
    say({"get", "pods", "nope", "--ignore-not-found"});
    say({"get", "bogus"});
    say({"cordon", "n1"});
    say({"get", "nodes"});
    say({"uncordon", "n1"});
    say({"taint", "nodes", "n1", "k=v:NoSchedule"});
    say({"auth", "whoami"});
    say({"auth", "can-i", "create", "pods"});
    say({"auth", "whoami", "--as", "eve", "--as-group", "dev"});
    say({"create", "configmap", "evil", "--as", "eve"});
    say({"wait", "--for=jsonpath={.metadata.name}=p1", "pod/p1", "--timeout=10s"});
    say({"explain", "pod.spec.nodeName"});
    say({"get", "--raw", "/healthz"});
    say({"get", "all"});
    say({"delete", "pod", "p1", "--now"});
    say({"delete", "pods", "--all"});
    say({"delete", "deployment", "web"});
    say({"delete", "configmap", "cfg", "--dry-run=server"});
    say({"delete", "configmap", "cfg"});
    say({"delete", "configmap", "cfg"});
    say({"delete", "namespace", "web"});
    say({"get", "namespaces"});
    test::expect_golden("kubectl/one-node.txt", transcript_);
}

TEST_F(NodesKubectl, SurvivesTwoOfThreeMachines) {
    found("n1");
    join("n2", "n1");
    join("n3", "n1");
    say({"config", "use-context", "n1"});
    say({"create", "configmap", "before", "--from-literal=a=1"});
    // A machine that knows the cluster shows it as soon as it has heard of it.
    say({"--context", "n2", "wait", "--for=create", "configmap/before", "--timeout=60s"});
    say({"--context", "n3", "wait", "--for=create", "configmap/before", "--timeout=60s"});
    say({"--context", "n2", "get", "nodes", "-o", "name"});
    kill_node("n2");
    kill_node("n3");
    say({"create", "configmap", "after", "--from-literal=a=2"});
    say({"get", "configmap", "after", "-o", "jsonpath={.data.a}"});
    say({"patch", "configmap", "before", "-p", R"({"data":{"a":"3"}})"});
    say({"get", "configmaps"});
    say({"delete", "configmap", "before"});
    say({"get", "configmaps", "-o", "name"});
    test::expect_golden("kubectl/two-of-three-gone.txt", transcript_);
}

}  // namespace
}  // namespace rhizome::cli
