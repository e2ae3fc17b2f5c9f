// SPDX-License-Identifier: Apache-2.0
#include "node/first_documents.h"

#include <string_view>

namespace rhizome::node {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::string_view kRbac = "rbac.authorization.k8s.io";

json::Array texts(const Words& words) {
    json::Array out;
    for (const std::string_view word : words) out.emplace_back(word);
    return out;
}

json::Value name_space(std::string_view name) {
    json::Object labels{{"kubernetes.io/metadata.name", name}};
    return json::Object{{"apiVersion", "v1"},
                        {"kind", "Namespace"},
                        {"metadata", json::Object{{"name", name}, {"labels", std::move(labels)}}}};
}

json::Value rule(const Words& groups, const Words& resources, const Words& verbs) {
    return json::Object{{"apiGroups", texts(groups)}, {"resources", texts(resources)}, {"verbs", texts(verbs)}};
}
json::Value path_rule(const Words& paths, const Words& verbs) {
    return json::Object{{"nonResourceURLs", texts(paths)}, {"verbs", texts(verbs)}};
}

json::Object metadata(std::string_view name) {
    return {{"name", name}, {"labels", json::Object{{"kubernetes.io/bootstrapping", "rbac-defaults"}}}};
}

json::Value role(std::string_view name, json::Array rules) {
    return json::Object{{"apiVersion", "rbac.authorization.k8s.io/v1"},
                        {"kind", "ClusterRole"},
                        {"metadata", metadata(name)},
                        {"rules", std::move(rules)}};
}

/// A binding of the role of the same name to groups.
json::Value binding(std::string_view name, const Words& groups) {
    json::Array subjects;
    for (const std::string_view group : groups)
        subjects.emplace_back(json::Object{{"apiGroup", kRbac}, {"kind", "Group"}, {"name", group}});
    return json::Object{{"apiVersion", "rbac.authorization.k8s.io/v1"},
                        {"kind", "ClusterRoleBinding"},
                        {"metadata", metadata(name)},
                        {"roleRef", json::Object{{"apiGroup", kRbac}, {"kind", "ClusterRole"}, {"name", name}}},
                        {"subjects", std::move(subjects)}};
}

Words reading() { return {"get", "list", "watch"}; }
Words writing() { return {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}; }

/// What lives in a namespace and is no secret.
json::Array on_workloads(const Words& verbs) {
    return {rule({""},
                 {"configmaps", "endpoints", "events", "limitranges", "persistentvolumeclaims", "pods", "pods/log",
                  "pods/status", "replicationcontrollers", "replicationcontrollers/scale", "resourcequotas",
                  "serviceaccounts", "services"},
                 verbs),
            rule({"apps"},
                 {"controllerrevisions", "daemonsets", "deployments", "deployments/scale", "replicasets",
                  "replicasets/scale", "statefulsets", "statefulsets/scale"},
                 verbs),
            rule({"autoscaling"}, {"horizontalpodautoscalers"}, verbs),
            rule({"batch"}, {"cronjobs", "jobs"}, verbs),
            rule({"networking.k8s.io"}, {"ingresses", "networkpolicies"}, verbs),
            rule({"policy"}, {"poddisruptionbudgets"}, verbs)};
}

json::Array editing() {
    json::Array rules = on_workloads(writing());
    rules.push_back(rule({""}, {"secrets"}, writing()));
    rules.push_back(rule({""}, {"pods/attach", "pods/eviction", "pods/exec", "pods/portforward"}, {"create", "get"}));
    return rules;
}

json::Array administering() {
    json::Array rules = editing();
    rules.push_back(rule({kRbac}, {"rolebindings", "roles"}, writing()));
    rules.push_back(rule({"authorization.k8s.io"}, {"localsubjectaccessreviews"}, {"create"}));
    return rules;
}

void add_roles(std::vector<json::Value>& out) {
    out.push_back(role("cluster-admin", {rule({"*"}, {"*"}, {"*"}), path_rule({"*"}, {"*"})}));
    out.push_back(role("admin", administering()));
    out.push_back(role("edit", editing()));
    out.push_back(role("view", on_workloads(reading())));
    out.push_back(role("system:aggregate-to-admin", {rule({kRbac}, {"rolebindings", "roles"}, writing())}));
    out.push_back(role("system:aggregate-to-edit", editing()));
    out.push_back(role("system:aggregate-to-view", on_workloads(reading())));
    out.push_back(
        role("system:auth-delegator", {rule({"authentication.k8s.io"}, {"tokenreviews"}, {"create"}),
                                       rule({"authorization.k8s.io"}, {"subjectaccessreviews"}, {"create"})}));
    out.push_back(role("system:basic-user", {rule({"authorization.k8s.io"},
                                                  {"selfsubjectaccessreviews", "selfsubjectrulesreviews"}, {"create"}),
                                             rule({"authentication.k8s.io"}, {"selfsubjectreviews"}, {"create"})}));
    out.push_back(role("system:discovery", {path_rule({"/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez",
                                                       "/openapi", "/openapi/*", "/readyz", "/version", "/version/"},
                                                      {"get"})}));
    out.push_back(role("system:monitoring", {path_rule({"/healthz", "/livez", "/metrics", "/readyz"}, {"get"})}));
    out.push_back(role("system:public-info-viewer",
                       {path_rule({"/healthz", "/livez", "/readyz", "/version", "/version/"}, {"get"})}));
}

}  // namespace

std::vector<json::Value> first_namespaces() {
    std::vector<json::Value> out;
    for (const std::string_view name : {"default", "kube-system", "kube-public", "kube-node-lease"})
        out.push_back(name_space(name));
    return out;
}

std::vector<json::Value> first_roles() {
    std::vector<json::Value> out;
    add_roles(out);
    out.push_back(binding("cluster-admin", {"system:masters"}));
    out.push_back(binding("system:basic-user", {"system:authenticated"}));
    out.push_back(binding("system:discovery", {"system:authenticated"}));
    out.push_back(binding("system:monitoring", {"system:monitoring"}));
    out.push_back(binding("system:public-info-viewer", {"system:authenticated", "system:unauthenticated"}));
    return out;
}

}  // namespace rhizome::node
