// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <fmt/core.h>

#include "api/detail/cells.h"

namespace rhizome::api::detail {
namespace {

/// What a narrow column has room for.
std::string first_three(const std::vector<std::string>& all, std::string_view none) {
    constexpr std::size_t kShownMax = 3;
    if (all.empty()) return std::string(none);
    std::vector<std::string> shown = all;
    if (all.size() > kShownMax) shown.resize(kShownMax);
    std::string text = joined(shown);
    if (all.size() > kShownMax) text += fmt::format(" + {} more...", all.size() - kShownMax);
    return text;
}

std::string addresses(const json::Array& ingress) {
    std::vector<std::string> found;
    for (const json::Value& each : ingress) {
        const std::string_view ip = each.text_at({"ip"});
        found.emplace_back(ip.empty() ? each.text_at({"hostname"}) : ip);
    }
    return joined(found);
}

std::string external_ip(const Printed& service) {
    std::vector<std::string> external;
    for (const json::Value& each : service.list({"spec", "externalIPs"})) external.push_back(scalar_text(&each, ""));
    const std::string_view type = service.text({"spec", "type"});
    if (type == "ExternalName") return std::string(service.text({"spec", "externalName"}));
    if (type == "LoadBalancer") {
        std::string balanced = addresses(service.list({"status", "loadBalancer", "ingress"}));
        if (!balanced.empty()) external.insert(external.begin(), balanced);
        return external.empty() ? "<pending>" : joined(external);
    }
    return external.empty() ? "<none>" : joined(external);
}

std::string service_ports(const Printed& service) {
    std::vector<std::string> ports;
    for (const json::Value& each : service.list({"spec", "ports"})) {
        const Printed port{each, service.now};
        const std::int64_t node_port = port.number({"nodePort"});
        ports.push_back(node_port > 0
                            ? fmt::format("{}:{}/{}", port.number({"port"}), node_port, port.text({"protocol"}))
                            : fmt::format("{}/{}", port.number({"port"}), port.text({"protocol"})));
    }
    return ports.empty() ? "<none>" : joined(ports);
}

json::Array service_cells(const Printed& row) {
    std::string address = row.text_or({"spec", "clusterIP"}, "<none>");
    return {row.name(),
            std::string(row.text({"spec", "type"})),
            std::move(address),
            external_ip(row),
            service_ports(row),
            row.age(),
            labels_text(row.object.find_path({"spec", "selector"}))};
}

json::Array ingress_cells(const Printed& row) {
    std::vector<std::string> hosts;
    for (const json::Value& rule : row.list({"spec", "rules"}))
        if (!rule.text_at({"host"}).empty()) hosts.emplace_back(rule.text_at({"host"}));
    std::string shown = first_three(hosts, "*");
    return {row.name(),
            row.text_or({"spec", "ingressClassName"}, "<none>"),
            std::move(shown),
            addresses(row.list({"status", "loadBalancer", "ingress"})),
            row.list({"spec", "tls"}).empty() ? "80" : "80, 443",
            row.age()};
}

json::Array ingress_class_cells(const Printed& row) {
    std::string parameters = "<none>";
    if (const json::Value* reference = row.object.find_path({"spec", "parameters"}); reference != nullptr) {
        parameters = reference->text_at({"kind"});
        if (const auto group = reference->text_at({"apiGroup"}); !group.empty())
            parameters += fmt::format(".{}", group);
        parameters += fmt::format("/{}", reference->text_at({"name"}));
    }
    return {row.name(), std::string(row.text({"spec", "controller"})), std::move(parameters), row.age()};
}

json::Array network_policy_cells(const Printed& row) {
    return {row.name(), selector_text(row.object.find_path({"spec", "podSelector"})), row.age()};
}

json::Array endpoints_cells(const Printed& row) {
    std::vector<std::string> found;
    std::size_t total = 0;
    constexpr std::size_t kShownMax = 3;
    for (const json::Value& subset : row.list({"subsets"})) {
        const Printed part{subset, row.now};
        const json::Array& ports = part.list({"ports"});
        for (const json::Value& address : part.list({"addresses"})) {
            const std::string_view ip = address.text_at({"ip"});
            total += std::max<std::size_t>(ports.size(), 1);
            if (ports.empty() && found.size() < kShownMax) found.emplace_back(ip);
            for (const json::Value& port : ports)
                if (found.size() < kShownMax)
                    found.push_back(fmt::format("{}:{}", ip, scalar_text(port.find("port"), "0")));
        }
    }
    std::string text = found.empty() ? "<none>" : joined(found);
    if (total > found.size()) text += fmt::format(" + {} more...", total - found.size());
    return {row.name(), std::move(text), row.age()};
}

json::Array endpoint_slice_cells(const Printed& row) {
    std::set<std::string> ports;
    for (const json::Value& port : row.list({"ports"})) ports.insert(scalar_text(port.find("port"), "*"));
    std::vector<std::string> found;
    for (const json::Value& endpoint : row.list({"endpoints"}))
        for (const json::Value& address : Printed{endpoint, row.now}.list({"addresses"}))
            found.push_back(scalar_text(&address, ""));
    return {row.name(), std::string(row.text({"addressType"})), first_three({ports.begin(), ports.end()}, "<unset>"),
            first_three(found, "<unset>"), row.age()};
}

}  // namespace

CellsOf network_cells(std::string_view group, std::string_view kind) {
    if (group.empty() && kind == "Service") return service_cells;
    if (group.empty() && kind == "Endpoints") return endpoints_cells;
    if (group == "discovery.k8s.io" && kind == "EndpointSlice") return endpoint_slice_cells;
    if (group != "networking.k8s.io") return nullptr;
    if (kind == "Ingress") return ingress_cells;
    if (kind == "IngressClass") return ingress_class_cells;
    if (kind == "NetworkPolicy") return network_policy_cells;
    return nullptr;
}

}  // namespace rhizome::api::detail
