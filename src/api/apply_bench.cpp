// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <algorithm>
#include <vector>

#include <fmt/core.h>

#include "api/call.h"
#include "api/testing.h"
#include "base/ensure.h"
#include "support/bench.h"

namespace rhizome::api {
namespace {

/// A pod as people write them, about 2 KB: two containers with ports, environment, probes and limits.
std::string pod_text(std::string_view image) {
    std::string containers;
    for (const std::string_view name : {"web", "log"}) {
        std::string environment;
        for (int i = 0; i < 6; ++i)
            environment +=
                fmt::format(R"({}{{"name":"VARIABLE_{}","value":"some value of it"}})", i == 0 ? "" : ",", i);
        containers += fmt::format(
            R"({}{{"name":"{}","image":"{}","args":["--listen","0.0.0.0:80","--level","info"],)"
            R"("ports":[{{"name":"http-{}","containerPort":80}},{{"name":"more-{}","containerPort":81}}],"env":[{}],)"
            R"("resources":{{"limits":{{"cpu":"500m","memory":"128Mi"}},"requests":{{"cpu":"100m","memory":"64Mi"}}}},)"
            R"("livenessProbe":{{"httpGet":{{"path":"/healthz","port":80}},"initialDelaySeconds":3}},)"
            R"("volumeMounts":[{{"name":"data","mountPath":"/data"}},{{"name":"cache","mountPath":"/cache"}}]}})",
            containers.empty() ? "" : ",", name, image, name, name, environment);
    }
    return fmt::format(
        R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p","labels":{{"app":"web","tier":"front"}},)"
        R"("annotations":{{"example.com/note":"for people"}}}},"spec":{{"containers":[{}],)"
        R"("volumes":[{{"name":"data","emptyDir":{{}}}},{{"name":"cache","emptyDir":{{}}}}]}}}})",
        containers);
}

struct Scene {
    testing::World world;
    Call call{.verb = Verb::Patch};
    std::string bodies[2] = {pod_text("nginx:1"), pod_text("nginx:2")};

    Scene() {
        call.path = *parse_resource_path("/api/v1/namespaces/default/pods/p");
        call.kind = world.kinds.find("", "v1", "pods");
        call.query = Query{{{"fieldManager", "kubectl"}, {"force", "false"}, {"fieldValidation", "Strict"}}};
        call.media = "application/apply-patch+yaml";
        call.now = Time::from_unix_seconds(1'800'000'000);
        apply(0);
    }
    /// Creates or changes it, and keeps what was drafted.
    void apply(int which) {
        call.body = bodies[which];
        const auto planned = patch_verb(call, present(), {});
        ensure(planned.has_value() && std::holds_alternative<Draft>(*planned), "an apply of a pod changes it");
        world.put(json::print(*std::get<Draft>(*planned).object));
    }
    [[nodiscard]] Present present() const {
        return {.object = world.revisions.find(Layer::Chain, *state::Path::of("", "Pod", "default", "p"))};
    }
};

double thread_micros() {
    timespec spent{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return static_cast<double>(spent.tv_sec) * 1e6 + static_cast<double>(spent.tv_nsec) / 1e3;
}

/// Processor time of one apply, from the body to the document that is to be stored; the median of many.
double apply_micros(int which) {
    Scene scene;
    scene.call.body = scene.bodies[which];
    std::vector<double> taken;
    for (int round = 0; round < 400; ++round) {
        const Present present = scene.present();
        const double before = thread_micros();
        const auto planned = patch_verb(scene.call, present, {});
        if (planned && std::holds_alternative<Draft>(*planned))
            bench::keep(json::print(*std::get<Draft>(*planned).object).size());
        bench::keep(planned.has_value());
        taken.push_back(thread_micros() - before);
    }
    std::nth_element(taken.begin(), taken.begin() + 200, taken.end());
    return taken[200];
}

const bool registered = [] {
    bench::add_figure({.name = "api.apply_pod_changed",
                       .unit = "µs of processor time",
                       .measure = [] { return apply_micros(1); },
                       .required = 300,
                       .at_most = true});
    return bench::add_figure({.name = "api.apply_pod_unchanged",
                              .unit = "µs of processor time",
                              .measure = [] { return apply_micros(0); },
                              .required = 300,
                              .at_most = true});
}();

}  // namespace
}  // namespace rhizome::api
