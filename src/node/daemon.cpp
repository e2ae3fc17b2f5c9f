// SPDX-License-Identifier: Apache-2.0
#include "node/daemon.h"

#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <fmt/core.h>

#include "http/server.h"
#include "net/beacon.h"
#include "net/transport_identity.h"
#include "node/identity.h"
#include "node/rpc_client.h"
#include "node/status.h"
#include "p2p/address.h"
#include "runtime/clock.h"
#include "runtime/os_error.h"

namespace rhizome::node {
namespace {

/// What long answers get to end in order.
constexpr milliseconds kGrace{2'000};
/// Of a local socket's path, by the kernel.
constexpr std::size_t kSocketPathMax = 107;

http::Response refuse(unsigned status, std::string_view message, const http::Headers*) {
    return rpc_refusal(status, message);
}

/// The RPC over the network: the node shows the certificate that its peers see, which says who it is on the chain.
Result<std::unique_ptr<http::Server>> listen_at(stream::IoContext& io, const DaemonOptions& options,
                                                const std::vector<stream::Address>& addresses,
                                                const crypto::NodeKeys& keys, const http::Handler& handler) {
    TRY(auto identity, net::make_transport_identity(keys));
    TRY(auto tls, stream::TlsContext::server({.identity = std::move(identity), .protocols = {"http/1.1"}}));
    http::ServerOptions server{.tls = std::move(tls),
                               .connections_max = options.rpc_limits.connections_max,
                               .address_connections_max = options.rpc_limits.address_connections_max,
                               .refuse = refuse,
                               .log = options.log};
    server.limits.body_bytes_max = options.rpc_limits.body_bytes_max;
    server.limits.handshake_time = options.rpc_limits.handshake_time;
    server.limits.head_time = options.rpc_limits.header_time;
    server.limits.idle_time = options.rpc_limits.idle_time;
    for (const stream::Address& address : addresses) server.listen.push_back({.address = address, .log = options.log});
    return http::Server::start(io, std::move(server), handler);
}

/// Null when it listens nowhere.
Result<std::unique_ptr<http::Server>> listen_remote(stream::IoContext& io, const DaemonOptions& options,
                                                    const crypto::NodeKeys& keys, const http::Handler& handler) {
    if (!options.rpc_listen.empty()) return listen_at(io, options, options.rpc_listen, keys, handler);
    if (!options.rpc_listen_if_free) return std::unique_ptr<http::Server>{};
    auto server = listen_at(io, options, {*options.rpc_listen_if_free}, keys, handler);
    if (server || server.error().kind != ErrorKind::Conflict) return server;
    options.log.warn("the RPC is on the local socket only", {{"why", server.error()}});
    return std::unique_ptr<http::Server>{};
}

}  // namespace

struct Daemon::Inside {
    explicit Inside(Identity identity_in) : identity(std::move(identity_in)) {}

    Identity identity;
    stream::IoContext io{{.threads = 2}};
    std::unique_ptr<Host> host{};
    std::unique_ptr<Peers> peers{};
    std::unique_ptr<net::LanBeacon> beacon{};
    std::unique_ptr<Reporter> reporter{};
    std::unique_ptr<http::Server> rpc{};         ///< on the local socket
    std::unique_ptr<http::Server> rpc_remote{};  ///< over TLS
    std::filesystem::path socket{};

    mutable std::mutex mutex{};
    std::condition_variable changed{};
    bool should_end = false;
    json::Array rpc_addresses{};
    std::optional<Error> failure{};

    /// Finds members on the local networks; that this cannot be had is no reason not to run.
    void start_beacon(const Log& log) {
        // Who listens on this machine only cannot be reached from the network.
        const auto& listens = peers->addresses();
        const auto place = std::find_if(listens.begin(), listens.end(), [](const stream::Address& one) {
            const auto address = p2p::Address::parse(one.text());
            return address && !address->is_loopback();
        });
        if (!listens.empty() && place == listens.end()) return;
        net::BeaconChain chain{};
        const auto id = host->view()->chain.view();
        std::copy(id.begin(), id.end(), chain.begin());
        auto started = net::LanBeacon::start(
            host->strand(), chain, identity.keys.chain,
            {.links_port = listens.empty() ? std::uint16_t{0} : place->port, .now = runtime::now, .log = log},
            [this, log](const net::ChainKey& key, const stream::Address& address) {
                // Anybody can make keys and sign with them: only whom the chain knows is dialled.
                const std::string name = node_name_of(key, *host->view());
                if (name.empty() || !peers) return;
                log.debug("a member is on this network", {{"node", name}, {"address", address.text()}});
                peers->add_seed(address);
            });
        if (started) {
            beacon = *std::move(started);
        } else {
            log.warn("members on the local network are not looked for", {{"why", started.error()}});
        }
    }

    json::Array rpc_texts() {
        const std::lock_guard hold{mutex};
        return rpc_addresses;
    }

    void end(std::optional<Error> why) {
        const std::lock_guard hold{mutex};
        should_end = true;
        if (!failure) failure = std::move(why);
        changed.notify_all();
    }
};

Daemon::Daemon(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Daemon::~Daemon() { (void)stop(); }

Result<std::unique_ptr<Daemon>> Daemon::start(DaemonOptions options) {
    TRY(auto identity, load_identity(options.data));
    auto inside = std::make_unique<Inside>(std::move(identity));
    Inside& in = *inside;
    in.socket = socket_file(options.data);
    if (in.socket.native().size() > kSocketPathMax)
        return fail(ErrorKind::Unsupported,
                    fmt::format("the data directory's name is too long for a local socket: {} has {} bytes, {} are "
                                "allowed\nchoose a shorter one with --data",
                                in.socket.native(), in.socket.native().size(), kSocketPathMax));
    std::unique_ptr<Daemon> daemon{new Daemon{std::move(inside)}};
    TRY(in.host, Host::start(in.io,
                             {.folder = options.data,
                              .core = options.core,
                              .mining_percent = options.mining_percent,
                              .log = options.log,
                              .opening = options.opening,
                              .failed = [&in](const Error& why) { in.end(why); }},
                             in.identity.keys));
    TRY(in.peers, Peers::start(in.io, *in.host, in.identity.keys, std::move(options.peers)));
    json::Array listens;
    for (const stream::Address& address : in.peers->addresses()) listens.push_back(address.text());
    RpcSources sources{.peers = [&in] { return in.peers->list(); },
                       .listens = std::move(listens),
                       .rpc = [&in] { return in.rpc_texts(); },
                       .stop = [&in] { in.end(std::nullopt); },
                       .version = options.version,
                       .started = runtime::now()};
    const auto handler = make_rpc(*in.host, std::move(sources), options.rpc_limits);
    TRY(in.rpc_remote, listen_remote(in.io, options, in.identity.keys, handler));
    if (in.rpc_remote) {
        const std::lock_guard hold{in.mutex};
        for (const stream::Address& address : in.rpc_remote->addresses()) in.rpc_addresses.push_back(address.text());
    }
    // Nobody else may connect, not even for the moment between making the socket and closing it to others.
    const mode_t before = ::umask(0177);
    auto server = http::Server::start(
        in.io,
        {.listen = {{.address = {.host = in.socket.native(), .is_local = true}, .log = options.log}},
         .refuse = refuse,
         .log = options.log},
        handler);
    ::umask(before);
    if (!server) return Fail{std::move(server).error()};
    in.rpc = *std::move(server);
    if (options.lan_discovery) in.start_beacon(options.log.area("lan"));
    if (options.report) {
        ReporterOptions report = *std::move(options.report);
        report.data = options.data;
        report.listens = in.peers->addresses();
        report.version = options.version;
        report.log = options.log.area("report");
        in.reporter = std::make_unique<Reporter>(in.io, *in.host, in.identity.keys, std::move(report));
    }
    return daemon;
}

Result<void> Daemon::stop() {
    Inside& in = *inside_;
    for (auto* server : {&in.rpc_remote, &in.rpc}) {
        if (*server) (*server)->stop(kGrace);
        server->reset();
    }
    if (!in.socket.empty()) {
        std::error_code ignored;
        std::filesystem::remove(in.socket, ignored);
    }
    in.reporter.reset();
    in.beacon.reset();
    if (in.peers) in.peers->stop();
    in.peers.reset();
    if (!in.host) return ok();
    auto stopped = in.host->stop();
    in.host.reset();
    return stopped;
}

Host& Daemon::host() { return *inside_->host; }
Peers& Daemon::peers() { return *inside_->peers; }
std::vector<stream::Address> Daemon::rpc_addresses() const {
    return inside_->rpc_remote ? inside_->rpc_remote->addresses() : std::vector<stream::Address>{};
}

bool Daemon::wait_for_end(milliseconds most) {
    std::unique_lock hold{inside_->mutex};
    return inside_->changed.wait_for(hold, most, [&] { return inside_->should_end; });
}

bool Daemon::answers(milliseconds most) const {
    struct Asked {
        std::mutex mutex{};
        std::condition_variable came{};
        bool answered = false;
    };
    const auto asked = std::make_shared<Asked>();
    inside_->host->strand().post([asked] {
        const std::lock_guard hold{asked->mutex};
        asked->answered = true;
        asked->came.notify_all();
    });
    std::unique_lock hold{asked->mutex};
    return asked->came.wait_for(hold, most, [&] { return asked->answered; });
}

std::optional<Error> Daemon::failure() const {
    const std::lock_guard hold{inside_->mutex};
    return inside_->failure;
}

}  // namespace rhizome::node
