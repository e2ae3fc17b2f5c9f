// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/view.h"

namespace rhizome::api {

/// Where a service of the cluster can be reached.
struct ServiceAddress {
    std::string host{};
    std::uint16_t port = 0;
    friend bool operator==(const ServiceAddress&, const ServiceAddress&) = default;
};

/// The name of the port with that number; empty for the one that needs none. Nothing when there is no such service or
/// port.
std::optional<std::string> port_name_of_service(const state::StateView& chain, std::string_view name_space,
                                                std::string_view name, std::int64_t port);
/// Who answers at a service's port of that name, as its EndpointSlices say, else its Endpoints; at most 64.
std::vector<ServiceAddress> endpoints_of_service(const state::StateView& chain, std::string_view name_space,
                                                 std::string_view name, std::string_view port_name);

/// The addresses of a service's port: of one of type ExternalName that name, else as its EndpointSlices say, else its
/// Endpoints, else its cluster address. NotFound
/// and Unavailable, in Kubernetes' words, when there is no such service, port or address.
Result<std::vector<ServiceAddress>> addresses_of_service(const state::StateView& chain, std::string_view name_space,
                                                         std::string_view name, std::int64_t port);

}  // namespace rhizome::api
