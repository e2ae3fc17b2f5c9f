// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cluster/custom_definition.h"
#include "cluster/detail/rules.h"
#include "cluster/names.h"
#include "cluster/object.h"
#include "cluster/selector.h"

namespace rhizome::cluster::detail {
namespace {

/// ConfigMaps and Secrets end at 1 MiB.
constexpr std::size_t kDataBytesMax = 1u << 20;

void check_data(const Checker& object) {
    std::size_t bytes = 0;
    for (const std::string_view part : {"data", "binaryData"}) {
        const Checker data = object.at(part);
        data.each_entry([&](const std::string& key, const json::Value& value) {
            for (const std::string& complaint : check_config_key(key))
                data.add(invalid(data.where().key(key), key, complaint));
            bytes += value.if_string() == nullptr ? 0 : value.if_string()->size();
            if (part == "binaryData" && object.at("data").at(key).present())
                data.add(invalid(object.where() / "binaryData" / key, key, "duplicate of key present in data"));
        });
    }
    if (bytes > kDataBytesMax) object.add(too_long(Where{}, kDataBytesMax));
}

void secret(const Checker& object) {
    check_data(object);
    const std::string_view type = object.at("type").text();
    const Checker data = object.at("data");
    const auto needs = [&](std::string_view key) {
        if (!data.at(key).present()) data.add(required(data.where().key(key)));
    };
    if (type == "kubernetes.io/dockerconfigjson") needs(".dockerconfigjson");
    if (type == "kubernetes.io/tls") {
        needs("tls.crt");
        needs("tls.key");
    }
    if (type == "kubernetes.io/ssh-auth") needs("ssh-privatekey");
    if (type == "kubernetes.io/basic-auth" && !data.at("username").present() && !data.at("password").present()) {
        needs("username");
        needs("password");
    }
}

void service(const Checker& object) {
    const Checker spec = object.at("spec");
    const Checker type = spec.at("type");
    type.one_of({"ClusterIP", "NodePort", "LoadBalancer", "ExternalName"});
    spec.at("sessionAffinity").one_of({"None", "ClientIP"});
    spec.at("externalTrafficPolicy").one_of({"Cluster", "Local"});
    const bool headless = spec.at("clusterIP").text() == "None";
    const Checker ports = spec.at("ports");
    if (type.text() == "ExternalName") {
        if (spec.at("externalName").require()) spec.at("externalName").named(check_dns_subdomain);
    } else if (!headless) {
        ports.require();
    }
    ports.unique("name");
    std::set<std::string> seen;
    ports.each([&](const Checker& port) {
        const Checker name = port.at("name");
        if (ports.size() > 1) name.require();
        if (!name.text().empty()) name.named(check_dns_label);
        if (port.at("port").number().value_or(0) == 0)
            port.at("port").add(invalid(port.at("port").where(), 0, "must be between 1 and 65535, inclusive"));
        else
            port.at("port").port();
        port.at("protocol").one_of({"TCP", "UDP", "SCTP"});
        const Checker target = port.at("targetPort");
        if (target.number())
            target.port();
        else if (target.present())
            target.named(check_port_name);
        const Checker node_port = port.at("nodePort");
        if (node_port.number().value_or(0) != 0) {
            if (type.text() == "ClusterIP" || type.text() == "ExternalName")
                node_port.add(forbidden(node_port.where(), "may not be used when `type` is 'ClusterIP'"));
            node_port.between(30'000, 32'767);
        }
        const std::string id = fmt::format("{}/{}", port.at("port").number().value_or(0), port.at("protocol").text());
        if (!seen.insert(id).second)
            port.add(duplicate(port.where(), json::Object{{"port", port.at("port").number().value_or(0)},
                                                          {"protocol", port.at("protocol").text()}}));
    });
    if (spec.at("selector").present())
        spec.add(check_labels(*spec.at("selector").value(), spec.at("selector").where()));
    const Checker address = spec.at("clusterIP");
    if (!address.text().empty() && !headless && !is_ip_address(address.text()))
        address.add(invalid(address.where(), *address.value(),
                            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"));
    if (headless && (type.text() == "NodePort" || type.text() == "LoadBalancer"))
        address.add(invalid(address.where(), *address.value(),
                            fmt::format("may not be set to 'None' for {} services", type.text())));
}

void backend(const Checker& place) {
    const Checker target = place.at("service");
    const bool resource = place.at("resource").present();
    if (!target.present() && !resource) {
        place.add(required(place.where(), "port name or number is required for Service, or a resource backend"));
        return;
    }
    if (target.present() && resource)
        place.add(invalid(place.where(), "", "cannot set both resource and service backends"));
    if (!target.present()) return;
    target.at("name").require();
    const bool named = !target.at("port").at("name").text().empty();
    const bool numbered = target.at("port").at("number").number().value_or(0) != 0;
    if (!named && !numbered) target.add(required(target.where(), "port name or number is required"));
    if (named && numbered) target.add(invalid(target.where(), "", "cannot set both port name & port number"));
    if (numbered) target.at("port").at("number").port();
}

void ingress(const Checker& object) {
    const Checker spec = object.at("spec");
    if (spec.at("rules").size() == 0 && !spec.at("defaultBackend").present())
        spec.add(invalid(spec.where(), *(spec.value() == nullptr ? object.value() : spec.value()),
                         "either `defaultBackend` or `rules` must be specified"));
    if (spec.at("defaultBackend").present()) backend(spec.at("defaultBackend"));
    spec.at("rules").each([](const Checker& rule) {
        const Checker host = rule.at("host");
        if (!host.text().empty()) {
            if (is_ip_address(host.text()))
                host.add(invalid(host.where(), *host.value(), "must be a DNS name, not an IP address"));
            const std::string_view name = host.text().starts_with("*.") ? host.text().substr(2) : host.text();
            for (const std::string& complaint : check_dns_subdomain(name))
                host.add(invalid(host.where(), *host.value(), complaint));
        }
        const Checker http = rule.at("http");
        if (!http.present()) return;
        http.at("paths").require();
        http.at("paths").each([](const Checker& path) {
            const Checker type = path.at("pathType");
            if (type.require("pathType must be specified")) type.one_of({"Exact", "ImplementationSpecific", "Prefix"});
            const bool absolute = type.text() == "Exact" || type.text() == "Prefix";
            if (absolute && !path.at("path").text().starts_with('/'))
                path.add(invalid(path.at("path").where(), path.at("path").text(), "must be an absolute path"));
            backend(path.at("backend"));
        });
    });
}

void claim(const Checker& object) {
    const Checker spec = object.at("spec");
    spec.at("accessModes").require("at least 1 access mode is required");
    spec.at("accessModes").each([](const Checker& mode) {
        mode.one_of({"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"});
    });
    const Checker requests = spec.at("resources").at("requests");
    if (!requests.at("storage").present())
        requests.add(required(requests.where().key("storage")));
    else
        requests.at("storage").quantity();
    spec.at("volumeMode").one_of({"Block", "Filesystem"});
}

void volume(const Checker& object) {
    const Checker spec = object.at("spec");
    spec.at("accessModes").require();
    if (!spec.at("capacity").present())
        spec.add(required(spec.at("capacity").where()));
    else
        spec.at("capacity").at("storage").quantity();
    spec.at("persistentVolumeReclaimPolicy").one_of({"Delete", "Recycle", "Retain"});
    spec.at("volumeMode").one_of({"Block", "Filesystem"});
}

void rules_of_role(const Checker& object, bool namespaced) {
    object.at("rules").each([&](const Checker& rule) {
        rule.at("verbs").require("verbs must contain at least one value");
        if (rule.at("nonResourceURLs").size() != 0) {
            const Checker urls = rule.at("nonResourceURLs");
            if (namespaced)
                rule.add(invalid(urls.where(), *urls.value(), "namespaced rules cannot apply to non-resource URLs"));
            else if (rule.at("apiGroups").size() + rule.at("resources").size() + rule.at("resourceNames").size() != 0)
                rule.add(invalid(urls.where(), *urls.value(),
                                 "rules cannot apply to both regular resources and non-resource URLs"));
            return;
        }
        rule.at("apiGroups").require("resource rules must supply at least one api group");
        rule.at("resources").require("resource rules must supply at least one resource");
    });
}

void role_binding(const Checker& object) {
    const Checker role = object.at("roleRef");
    if (role.at("apiGroup").text() != "rbac.authorization.k8s.io")
        role.add(not_supported(role.at("apiGroup").where(), role.at("apiGroup").text(), {"rbac.authorization.k8s.io"}));
    const bool cluster = object.at("kind").text() == "ClusterRoleBinding";
    role.at("kind").one_of(cluster ? std::vector<std::string_view>{"ClusterRole"}
                                   : std::vector<std::string_view>{"ClusterRole", "Role"});
    if (role.at("name").require()) role.at("name").named(check_path_segment);
    object.at("subjects").each([&](const Checker& subject) {
        subject.at("name").require();
        subject.at("kind").one_of({"Group", "ServiceAccount", "User"});
        const Checker group = subject.at("apiGroup");
        const bool account = subject.at("kind").text() == "ServiceAccount";
        if (account && !group.text().empty())
            group.add(not_supported(group.where(), group.text(), {""}));
        else if (!account && group.text() != "rbac.authorization.k8s.io")
            group.add(not_supported(group.where(), group.text(), {"rbac.authorization.k8s.io"}));
        if (account && !subject.at("name").text().empty()) subject.at("name").named(check_dns_subdomain);
        if (subject.at("kind").text() == "ServiceAccount" && cluster) subject.at("namespace").require();
    });
}

void quota(const Checker& object) {
    const Checker hard = object.at("spec").at("hard");
    hard.each_entry([&](const std::string& name, const json::Value& amount) {
        const Where where = hard.where().key(name);
        for (const std::string& complaint : check_qualified_name(name)) hard.add(invalid(where, name, complaint));
        Checker{&amount, where, hard.errors()}.quantity();
    });
    object.at("spec").at("scopes").each([](const Checker& scope) {
        scope.one_of({"BestEffort", "CrossNamespacePodAffinity", "NotBestEffort", "NotTerminating", "PriorityClass",
                      "Terminating"});
    });
}

void budget(const Checker& object) {
    const Checker spec = object.at("spec");
    if (spec.at("minAvailable").present() && spec.at("maxUnavailable").present())
        spec.add(invalid(spec.where(), *spec.value(), "minAvailable and maxUnavailable cannot be both set"));
    spec.at("minAvailable").count_or_percent();
    spec.at("maxUnavailable").count_or_percent();
    const auto selector = LabelSelector::from_document(spec.at("selector").value(), spec.at("selector").where());
    if (!selector) spec.add(selector.error());
}

void autoscaler(const Checker& object) {
    const Checker spec = object.at("spec");
    const auto most = spec.at("maxReplicas").number().value_or(0);
    if (most < 1) spec.add(invalid(spec.at("maxReplicas").where(), most, "must be greater than 0"));
    const auto least = spec.at("minReplicas").number();
    if (least && *least < 1)
        spec.add(invalid(spec.at("minReplicas").where(), *least, "must be greater than or equal to 1"));
    if (least && *least > most)
        spec.add(invalid(spec.at("maxReplicas").where(), most, "must be greater than or equal to `minReplicas`"));
    spec.at("scaleTargetRef").at("kind").require();
    spec.at("scaleTargetRef").at("name").require();
}

void network_policy(const Checker& object) {
    const Checker spec = object.at("spec");
    const auto selector = LabelSelector::from_document(spec.at("podSelector").value(), spec.at("podSelector").where());
    if (!selector) spec.add(selector.error());
    spec.at("policyTypes").each([](const Checker& type) { type.one_of({"Egress", "Ingress"}); });
    for (const bool in : {true, false}) {
        const std::string_view direction = in ? "ingress" : "egress";
        const std::string_view peers = in ? "from" : "to";
        spec.at(direction).each([&](const Checker& rule) {
            rule.at("ports").each([](const Checker& port) {
                port.at("protocol").one_of({"SCTP", "TCP", "UDP"});
                if (port.at("port").number()) port.at("port").port();
            });
            rule.at(peers).each([](const Checker& peer) {
                if (peer.size() == 0) peer.add(required(peer.where(), "must specify a peer"));
                const Checker cidr = peer.at("ipBlock").at("cidr");
                if (!peer.at("ipBlock").present()) return;
                if (cidr.require() && !is_cidr(cidr.text()))
                    cidr.add(invalid(cidr.where(), *cidr.value(),
                                     "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
            });
        });
    }
}

void priority_class(const Checker& object) {
    constexpr std::int64_t kUserMost = 1'000'000'000;
    const auto value = object.at("value").number().value_or(0);
    if (value > kUserMost && !object.at("metadata").at("name").text().starts_with("system-"))
        object.add(forbidden(object.at("value").where(),
                             fmt::format("maximum allowed value of a user defined priority is {}", kUserMost)));
    object.at("preemptionPolicy").one_of({"Never", "PreemptLowerPriority"});
}

void storage_class(const Checker& object) {
    object.at("provisioner").require();
    object.at("reclaimPolicy").one_of({"Delete", "Retain"});
    object.at("volumeBindingMode").one_of({"Immediate", "WaitForFirstConsumer"});
}

void definition(const Checker& object) { check_definition(*object.value(), object.errors()); }

void signing_request(const Checker& object) {
    const Checker spec = object.at("spec");
    spec.at("request").require("");
    const Checker signer = spec.at("signerName");
    if (signer.require()) {
        const std::size_t slash = signer.text().find('/');
        const std::string_view domain = signer.text().substr(0, slash);
        if (slash == std::string_view::npos || slash + 1 == signer.text().size())
            signer.add(invalid(signer.where(), *signer.value(),
                               "must be a fully qualified domain and path of the form 'example.com/signer-name'"));
        for (const std::string& complaint : check_dns_subdomain(domain))
            signer.add(invalid(signer.where(), *signer.value(), complaint));
        if (signer.text() == "kubernetes.io/legacy-unknown")
            signer.add(invalid(signer.where(), *signer.value(),
                               "the legacy signerName is not allowed via this API "
                               "version"));
    }
    const Checker usages = spec.at("usages");
    usages.require();
    std::set<std::string_view> seen;
    usages.each([&](const Checker& usage) {
        usage.one_of({"any",
                      "cert sign",
                      "client auth",
                      "code signing",
                      "content commitment",
                      "crl sign",
                      "data encipherment",
                      "decipher only",
                      "digital signature",
                      "email protection",
                      "encipher only",
                      "ipsec end system",
                      "ipsec tunnel",
                      "ipsec user",
                      "key agreement",
                      "key encipherment",
                      "microsoft sgc",
                      "netscape sgc",
                      "ocsp signing",
                      "s/mime",
                      "server auth",
                      "signing",
                      "timestamping"});
        if (!seen.insert(usage.text()).second) usage.add(duplicate(usage.where(), *usage.value()));
    });
    if (const auto lasts = spec.at("expirationSeconds").number(); lasts && *lasts < 600)
        spec.add(invalid(spec.at("expirationSeconds").where(), *lasts,
                         "may not specify a duration less than 600 seconds (10 minutes)"));
}

struct RulesEntry {
    std::string_view group;
    std::string_view kind;
    void (*rules)(const Checker&);
};
constexpr RulesEntry kRulesEntries[] = {
    {"", "ConfigMap", check_data},
    {"", "Secret", secret},
    {"", "Service", service},
    {"", "PersistentVolumeClaim", claim},
    {"", "PersistentVolume", volume},
    {"", "ResourceQuota", quota},
    {"networking.k8s.io", "Ingress", ingress},
    {"networking.k8s.io", "NetworkPolicy", network_policy},
    {"rbac.authorization.k8s.io", "Role", [](const Checker& object) { rules_of_role(object, true); }},
    {"rbac.authorization.k8s.io", "ClusterRole", [](const Checker& object) { rules_of_role(object, false); }},
    {"rbac.authorization.k8s.io", "RoleBinding", role_binding},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", role_binding},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", check_webhooks},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", check_webhooks},
    {"certificates.k8s.io", "CertificateSigningRequest", signing_request},
    {"policy", "PodDisruptionBudget", budget},
    {"autoscaling", "HorizontalPodAutoscaler", autoscaler},
    {"scheduling.k8s.io", "PriorityClass", priority_class},
    {"storage.k8s.io", "StorageClass", storage_class},
    {"apiextensions.k8s.io", "CustomResourceDefinition", definition},
};

}  // namespace

void check_other(const Checker& object, std::string_view group, std::string_view kind) {
    for (const RulesEntry& entry : kRulesEntries)
        if (entry.group == group && entry.kind == kind) entry.rules(object);
}

}  // namespace rhizome::cluster::detail
