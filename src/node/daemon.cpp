// SPDX-License-Identifier: Apache-2.0
#include "node/daemon.h"

#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <fmt/core.h>

#include "base/ensure.h"
#include "http/server.h"
#include "net/beacon.h"
#include "net/dns_sd.h"
#include "net/transport_identity.h"
#include "node/cosigning.h"
#include "node/identity.h"
#include "node/kube/kube_api.h"
#include "node/lost_events.h"
#include "node/membership.h"
#include "node/metrics.h"
#include "node/rpc_client.h"
#include "node/status.h"
#include "p2p/address.h"
#include "runtime/clock.h"
#include "runtime/os_error.h"

namespace rhizome::node {
namespace {

/// What long answers get to end in order.
constexpr milliseconds kGrace{2'000};
/// Connections that read metrics at the same time: some Prometheus servers and a person.
constexpr std::size_t kScrapersMax = 32;
/// Of blocks that are kept at hand, as they are sent; in memory they take up to twice as much. Older ones come from the
/// disk.
constexpr std::size_t kRecentBlockBytes = 2u << 20;
/// Of transactions by their wire ids, as they lie in memory: those of the last second or more, which the next blocks
/// name. Of a block of 4 MiB the oldest are asked for again.
constexpr std::size_t kRecentTxBytes = 3u << 20;
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

/// For Prometheus, which signs nothing: in clear, and nothing but figures.
Result<std::unique_ptr<http::Server>> listen_metrics(stream::IoContext& io, const DaemonOptions& options,
                                                     const Host& host, const Gossip& gossip) {
    if (options.metrics_listen.empty()) return std::unique_ptr<http::Server>{};
    http::ServerOptions server{
        .connections_max = kScrapersMax, .address_connections_max = kScrapersMax, .refuse = refuse, .log = options.log};
    server.limits.body_bytes_max = 0;
    for (const stream::Address& address : options.metrics_listen)
        server.listen.push_back({.address = address, .log = options.log});
    return http::Server::start(io, std::move(server),
                               make_metrics_handler(host, [&gossip] { return gossip_metrics(gossip.usage()); }));
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

std::string_view name(NodeRole role) {
    switch (role) {
        case NodeRole::Member: return "member";
        case NodeRole::Observer: return "observer";
        case NodeRole::Watchtower: return "watchtower";
    }
    unreachable("a NodeRole is one of these");
}

std::optional<NodeRole> node_role_from(std::string_view text) {
    for (const NodeRole role : {NodeRole::Member, NodeRole::Observer, NodeRole::Watchtower})
        if (name(role) == text) return role;
    return std::nullopt;
}

struct Daemon::Inside {
    explicit Inside(Identity identity_in) : identity(std::move(identity_in)) {}

    Identity identity;
    stream::IoContext io{{.threads = 2}};
    std::unique_ptr<Host> host{};
    std::unique_ptr<Gossip> gossip{};
    std::unique_ptr<LostEvents> lost{};
    std::unique_ptr<Peers> peers{};
    std::unique_ptr<net::LanBeacon> beacon{};
    std::unique_ptr<net::DnsSd> dns_sd{};
    std::unique_ptr<Reporter> reporter{};
    std::shared_ptr<void> membership{};  ///< remembers that it was a member
    RefusalJournal refusals{};
    std::unique_ptr<KeyKeeper> keeper{};  ///< of cluster keys
    std::unique_ptr<Watching> watching{};
    std::unique_ptr<Cosigning> cosigning{};
    std::unique_ptr<http::Server> rpc{};         ///< on the local socket
    std::unique_ptr<http::Server> rpc_remote{};  ///< over TLS
    std::unique_ptr<http::Server> metrics{};     ///< in clear
    std::unique_ptr<KubeApi> kube{};             ///< the Kubernetes API
    std::filesystem::path socket{};

    mutable std::mutex mutex{};
    std::condition_variable changed{};
    bool should_end = false;
    json::Array rpc_addresses{};
    json::Array api_addresses{};
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
        const std::uint16_t port = listens.empty() ? std::uint16_t{0} : place->port;
        start_dns_sd(port, log);
        net::BeaconChain chain{};
        const auto id = host->view()->chain.view();
        std::copy(id.begin(), id.end(), chain.begin());
        auto started = net::LanBeacon::start(
            host->strand(), chain, identity.keys.chain, {.links_port = port, .now = runtime::now, .log = log},
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

    /// The same through Avahi, where it runs. What it says is not signed: only who calls itself a member of this chain
    /// is dialled, and the link shows whether it is.
    void start_dns_sd(std::uint16_t port, const Log& log) {
        const auto view = host->view();
        const std::string chain = "chain=" + view->chain.hex();
        const std::string key = to_hex(host->key());
        const std::string name = node_name_of(host->key(), *view);
        dns_sd = net::DnsSd::start(
            host->strand(),
            {.name = fmt::format("{} {}", name.empty() ? "rhizome" : name.substr(0, 40), key.substr(2, 16)),
             .port = port,
             .texts = {chain, "key=" + key},
             .log = log},
            [this, log, chain](const net::DnsSdFound& found) {
                if (std::find(found.texts.begin(), found.texts.end(), chain) == found.texts.end() || !peers) return;
                for (const std::string& text : found.texts) {
                    net::ChainKey other{};
                    if (!text.starts_with("key=") || !from_hex_into(std::string_view{text}.substr(4), other)) continue;
                    const std::string node = node_name_of(other, *host->view());
                    if (node.empty() || other == host->key()) continue;
                    log.debug("a member is on this network", {{"node", node}, {"address", found.address.text()}});
                    return peers->add_seed(found.address);
                }
            });
    }

    json::Array rpc_texts() {
        const std::lock_guard hold{mutex};
        return rpc_addresses;
    }
    json::Array api_texts() {
        const std::lock_guard hold{mutex};
        return api_addresses;
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
    options.core.recent_bytes = std::min(options.core.recent_bytes, kRecentBlockBytes);
    options.core.recent_txs_bytes = std::min(options.core.recent_txs_bytes, kRecentTxBytes);
    TRY(in.host, Host::start(in.io,
                             {.folder = options.data,
                              .core = options.core,
                              .takes_part = options.role == NodeRole::Member,
                              .mining_percent = options.mining_percent,
                              .log = options.log,
                              .opening = options.opening,
                              .failed = [&in](const Error& why) { in.end(why); }},
                             in.identity.keys));
    if (options.role == NodeRole::Member) in.membership = remember_membership(*in.host, options.log);
    in.gossip = std::make_unique<Gossip>(*in.host, in.identity.keys, options.role == NodeRole::Member,
                                         options.log.area("gossip"));
    in.lost = std::make_unique<LostEvents>(*in.host, *in.gossip);
    options.peers.gossip = in.gossip.get();
    TRY(in.peers, Peers::start(in.io, *in.host, in.identity.keys, std::move(options.peers)));
    in.keeper = std::make_unique<KeyKeeper>(
        in.io, *in.host, in.identity.keys,
        KeyKeeper::Options{
            .data = options.data, .writes = options.role == NodeRole::Member, .log = options.log.area("secrets")});
    json::Array listens;
    for (const stream::Address& address : in.peers->addresses()) listens.push_back(address.text());
    if (options.role == NodeRole::Watchtower) {
        options.watch.log = options.log.area("watch");
        TRY(in.watching, Watching::start(in.io, *in.host, std::move(options.watch)));
    }
    if (!options.cosign_rules.empty()) {
        if (options.role == NodeRole::Member)
            return fail(ErrorKind::Usage,
                        "a member does not co-sign: its key signs blocks and votes, nothing else\nset role to observer "
                        "or watchtower on the machine that does");
        in.cosigning = std::make_unique<Cosigning>(*in.host, in.identity.keys, std::move(options.cosign_rules),
                                                   options.log.area("cosign"));
    }
    RpcSources sources{.peers = [&in] { return in.peers->list(); },
                       .listens = std::move(listens),
                       .rpc = [&in] { return in.rpc_texts(); },
                       .api = [&in] { return in.api_texts(); },
                       .refuse_peers = [&in](const std::set<ledger::MemberKey>& keys) { in.peers->refuse(keys); },
                       .stop = [&in] { in.end(std::nullopt); },
                       .version = options.version,
                       .started = runtime::now(),
                       .role = std::string{name(options.role)},
                       .secrets = in.keeper.get(),
                       .refusals = &in.refusals};
    if (in.cosigning)
        sources.cosign = [&in](ledger::Tx tx, Cosigning::Told told) { in.cosigning->cosign(std::move(tx), told); };
    sources.metrics = [&in] { return gossip_metrics(in.gossip->usage()); };
    if (in.watching) sources.watching = [&in] { return in.watching->shown(); };
    const auto handler = make_rpc(*in.host, std::move(sources), options.rpc_limits);
    TRY(in.rpc_remote, listen_remote(in.io, options, in.identity.keys, handler));
    if (in.rpc_remote) {
        const std::lock_guard hold{in.mutex};
        for (const stream::Address& address : in.rpc_remote->addresses()) in.rpc_addresses.push_back(address.text());
    }
    TRY(in.metrics, listen_metrics(in.io, options, *in.host, *in.gossip));
    TRY(in.kube, KubeApi::start(in.io, *in.host, *in.gossip, *in.keeper,
                                {.data = options.data,
                                 .listen = options.api_listen,
                                 .listen_if_free = options.api_listen_if_free,
                                 .token_file = options.api_token_file,
                                 .audit = options.api_audit,
                                 .keys = options.api_keys,
                                 .limits = options.rpc_limits,
                                 .proxy = options.api_proxy,
                                 .refusals = &in.refusals,
                                 .version = options.version,
                                 .log = options.log.area("api")}));
    if (in.kube) {
        const std::lock_guard hold{in.mutex};
        for (const stream::Address& address : in.kube->addresses()) in.api_addresses.push_back(address.text());
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
    if (options.report && options.role == NodeRole::Member) {
        ReporterOptions report = *std::move(options.report);
        report.data = options.data;
        report.listens = in.peers->addresses();
        report.version = options.version;
        if (in.kube) report.api_authority = in.kube->authority().to_der();
        report.log = options.log.area("report");
        in.reporter = std::make_unique<Reporter>(in.io, *in.host, in.identity.keys, std::move(report));
    }
    return daemon;
}

Result<void> Daemon::stop() {
    Inside& in = *inside_;
    if (in.kube) in.kube->stop(kGrace);
    in.kube.reset();
    for (auto* server : {&in.metrics, &in.rpc_remote, &in.rpc}) {
        if (*server) (*server)->stop(kGrace);
        server->reset();
    }
    if (!in.socket.empty()) {
        std::error_code ignored;
        std::filesystem::remove(in.socket, ignored);
    }
    in.membership.reset();
    in.keeper.reset();
    in.reporter.reset();
    in.watching.reset();
    in.cosigning.reset();
    in.beacon.reset();
    in.dns_sd.reset();
    if (in.peers) in.peers->stop();
    in.peers.reset();
    in.lost.reset();
    in.gossip.reset();
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

std::vector<stream::Address> Daemon::metrics_addresses() const {
    return inside_->metrics ? inside_->metrics->addresses() : std::vector<stream::Address>{};
}

std::vector<stream::Address> Daemon::api_addresses() const {
    return inside_->kube ? inside_->kube->addresses() : std::vector<stream::Address>{};
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
