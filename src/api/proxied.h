// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/status.h"
#include "api/users.h"
#include "base/json.h"
#include "state/view.h"

/// The subresource `proxy` of Services, Pods and Nodes, as decisions: whom a request is passed on to, what is passed on
/// of it, and what comes back of the answer. Rules and sentences are those of kube-apiserver; `io/proxied.cpp` dials.
namespace rhizome::api {

/// `[scheme:]NAME[:port]`: `web`, `web:80`, `https:web:443`, `https:web:`.
struct ProxiedName {
    bool tls = false;
    std::string name{};
    std::string port{};  ///< a name or a number; may be empty
};
std::optional<ProxiedName> parse_proxied_name(std::string_view text);

/// Whether an address (in numbers) may be dialled on somebody's behalf: not what is this machine's own (loopback), of
/// one link only (cloud machines are told secrets there), of many (multicast, broadcast), or nobody's. Names are never
/// dialled: whoever answers for a name could point it at any of these.
bool may_be_dialled(std::string_view address, bool loopback_too);

struct ProxiedTo {
    bool tls = false;
    std::string host{};  ///< in numbers
    std::uint16_t port = 0;
    /// `10.0.0.1:80`, `[2001:db8::1]:80`.
    [[nodiscard]] std::string authority() const;
};

/// An endpoint of the service, as its EndpointSlices say, else its Endpoints; of several the one that `turn` falls on.
/// The port is that of the Service, by name or number. 503 where there is none, 400 for an address that is not dialled.
/// A service that is not there has none.
Result<ProxiedTo, Status> proxied_service(const state::StateView& chain, std::string_view name_space,
                                          const ProxiedName& asked, std::size_t turn, bool loopback_too);
/// `status.podIP`; without a port the first that a container names.
Result<ProxiedTo, Status> proxied_pod(const json::Value& pod, const ProxiedName& asked, bool loopback_too);
/// The node's `InternalIP`; without a port that of its agent.
Result<ProxiedTo, Status> proxied_node(const json::Value& node, const ProxiedName& asked, bool loopback_too);

/// The request that is passed on, as its client sees this server.
struct ProxiedFrom {
    std::string host{};    ///< `Host` of the request
    std::string prefix{};  ///< of its path, up to and with `/proxy`
    std::string rest{};    ///< what is behind, as it was sent: `/a%20b`, or empty
    std::string client{};  ///< the address it comes from
};
using HeaderFields = std::vector<std::pair<std::string, std::string>>;
/// The fields of the request for whoever is behind: without those that are for this connection or for this server (who
/// asks, and by which token, is nobody else's business), with `X-Forwarded-*`.
HeaderFields fields_passed_on(const std::vector<Header>& asked, const ProxiedFrom& from);
/// The fields of the answer for the client: without those of the other connection, `Location` as the client would reach
/// it.
HeaderFields fields_passed_back(const std::vector<Header>& answered, const ProxiedFrom& from, const ProxiedTo& to);

}  // namespace rhizome::api
