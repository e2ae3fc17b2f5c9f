// SPDX-License-Identifier: Apache-2.0
#include "node/daemon.h"

#include <sys/stat.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>

#include <fmt/core.h>

#include "http/server.h"
#include "net/beacon.h"
#include "node/identity.h"
#include "node/rpc.h"
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

}  // namespace

struct Daemon::Inside {
    explicit Inside(Identity identity_in) : identity(std::move(identity_in)) {}

    Identity identity;
    stream::IoContext io{{.threads = 2}};
    std::unique_ptr<Host> host{};
    std::unique_ptr<Peers> peers{};
    std::unique_ptr<net::LanBeacon> beacon{};
    std::unique_ptr<Reporter> reporter{};
    std::unique_ptr<http::Server> rpc{};
    std::filesystem::path socket{};

    mutable std::mutex mutex{};
    std::condition_variable changed{};
    bool should_end = false;
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
    const auto router = make_rpc(*in.host, {.peers = [&in] { return in.peers->list(); },
                                            .listens = std::move(listens),
                                            .stop = [&in] { in.end(std::nullopt); },
                                            .version = options.version,
                                            .started = runtime::now()});
    // Nobody else may connect, not even for the moment between making the socket and closing it to others.
    const mode_t before = ::umask(0177);
    auto server = http::Server::start(
        in.io,
        {.listen = {{.address = {.host = in.socket.native(), .is_local = true}, .log = options.log}},
         .log = options.log},
        http::Router::handler(router));
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
    if (in.rpc) in.rpc->stop(kGrace);
    in.rpc.reset();
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
