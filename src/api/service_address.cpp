// SPDX-License-Identifier: Apache-2.0
#include "api/service_address.h"

#include <fmt/core.h>

#include "base/json.h"
#include "cluster/object.h"

namespace rhizome::api {
namespace {

constexpr std::size_t kAddressesMax = 64;

std::optional<json::Value> document_at(const state::StateView& chain, std::string_view kind,
                                       std::string_view name_space, std::string_view name) {
    const auto path = state::Path::of("", kind, name_space, name);
    const state::Entry* entry = path ? chain.get(*path) : nullptr;
    if (entry == nullptr) return std::nullopt;
    auto parsed = json::parse(entry->document());
    return parsed ? std::optional{*std::move(parsed)} : std::nullopt;
}

const json::Array& list_at(const json::Value& object, std::string_view key) {
    static const json::Array kNone;
    const json::Value* list = object.find(key);
    return list == nullptr || !list->is_array() ? kNone : *list->if_array();
}

/// The number of the port of that name in a list of ports.
std::uint16_t numbered(const json::Value& holder, std::string_view port_name) {
    for (const json::Value& one : list_at(holder, "ports")) {
        const json::Value* number = one.find("port");
        const auto held = number == nullptr ? std::nullopt : number->if_int64();
        if (one.text_at({"name"}) == port_name && held && *held > 0 && *held < 65'536)
            return static_cast<std::uint16_t>(*held);
    }
    return 0;
}

void from_slice(const json::Value& slice, std::string_view port_name, std::vector<ServiceAddress>& out) {
    const std::uint16_t port = numbered(slice, port_name);
    if (port == 0) return;
    for (const json::Value& endpoint : list_at(slice, "endpoints")) {
        const json::Value* ready = endpoint.find_path({"conditions", "ready"});
        if (ready != nullptr && ready->if_boolean() == false) continue;
        for (const json::Value& address : list_at(endpoint, "addresses"))
            if (const std::string* host = address.if_string(); host != nullptr && out.size() < kAddressesMax)
                out.push_back({*host, port});
    }
}

void from_endpoints(const json::Value& endpoints, std::string_view port_name, std::vector<ServiceAddress>& out) {
    for (const json::Value& subset : list_at(endpoints, "subsets")) {
        const std::uint16_t port = numbered(subset, port_name);
        if (port == 0) continue;
        for (const json::Value& address : list_at(subset, "addresses"))
            if (const auto host = address.text_at({"ip"}); !host.empty() && out.size() < kAddressesMax)
                out.push_back({std::string{host}, port});
    }
}

std::optional<std::string> port_name_in(const json::Value& service, std::int64_t port) {
    const json::Value* spec = service.find("spec");
    if (spec == nullptr) return std::nullopt;
    for (const json::Value& one : list_at(*spec, "ports"))
        if (const json::Value* number = one.find("port"); number != nullptr && number->if_int64() == port)
            return std::string{one.text_at({"name"})};
    return std::nullopt;
}

}  // namespace

std::optional<std::string> port_name_of_service(const state::StateView& chain, std::string_view name_space,
                                                std::string_view name, std::int64_t port) {
    const auto service = document_at(chain, "Service", name_space, name);
    return service ? port_name_in(*service, port) : std::nullopt;
}

std::vector<ServiceAddress> endpoints_of_service(const state::StateView& chain, std::string_view name_space,
                                                 std::string_view name, std::string_view port_name) {
    std::vector<ServiceAddress> out;
    if (const auto slices = state::Prefix::kind_in_namespace(name_space, "discovery.k8s.io", "EndpointSlice")) {
        state::Cursor cursor = chain.walk(*slices);
        while (const state::Entry* entry = cursor.next()) {
            const auto slice = json::parse(entry->document());
            if (slice && cluster::label(*slice, "kubernetes.io/service-name") == name)
                from_slice(*slice, port_name, out);
        }
    }
    if (!out.empty()) return out;
    if (const auto endpoints = document_at(chain, "Endpoints", name_space, name))
        from_endpoints(*endpoints, port_name, out);
    return out;
}

Result<std::vector<ServiceAddress>> addresses_of_service(const state::StateView& chain, std::string_view name_space,
                                                         std::string_view name, std::int64_t port) {
    const auto service = document_at(chain, "Service", name_space, name);
    if (!service)
        return fail(ErrorKind::NotFound, fmt::format("service \"{}\" not found in namespace {}", name, name_space));
    if (service->text_at({"spec", "type"}) == "ExternalName" && port > 0 && port < 65'536)
        return std::vector<ServiceAddress>{
            {std::string{service->text_at({"spec", "externalName"})}, static_cast<std::uint16_t>(port)}};
    const auto port_name = port_name_in(*service, port);
    if (!port_name) return fail(ErrorKind::NotFound, fmt::format("service \"{}\" has no port {}", name, port));
    std::vector<ServiceAddress> out = endpoints_of_service(chain, name_space, name, *port_name);
    const std::string_view address = service->text_at({"spec", "clusterIP"});
    if (out.empty() && !address.empty() && address != "None")
        out.push_back({std::string{address}, static_cast<std::uint16_t>(port)});
    if (out.empty())
        return fail(ErrorKind::Unavailable, fmt::format("no endpoints available for service \"{}\"", name));
    return out;
}

}  // namespace rhizome::api
