// SPDX-License-Identifier: Apache-2.0
#include <boost/json.hpp>

#include "base/ensure.h"
#include "base/json.h"
#include "support/bench.h"

namespace rhizome {
namespace {

/// A pod as `kubectl get -o json` receives it from an API server: compact, about 2 KB.
constexpr std::string_view kPod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"annotations":{"prometheus.io/scrape":"true","prometheus.io/port":"9100"},)"
    R"("creationTimestamp":"2026-03-01T10:15:30Z","generateName":"web-6d4cf56db6-","labels":{"app":"web",)"
    R"("pod-template-hash":"6d4cf56db6","tier":"frontend"},"name":"web-6d4cf56db6-x2v9k","namespace":"shop",)"
    R"("ownerReferences":[{"apiVersion":"apps/v1","blockOwnerDeletion":true,"controller":true,"kind":"ReplicaSet",)"
    R"("name":"web-6d4cf56db6","uid":"0c0b6ff2-52a2-4fc9-a9c2-1f53bbba53b1"}],"resourceVersion":"184467",)"
    R"("uid":"7f3a1f0e-9d0c-4a3d-8c9e-56d5bdf0a6b2"},"spec":{"containers":[{"args":["--listen=:8080","--log=info"],)"
    R"("env":[{"name":"DATABASE_URL","valueFrom":{"secretKeyRef":{"key":"url","name":"web-database"}}},)"
    R"({"name":"GREETING","value":"Gr\u00fc\u00dfe, \"world\"\n"}],"image":"registry.example.org/shop/web:1.4.2",)"
    R"("imagePullPolicy":"IfNotPresent","livenessProbe":{"failureThreshold":3,"httpGet":{"path":"/healthz","port":8080,)"
    R"("scheme":"HTTP"},"initialDelaySeconds":5,"periodSeconds":10,"successThreshold":1,"timeoutSeconds":1},"name":"web",)"
    R"("ports":[{"containerPort":8080,"name":"http","protocol":"TCP"}],"resources":{"limits":{"cpu":"500m",)"
    R"("memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},"volumeMounts":[{"mountPath":"/etc/web",)"
    R"("name":"config","readOnly":true}]}],"dnsPolicy":"ClusterFirst","nodeName":"node-17","restartPolicy":"Always",)"
    R"("schedulerName":"default-scheduler","securityContext":{"runAsUser":1000},"serviceAccountName":"web",)"
    R"("terminationGracePeriodSeconds":30,"tolerations":[{"effect":"NoExecute","key":"node.kubernetes.io/not-ready",)"
    R"("operator":"Exists","tolerationSeconds":300}],"volumes":[{"configMap":{"defaultMode":420,"name":"web-config"},)"
    R"("name":"config"}]},"status":{"conditions":[{"lastTransitionTime":"2026-03-01T10:15:41Z","status":"True",)"
    R"("type":"Ready"}],"containerStatuses":[{"image":"registry.example.org/shop/web:1.4.2","lastState":{},"name":"web",)"
    R"("ready":true,"restartCount":0,"started":true,"state":{"running":{"startedAt":"2026-03-01T10:15:40Z"}}}],)"
    R"("hostIP":"10.1.0.17","phase":"Running","podIP":"10.244.17.5","qosClass":"Burstable"}})";

const bool parse_pod = bench::add({
    .name = "base.json_parse_pod",
    .unit = "MB",
    .subject =
        [](std::uint64_t times) {
            for (std::uint64_t i = 0; i < times; ++i) {
                const auto value = json::parse(kPod);
                ensure(value.has_value(), "the benchmark's pod is JSON");
                bench::keep(value);
            }
        },
    .anchor =
        [](std::uint64_t times) {
            const boost::json::string_view pod{kPod.data(), kPod.size()};
            for (std::uint64_t i = 0; i < times; ++i) {
                const auto value = boost::json::parse(pod);
                bench::keep(value);
            }
        },
    .aim = 0.70,
    .units_each = static_cast<double>(kPod.size()) / 1e6,
    .also_in = "crypto",
});

}  // namespace
}  // namespace rhizome
