// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cluster/detail/rules.h"
#include "cluster/names.h"
#include "cluster/object.h"
#include "cluster/quantity.h"
#include "cluster/selector.h"

namespace rhizome::cluster::detail {
namespace {

void check_resources(const Checker& resources) {
    for (const std::string_view part : {"limits", "requests"}) {
        const Checker amounts = resources.at(part);
        amounts.each_entry([&](const std::string& name, const json::Value& amount) {
            const Where where = amounts.where().key(name);
            for (const std::string& complaint : check_qualified_name(name))
                amounts.add(invalid(where, name, complaint));
            Checker{&amount, where, amounts.errors()}.quantity();
        });
    }
    const Checker limits = resources.at("limits");
    resources.at("requests").each_entry([&](const std::string& name, const json::Value& asked) {
        const json::Value* allowed = limits.value() == nullptr ? nullptr : limits.value()->find(name);
        if (allowed == nullptr) return;
        const auto least = Quantity::from_value(asked);
        const auto most = Quantity::from_value(*allowed);
        if (least && most && *least > *most)
            resources.add(invalid(resources.where() / "requests", asked,
                                  fmt::format("must be less than or equal to {} limit of {}", name, most->text())));
    });
}

/// Exactly one way to look.
void check_handler(const Checker& handler, std::initializer_list<std::string_view> ways) {
    std::size_t chosen = 0;
    for (const std::string_view way : ways) {
        if (!handler.at(way).present()) continue;
        if (++chosen > 1) handler.add(forbidden(handler.at(way).where(), "may not specify more than 1 handler type"));
    }
    if (chosen == 0) handler.add(required(handler.where(), "must specify a handler type"));
    const Checker exec = handler.at("exec");
    if (exec.present()) exec.at("command").require();
    for (const std::string_view network : {"httpGet", "tcpSocket"}) {
        const Checker port = handler.at(network).at("port");
        if (!handler.at(network).present()) continue;
        if (port.number())
            port.port();
        else if (port.present())
            port.named(check_port_name);
        else
            port.add(required(port.where()));
    }
    handler.at("httpGet").at("scheme").one_of({"HTTP", "HTTPS"});
    handler.at("grpc").at("port").port();
}

void check_probe(const Checker& probe, bool must_succeed_once) {
    if (!probe.present()) return;
    check_handler(probe, {"exec", "httpGet", "tcpSocket", "grpc"});
    for (const std::string_view field :
         {"initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"})
        probe.at(field).not_negative();
    const Checker successes = probe.at("successThreshold");
    if (must_succeed_once && successes.number() && *successes.number() != 1)
        successes.add(invalid(successes.where(), *successes.number(), "must be 1"));
}

void check_environment(const Checker& container) {
    container.at("env").each([](const Checker& variable) {
        if (variable.at("name").require()) variable.at("name").named(check_environment_name);
        const Checker source = variable.at("valueFrom");
        if (!source.present()) return;
        if (!variable.at("value").text().empty())
            source.add(invalid(source.where(), "", "may not be specified when `value` is not empty"));
        std::size_t sources = 0;
        for (const std::string_view way : {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef"})
            if (source.at(way).present()) ++sources;
        if (sources == 0)
            source.add(invalid(source.where(), "",
                               "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                               "`secretKeyRef`"));
        if (sources > 1)
            source.add(invalid(source.where(), "", "may not have more than one field specified at a time"));
        for (const std::string_view way : {"configMapKeyRef", "secretKeyRef"}) {
            const Checker key = source.at(way);
            if (!key.present()) continue;
            key.at("name").require();
            if (key.at("key").require()) key.at("key").named(check_config_key);
        }
        if (source.at("fieldRef").present()) source.at("fieldRef").at("fieldPath").require();
    });
}

void check_ports(const Checker& container) {
    const Checker ports = container.at("ports");
    ports.unique("name");
    ports.each([](const Checker& port) {
        if (!port.at("name").text().empty()) port.at("name").named(check_port_name);
        if (port.at("containerPort").number().value_or(0) == 0)
            port.at("containerPort").add(required(port.at("containerPort").where()));
        else
            port.at("containerPort").port();
        if (port.at("hostPort").number().value_or(0) != 0) port.at("hostPort").port();
        port.at("protocol").one_of({"TCP", "UDP", "SCTP"});
    });
}

void check_mounts(const Checker& container, const std::set<std::string_view>& volumes) {
    std::set<std::string_view> paths;
    container.at("volumeMounts").each([&](const Checker& mount) {
        const Checker name = mount.at("name");
        if (name.require() && !volumes.contains(name.text()))
            name.add({FieldError::Cause::NotFound, name.where().text(), *name.value(), {}});
        const Checker path = mount.at("mountPath");
        if (path.require() && !paths.insert(path.text()).second)
            path.add(invalid(path.where(), *path.value(), "must be unique"));
    });
}

void check_container(const Checker& container, const std::set<std::string_view>& volumes, bool main) {
    if (container.at("name").require()) container.at("name").named(check_dns_label);
    const Checker image = container.at("image");
    image.require();
    if (image.text().starts_with(' ') || image.text().ends_with(' '))
        image.add(invalid(image.where(), *image.value(), "must not have leading or trailing whitespace"));
    container.at("imagePullPolicy").one_of({"Always", "IfNotPresent", "Never"});
    container.at("terminationMessagePolicy").one_of({"File", "FallbackToLogsOnError"});
    check_ports(container);
    check_environment(container);
    check_resources(container.at("resources"));
    check_mounts(container, volumes);
    if (main) {
        check_probe(container.at("livenessProbe"), true);
        check_probe(container.at("readinessProbe"), false);
        check_probe(container.at("startupProbe"), true);
        for (const std::string_view hook : {"postStart", "preStop"}) {
            const Checker handler = container.at("lifecycle").at(hook);
            if (handler.present()) check_handler(handler, {"exec", "httpGet", "tcpSocket", "sleep"});
        }
    }
}

void check_volumes(const Checker& volumes, std::set<std::string_view>& names) {
    volumes.unique("name");
    volumes.each([&](const Checker& volume) {
        const Checker name = volume.at("name");
        if (name.require()) {
            name.named(check_dns_label);
            names.insert(name.text());
        }
        std::size_t sources = 0;
        volume.each_entry([&](const std::string& key, const json::Value& source) {
            if (key == "name" || source.is_null()) return;
            if (++sources > 1) volume.add(forbidden(volume.at(key).where(), "may not specify more than 1 volume type"));
        });
        if (volume.at("configMap").present()) volume.at("configMap").at("name").require();
        if (volume.at("secret").present()) volume.at("secret").at("secretName").require();
        if (volume.at("hostPath").present()) volume.at("hostPath").at("path").require();
        const Checker claim = volume.at("persistentVolumeClaim");
        if (claim.present()) claim.at("claimName").require();
        for (const std::string_view source : {"configMap", "secret", "projected", "downwardAPI"}) {
            const Checker mode = volume.at(source).at("defaultMode");
            if (const auto bits = mode.number(); bits && (*bits < 0 || *bits > 0777))
                mode.add(invalid(mode.where(), *bits, "must be a number between 0 and 0777 (octal), both inclusive"));
        }
    });
}

void check_tolerations(const Checker& tolerations) {
    tolerations.each([](const Checker& toleration) {
        const Checker key = toleration.at("key");
        if (!key.text().empty()) key.named(check_qualified_name);
        const Checker op = toleration.at("operator");
        if (key.text().empty() && op.text() != "Exists")
            op.add(
                invalid(op.where(), op.text(),
                        "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
        if (!op.text().empty()) op.one_of({"Equal", "Exists"});
        if (op.text() == "Exists" && !toleration.at("value").text().empty())
            op.add(invalid(op.where(), *toleration.value(), "value must be empty when `operator` is 'Exists'"));
        if (!toleration.at("effect").text().empty())
            toleration.at("effect").one_of({"NoSchedule", "PreferNoSchedule", "NoExecute"});
    });
}

}  // namespace

void check_pod_spec(const Checker& spec, std::vector<std::string_view> restarts, std::set<std::string_view> volumes) {
    check_volumes(spec.at("volumes"), volumes);
    const Checker containers = spec.at("containers");
    containers.require();
    std::set<std::string_view> names;
    for (const std::string_view list : {"containers", "initContainers", "ephemeralContainers"})
        spec.at(list).each([&](const Checker& container) {
            check_container(container, volumes, list == "containers");
            const Checker name = container.at("name");
            if (!name.text().empty() && !names.insert(name.text()).second)
                name.add(duplicate(name.where(), *name.value()));
        });
    const Checker policy = spec.at("restartPolicy");
    policy.one_of({"Always", "OnFailure", "Never"});
    if (!restarts.empty() && (policy.text() == "Always" || policy.text() == "OnFailure" || policy.text() == "Never"))
        policy.one_of(std::move(restarts));
    spec.at("dnsPolicy").one_of({"ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"});
    spec.at("terminationGracePeriodSeconds").not_negative();
    spec.at("activeDeadlineSeconds").between(1, 2'147'483'647);
    if (!spec.at("serviceAccountName").text().empty()) spec.at("serviceAccountName").named(check_dns_subdomain);
    if (!spec.at("nodeName").text().empty()) spec.at("nodeName").named(check_dns_subdomain);
    if (!spec.at("hostname").text().empty()) spec.at("hostname").named(check_dns_label);
    if (!spec.at("priorityClassName").text().empty()) spec.at("priorityClassName").named(check_dns_subdomain);
    if (spec.at("nodeSelector").present())
        spec.add(check_labels(*spec.at("nodeSelector").value(), spec.at("nodeSelector").where()));
    check_tolerations(spec.at("tolerations"));
    spec.at("imagePullSecrets").each([](const Checker& reference) { reference.at("name").require(); });
}

void check_template(const Checker& pod_template, const Checker& selector, std::vector<std::string_view> restarts,
                    std::set<std::string_view> volumes) {
    const Checker labels = pod_template.at("metadata").at("labels");
    if (labels.present()) labels.add(check_labels(*labels.value(), labels.where()));
    if (selector.present()) {
        // A replication controller's selector is a plain map, the others' has a form of its own.
        const bool plain = !selector.at("matchLabels").present() && !selector.at("matchExpressions").present();
        const auto read = plain ? Result<LabelSelector, FieldErrors>(LabelSelector::from_map(selector.value()))
                                : LabelSelector::from_document(selector.value(), selector.where());
        if (!read)
            selector.add(read.error());
        else if (!read->is_everything() && !read->matches(labels.value()))
            labels.add(invalid(labels.where(), labels.value() == nullptr ? json::Value{} : *labels.value(),
                               "`selector` does not match template `labels`"));
    }
    check_pod_spec(pod_template.at("spec"), std::move(restarts), std::move(volumes));
}

}  // namespace rhizome::cluster::detail
