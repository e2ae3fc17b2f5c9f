// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "node/host.h"
#include "node/peers.h"
#include "node/reporter.h"
#include "node/rpc.h"

namespace rhizome::node {

struct DaemonOptions {
    std::filesystem::path data{};
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
    RpcLimits rpc_limits{};
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
