// SPDX-License-Identifier: Apache-2.0
#include "cluster/detail/fill.h"

namespace rhizome::cluster::detail {
namespace {

/// Always for what may change under its name: no tag, or `latest`.
std::string_view pull_policy(std::string_view image) {
    if (image.find('@') != std::string_view::npos) return "IfNotPresent";
    const std::size_t slash = image.rfind('/');
    const std::string_view last = slash == std::string_view::npos ? image : image.substr(slash + 1);
    const std::size_t colon = last.find(':');
    return colon == std::string_view::npos || last.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void fill_http_get(json::Object& holder) {
    if (json::Object* get = object_at(holder, "httpGet")) {
        fill(*get, "path", "/");
        fill(*get, "scheme", "HTTP");
    }
}

/// Zero means the default too: Go holds these without a pointer.
void fill_count(json::Object& object, std::string_view key, std::int64_t value) {
    const json::Value* old = object.find(key);
    if (old == nullptr || old->is_null() || old->if_int64() == 0) object.set(key, value);
}

void fill_probe(json::Object& probe) {
    fill_http_get(probe);
    fill_count(probe, "timeoutSeconds", 1);
    fill_count(probe, "periodSeconds", 10);
    fill_count(probe, "successThreshold", 1);
    fill_count(probe, "failureThreshold", 3);
    if (json::Object* grpc = object_at(probe, "grpc"))
        if (!grpc->contains("service")) grpc->set("service", "");
}

void fill_field_reference(json::Object& source) {
    if (json::Object* reference = object_at(source, "fieldRef")) fill(*reference, "apiVersion", "v1");
    if (json::Object* reference = object_at(source, "resourceFieldRef")) fill(*reference, "divisor", "0");
}

void fill_container(json::Object& container, bool host_network, bool in_pod) {
    fill(container, "imagePullPolicy", pull_policy(text(container, "image")));
    fill(container, "terminationMessagePath", "/dev/termination-log");
    fill(container, "terminationMessagePolicy", "File");
    fill(container, "resources", json::Object{});
    for (const std::string_view probe : {"livenessProbe", "readinessProbe", "startupProbe"})
        if (json::Object* found = object_at(container, probe)) fill_probe(*found);
    if (json::Object* lifecycle = object_at(container, "lifecycle"))
        for (const std::string_view hook : {"postStart", "preStop"})
            if (json::Object* found = object_at(*lifecycle, hook)) fill_http_get(*found);
    each(container, "env", [](json::Object& variable) {
        if (json::Object* source = object_at(variable, "valueFrom")) fill_field_reference(*source);
    });
    each(container, "ports", [&](json::Object& port) {
        fill(port, "protocol", "TCP");
        if (host_network && port.contains("containerPort"))
            fill_count(port, "hostPort", port.find("containerPort")->if_int64().value_or(0));
    });
    // A limit without a request asks for as much as it allows; templates leave that to their pods.
    json::Object* resources = object_at(container, "resources");
    const json::Object* limits = resources == nullptr || !in_pod ? nullptr : object_at(*resources, "limits");
    if (limits != nullptr && !limits->empty()) {
        const json::Object wanted = *limits;  // setting the requests may move the limits
        if (json::Object* requests = made_object(*resources, "requests"))
            for (const auto& member : wanted) fill(*requests, member.key, member.value);
    }
}

constexpr std::int64_t kFileMode = 0644;

void fill_volume(json::Object& volume) {
    if (volume.size() == 1 && volume.contains("name")) volume.set("emptyDir", json::Object{});
    for (const std::string_view source : {"secret", "configMap", "downwardAPI", "projected"})
        if (json::Object* found = object_at(volume, source)) {
            fill(*found, "defaultMode", kFileMode);
            each(*found, "items", [&](json::Object& item) {
                if (source == "downwardAPI") fill_field_reference(item);
            });
            each(*found, "sources", [](json::Object& part) {
                if (json::Object* token = object_at(part, "serviceAccountToken"))
                    fill(*token, "expirationSeconds", 3600);
                if (json::Object* downward = object_at(part, "downwardAPI"))
                    each(*downward, "items", fill_field_reference);
            });
        }
    if (json::Object* path = object_at(volume, "hostPath"))
        if (!path->contains("type")) path->set("type", "");
    if (json::Object* ephemeral = object_at(volume, "ephemeral"))
        if (json::Object* claim = object_at(*ephemeral, "volumeClaimTemplate"))
            if (json::Object* spec = object_at(*claim, "spec")) fill_claim_spec(*spec);
}

}  // namespace

void fill_claim_spec(json::Object& spec) { fill(spec, "volumeMode", "Filesystem"); }

void fill_pod_spec(json::Object& spec, bool in_pod) {
    fill(spec, "restartPolicy", "Always");
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "securityContext", json::Object{});
    fill(spec, "schedulerName", "default-scheduler");
    if (in_pod) fill(spec, "enableServiceLinks", true);
    // Two names for one thing; the older one is still printed.
    if (const std::string account(text(spec, "serviceAccountName")); !account.empty())
        spec.set("serviceAccount", account);
    else if (const std::string older(text(spec, "serviceAccount")); !older.empty())
        spec.set("serviceAccountName", older);
    const json::Value* host_network = spec.find("hostNetwork");
    const bool on_host = host_network != nullptr && host_network->if_boolean() == true;
    for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"})
        each(spec, list, [&](json::Object& container) { fill_container(container, on_host, in_pod); });
    each(spec, "volumes", fill_volume);
}

}  // namespace rhizome::cluster::detail
