// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "api/io/front.h"
#include "follow/cosign_rules.h"
#include "node/host.h"
#include "node/peers.h"
#include "node/reporter.h"
#include "node/rpc.h"
#include "node/watching.h"
#include "runtime/log_file.h"

namespace rhizome::node {

/// What a node does for its cluster (docs/operating/node-kinds.md). All keep the whole chain and answer.
enum class NodeRole : std::uint8_t {
    Member,      ///< seals and votes once the chain knows it as a member
    Observer,    ///< does neither, and says nothing of its machine
    Watchtower,  ///< an observer that watches over those who do
};
std::string_view name(NodeRole role);
std::optional<NodeRole> node_role_from(std::string_view name);

struct DaemonOptions {
    std::filesystem::path data{};
    NodeRole role = NodeRole::Member;
    WatchOptions watch{};  ///< of a watchtower
    /// What an observer or watchtower puts its signature under when asked (node/cosigning.h); none: nothing.
    std::vector<follow::CosignRule> cosign_rules{};
    PeerOptions peers{};
    core::Config core{};
    std::optional<ReporterOptions> report{};  ///< what to tell the cluster of this machine; nothing: nothing
    /// Calls out to members on the local networks and hears them; one that listens nowhere only hears, one that listens
    /// on this machine only does neither.
    bool lan_discovery = false;
    unsigned mining_percent = 20;
    std::vector<stream::Address> rpc_listen{};  ///< where the RPC is asked over TLS; none: only on the local socket
    /// The same for one that was not asked for: where the port is taken (a second node on the machine) it does without.
    std::optional<stream::Address> rpc_listen_if_free{};
    std::vector<stream::Address> metrics_listen{};  ///< where /metrics is read in clear by anybody; none: nowhere
    RpcLimits rpc_limits{};
    std::vector<stream::Address> api_listen{};  ///< where the Kubernetes API is asked; none: nowhere
    std::optional<stream::Address> api_listen_if_free{};
    std::string api_token_file{};         ///< `token,user,uid,"groups"`; empty: none
    runtime::LogFileOptions api_audit{};  ///< who asked the Kubernetes API for what; no file: it is not written down
    std::filesystem::path api_keys{};     ///< the keystore that its users' writes are signed from
    api::ProxyOptions api_proxy{};        ///< of what it passes on to services, pods and nodes
    std::string version{};
    Log log{};
    store::ProgressSink opening{};
};

/// A whole node in this process: host, peers, and the RPC on its local socket and over TLS.
class Daemon {
public:
    /// NotFound when there is no chain in the directory, Denied when this machine has no keys there.
    static Result<std::unique_ptr<Daemon>> start(DaemonOptions options);
    /// In order: takes no more requests, says goodbye to its peers, makes everything durable.
    Result<void> stop();
    ~Daemon();
    Daemon(const Daemon&) = delete;
    Daemon& operator=(const Daemon&) = delete;

    [[nodiscard]] Host& host();
    [[nodiscard]] Peers& peers();
    /// Where the RPC listens over TLS, with the ports chosen.
    [[nodiscard]] std::vector<stream::Address> rpc_addresses() const;
    /// Where Prometheus reads /metrics, with the ports chosen.
    [[nodiscard]] std::vector<stream::Address> metrics_addresses() const;
    /// The same of the Kubernetes API.
    [[nodiscard]] std::vector<stream::Address> api_addresses() const;
    /// Waits until it should end or the time is over; says which. Somebody asked by RPC, or something failed.
    bool wait_for_end(milliseconds most);
    /// Whether the node's strand does what it is asked within this time: one that does not is stuck.
    [[nodiscard]] bool answers(milliseconds most) const;
    /// Why it should end, when something failed.
    [[nodiscard]] std::optional<Error> failure() const;

private:
    struct Inside;
    explicit Daemon(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::node
