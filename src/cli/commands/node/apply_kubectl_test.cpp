// SPDX-License-Identifier: Apache-2.0
// Server-side apply as kubectl performs it: conflicts, force, the way from client-side apply, diff both ways.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/kubectl_world.h"

namespace rhizome::cli {
namespace {

class ApplyKubectl : public test::KubectlWorld {
protected:
    static std::string map(std::string_view data, std::string_view name = "cfg") {
        return fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}"}},"data":{}}})", name,
                           data);
    }
    /// What kubectl shows of who owns what. Entries stand in the order of their times, which count seconds.
    void say_owners(const std::string& what) {
        say_sorted(
            {"get", what, "--show-managed-fields", "-o",
             R"(jsonpath={range .metadata.managedFields[*]}{.manager} {.operation} {.apiVersion} {.subresource} )"
             R"({.fieldsV1}{"\n"}{end})"});
    }
    void say_data() { say({"get", "configmap", "cfg", "-o", "jsonpath={.data}"}); }
};

TEST_F(ApplyKubectl, OnTheServer) {
    found("n1");
    const std::vector<std::string> apply{"apply", "--server-side", "-f", "-"};
    const auto with = [&](std::vector<std::string> more) {
        std::vector<std::string> words = apply;
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    say(apply, map(R"({"a":"1","b":"1"})"));
    say(apply, map(R"({"a":"1","b":"1"})"));
    say_owners("configmap/cfg");
    say(with({"--field-manager=other"}), map(R"({"a":"2"})"));
    say(with({"--field-manager=other"}), map(R"({"a":"2","b":"2"})"));
    say(with({"--field-manager=other", "--force-conflicts"}), map(R"({"a":"2","c":"3"})"));
    say_owners("configmap/cfg");
    say(apply, "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: cfg\ndata: {}\n");
    say_data();
    say(with({"--field-manager=other", "--dry-run=server", "-o", "jsonpath={.data}"}), map(R"({"a":"9"})"));
    say_data();
    say({"apply", "--server-side", "--dry-run=server", "-f", "-"}, map("{}", "dry"));
    say({"get", "configmap", "dry"});
    say(apply, R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"dta":{}})");
    say(with({"--validate=false"}), R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"dta":{}})");
    // What others write has owners too.
    say({"label", "configmap", "cfg", "l=1"});
    say({"annotate", "configmap", "cfg", "n=1"});
    say({"patch", "configmap", "cfg", "--type=merge", "-p", R"({"data":{"p":"1"}})"});
    say_owners("configmap/cfg");
    say({"patch", "configmap", "cfg", "--type=merge", "-p", R"({"metadata":{"managedFields":[{}]}})"});
    say_owners("configmap/cfg");
    say(apply, map(R"({"a":"3"})"));
    say_owners("configmap/cfg");
    test::expect_golden("kubectl/apply-on-the-server.txt", transcript_);
}

TEST_F(ApplyKubectl, ListsAndSubresources) {
    found("n1");
    const auto deployment = [](std::string_view spec) {
        return fmt::format(
            R"({{"apiVersion":"apps/v1","kind":"Deployment","metadata":{{"name":"web"}},"spec":{{{}}}}})", spec);
    };
    constexpr std::string_view kWhole =
        R"("replicas":2,"selector":{"matchLabels":{"app":"web"}},"template":{"metadata":{"labels":{"app":"web"}},)"
        R"("spec":{"containers":[{"name":"c","image":"nginx","ports":[{"containerPort":80}]}]}})";
    say({"apply", "--server-side", "-f", "-"}, deployment(kWhole));
    say({"apply", "--server-side", "-f", "-"}, deployment(kWhole));
    say({"apply", "--server-side", "--field-manager=ports", "-f", "-"},
        deployment(R"("template":{"spec":{"containers":[{"name":"c","ports":[{"containerPort":80,"name":"http"},)"
                   R"({"containerPort":443,"name":"https"}]},{"name":"side","image":"busybox"}]}})"));
    say({"get", "deployment", "web", "-o", "jsonpath={.spec.template.spec.containers[*].ports}"});
    say({"scale", "deployment", "web", "--replicas=3"});
    say_owners("deployment/web");
    say({"apply", "--server-side", "-f", "-"}, deployment(kWhole));
    say({"apply", "--server-side", "--field-manager=ports", "-f", "-"}, deployment(""));
    say({"get", "deployment", "web", "-o",
         "jsonpath={.spec.replicas} {.spec.template.spec.containers[*].name} "
         "{.spec.template.spec.containers[*].ports}"});
    say({"set", "image", "deployment/web", "c=nginx:2"});
    say({"apply", "--server-side", "-f", "-"}, deployment(kWhole));
    say({"apply", "--server-side", "--force-conflicts", "-f", "-"}, deployment(kWhole));
    say({"get", "deployment", "web", "-o", "jsonpath={.spec.replicas} {.spec.template.spec.containers[*].image}"});
    test::expect_golden("kubectl/apply-lists.txt", transcript_);
}

TEST_F(ApplyKubectl, CustomKinds) {
    found("n1");
    say({"apply", "--server-side", "-f", "-"}, R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gardens.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gardens, singular: garden, kind: Garden}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, default: 3}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              beds:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [row, side]
                items:
                  type: object
                  required: [row]
                  properties: {row: {type: integer}, side: {type: string, default: left}, plant: {type: string}}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)");
    say({"wait", "--for=condition=established", "crd/gardens.example.com", "--timeout=10s"});
    const auto garden = [](std::string_view spec) {
        return fmt::format(R"({{"apiVersion":"example.com/v1","kind":"Garden","metadata":{{"name":"g"}},"spec":{}}})",
                           spec);
    };
    const auto say_spec = [&] { say({"get", "garden", "g", "-o", "jsonpath={.spec}"}); };
    say({"apply", "--server-side", "-f", "-"},
        garden(R"({"tags":["a"],"beds":[{"row":1,"plant":"rose"}],"any":{"x":{"y":1},"list":[1]}})"));
    say({"apply", "--server-side", "--field-manager=other", "-f", "-"},
        garden(R"({"tags":["b"],"beds":[{"row":1,"side":"right","plant":"mint"}],"any":{"x":{"z":1}}})"));
    say_spec();
    say_owners("garden/g");
    say({"apply", "--server-side", "--field-manager=other", "-f", "-"},
        garden(R"({"beds":[{"row":1,"side":"left","plant":"mint"}],"any":{"x":{"y":2},"list":[2]}})"));
    say({"apply", "--server-side", "-f", "-"}, garden(R"({"beds":[{"plant":"x"}]})"));
    say({"apply", "--server-side", "-f", "-"}, garden(R"({"bogus":1})"));
    say({"apply", "--server-side", "-f", "-"}, garden(R"({"size":5})"));
    say_spec();
    say({"diff", "--server-side", "-f", "-"}, garden(R"({"size":5})"));
    say({"diff", "--server-side", "-f", "-"}, garden(R"({"size":6})"));
    test::expect_golden("kubectl/apply-custom.txt", transcript_);
}

TEST_F(ApplyKubectl, MovesFromTheClientToTheServer) {
    found("n1");
    say({"apply", "-f", "-"}, map(R"({"a":"1","b":"1"})"));
    say_owners("configmap/cfg");
    say({"apply", "view-last-applied", "configmap", "cfg"});
    say({"diff", "-f", "-"}, map(R"({"a":"1","b":"1"})"));
    say({"diff", "-f", "-"}, map(R"({"a":"2"})"));
    say({"diff", "--server-side", "-f", "-"}, map(R"({"a":"1","b":"1"})"));
    say({"diff", "--server-side", "-f", "-"}, map(R"({"a":"2","b":"1"})"));
    say({"diff", "-f", "-"}, map("{}", "new"));
    say_data();
    // Another name of the manager finds kubectl's own fields in its way.
    say({"apply", "--server-side", "--field-manager=other", "-f", "-"}, map(R"({"a":"2","b":"1"})"));
    say({"apply", "--server-side", "-f", "-"}, map(R"({"a":"2","b":"1"})"));
    say_owners("configmap/cfg");
    say({"apply", "view-last-applied", "configmap", "cfg"});
    // What it applied as a client and leaves out now goes.
    say({"apply", "--server-side", "-f", "-"}, map(R"({"a":"2"})"));
    say_data();
    say({"apply", "view-last-applied", "configmap", "cfg"});
    // And back again.
    say({"apply", "-f", "-"}, map(R"({"a":"3","c":"1"})"));
    say_data();
    say({"apply", "set-last-applied", "-f", "-"}, map(R"({"a":"4"})"));
    say({"apply", "view-last-applied", "configmap", "cfg"});
    editor_ = "sed -i s/\"4\"/\"5\"/";
    say({"apply", "edit-last-applied", "configmap/cfg", "-o", "json"});
    say({"apply", "view-last-applied", "configmap", "cfg"});
    say_data();
    test::expect_golden("kubectl/apply-migration.txt", transcript_);
}

}  // namespace
}  // namespace rhizome::cli
