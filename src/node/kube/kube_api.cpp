// SPDX-License-Identifier: Apache-2.0
#include "node/kube/kube_api.h"

#include <unistd.h>

#include <array>

#include <fmt/core.h>

#include "api/io/collector.h"
#include "api/io/remaker.h"
#include "node/identity.h"
#include "node/kube/authority.h"
#include "node/kube/front_server.h"
#include "node/kube/host_backend.h"
#include "node/kube/revision_floor.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "runtime/files.h"
#include "runtime/host_addresses.h"

namespace rhizome::node {
namespace {

constexpr std::size_t kTokenFileBytesMax = 1u << 20;

/// What the certificate of this node is good for: every name and number under which clients may ask.
std::vector<std::string> names_of(const KubeApiOptions& options, const NodeView& view, const Host& host) {
    std::vector<std::string> names{"localhost",  "127.0.0.1",          "::1",
                                   "kubernetes", "kubernetes.default", "kubernetes.default.svc"};
    if (const std::string node = node_name_of(host.key(), view); !node.empty()) names.push_back(node);
    std::array<char, 256> machine{};
    if (::gethostname(machine.data(), machine.size() - 1) == 0 && machine[0] != '\0')
        names.emplace_back(machine.data());
    for (std::string address : runtime::host_addresses()) {
        std::erase_if(address, [](char c) { return c == '[' || c == ']'; });
        names.push_back(std::move(address));
    }
    for (const stream::Address& one : options.listen)
        if (one.host != "0.0.0.0" && one.host != "::") names.push_back(one.host);
    return names;
}

}  // namespace

struct KubeApi::Inside {
    Inside(Host& host, Gossip& gossip, KeyKeeper& keeper, const KubeApiOptions& options, HostBackend::Own own,
           api::Revision first)
        : backend(host, gossip, keeper, options.refusals, Keystore{options.keys}, std::move(own), first,
                  {.changes = options.limits.watch_changes_max, .bytes = options.limits.watch_bytes_max}),
          host_(host) {}
    HostBackend backend;
    Host& host_;
    std::unique_ptr<api::Collector> collector{};
    std::unique_ptr<api::Remaker> remaker{};
    std::unique_ptr<http::Server> server{};
};

KubeApi::KubeApi(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
KubeApi::~KubeApi() { stop(milliseconds{0}); }

Result<std::unique_ptr<KubeApi>> KubeApi::start(stream::IoContext& io, Host& host, Gossip& gossip, KeyKeeper& keeper,
                                                KubeApiOptions options) {
    const bool optional = options.listen.empty() && options.listen_if_free.has_value();
    if (optional) options.listen = {*options.listen_if_free};
    if (options.listen.empty()) return std::unique_ptr<KubeApi>{};
    api::FrontOptions front{.version = options.version, .proxy = options.proxy, .log = options.log};
    if (!options.token_file.empty()) {
        TRY(const std::string text, runtime::read_file(options.token_file, kTokenFileBytesMax));
        auto tokens = api::parse_token_file(text);
        if (!tokens) return Fail{with_context(options.token_file, tokens.error())};
        front.tokens = *std::move(tokens);
    }
    if (!options.audit.file.empty()) {
        TRY(auto file, runtime::LogFile::open(options.audit));
        front.audit = [log = std::shared_ptr{std::move(file)}](const std::string& line) {
            return log->write_line(line);
        };
    }
    const Time now = runtime::now();
    TRY(auto authority, open_authority(options.data, now));
    TRY(auto machine, load_identity(options.data));
    TRY(const auto first, begin_revisions(options.data, HostBackend::first_by_clock(host, now)));
    auto inside = std::make_unique<Inside>(
        host, gossip, keeper, options,
        HostBackend::Own{.transport = std::move(machine.keys.transport), .authority = std::move(authority)}, first);
    const auto service = api::make_service(inside->backend, std::move(front));
    const auto believes = [&backend = inside->backend](const stream::Certificate& shown) -> Result<void> {
        if (backend.voucher_of(shown)) return ok();
        return fail(ErrorKind::Denied, "no machine of this cluster vouches for the certificate");
    };
    auto started = start_front(io, service,
                               {.data = options.data,
                                .names = names_of(options, *host.view(), host),
                                .listen = options.listen,
                                .believes = believes,
                                .limits = options.limits,
                                .log = options.log});
    if (!started) {
        if (!optional || started.error().kind != ErrorKind::Conflict) return Fail{started.error()};
        options.log.warn("the Kubernetes API is not served", {{"why", started.error()}});
        return std::unique_ptr<KubeApi>{};
    }
    inside->server = *std::move(started);
    inside->collector = std::make_unique<api::Collector>(service, io.make_strand());
    inside->remaker = std::make_unique<api::Remaker>(service, io.make_strand());
    host.set_remaker([remaker = inside->remaker.get()](const ledger::TxId& lost, const Host::Remade& told) {
        return remaker->make_again(lost, [told](const std::optional<std::string>& txid) {
            told(txid ? ledger::TxId::from_hex(*txid) : std::nullopt);
        });
    });
    return std::unique_ptr<KubeApi>{new KubeApi{std::move(inside)}};
}

void KubeApi::stop(milliseconds grace) {
    if (inside_) {
        inside_->host_.set_remaker({});
        inside_->remaker.reset();
        inside_->collector.reset();
    }
    if (inside_ && inside_->server) inside_->server->stop(grace);
    if (inside_) inside_->server.reset();
}

stream::Certificate KubeApi::authority() const { return inside_->backend.authority(); }

std::vector<stream::Address> KubeApi::addresses() const { return inside_->server->addresses(); }

}  // namespace rhizome::node
