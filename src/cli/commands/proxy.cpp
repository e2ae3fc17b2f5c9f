// SPDX-License-Identifier: Apache-2.0
// `rhizome proxy`: the Kubernetes API on a person's own machine, with the person's own key.
#include <thread>

#include <fmt/core.h>

#include "cli/build_info.h"
#include "cli/commands/commands.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/node/vouched.h"
#include "cli/data_option.h"
#include "cli/kube_file.h"
#include "cli/node_option.h"
#include "cli/text.h"
#include "node/kube/authority.h"
#include "node/kube/front_server.h"
#include "node/proxy/held.h"
#include "node/proxy/remote_backend.h"
#include "runtime/interrupt.h"
#include "runtime/log_stream.h"

namespace rhizome::cli {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kLook{250};
constexpr milliseconds kGrace{500};

/// The keys that sign, opened; the first one asks the node.
Result<node::NamedKeys> keys_of(Invocation& call) {
    TRY(const auto store, key::keystore_of(call));
    std::vector<std::string> names = call.texts("key");
    if (names.empty()) names.push_back(call.text("as"));
    node::NamedKeys keys;
    for (const std::string& name : names) {
        TRY(const auto info, key::find_key(call, store, name));
        TRY(auto secret, key::open_key(call, store, info));
        keys.push_back(
            std::make_shared<const node::NamedKey>(node::NamedKey{info.name, std::move(secret), info.public_key}));
    }
    return keys;
}

/// A connection to the node that asks as the first key.
Result<node::RemoteCalls::Connect> connect_of(Invocation& call, const node::NamedKeys& keys) {
    if (!asks_elsewhere(call)) {
        // The node of this machine: its socket opens to whoever may use it.
        TRY(const fs::path data, data_folder_of(call));
        return node::RemoteCalls::Connect{[data] { return node::RpcClient::connect(data); }};
    }
    TRY(const auto where, node_place(call));
    return node::RemoteCalls::Connect{[where, mine = keys.front()] {
        return node::RpcClient::connect(
            {.address = where.address, .node_key = where.key, .secret = mine->secret.clone(), .key = mine->key});
    }};
}

struct Serving {
    fs::path folder{};  ///< where the proxy keeps what it needs
    std::string user{};
    stream::Address listen{};
};

Result<void> serve(Invocation& call, const Serving& at, node::RemoteBackend& backend, const Log& log) {
    stream::IoContext io{{.threads = 2}};
    const auto service = api::make_service(backend, {.version = std::string{build_info().version}, .log = log});
    TRY(auto server, node::start_front(io, service,
                                       {.data = at.folder,
                                        .names = {"localhost", "127.0.0.1", "::1", at.listen.host},
                                        .listen = {at.listen},
                                        .log = log}));
    const Time now = call.console.now();
    TRY(const auto authority, node::open_authority(at.folder, now));
    TRY(const auto identity, node::client_identity(authority, {.user = at.user}, now));
    api::KubeContext context{.name = call.text("context"), .user = "rhizome-proxy-" + at.user};
    if (context.name.empty()) context.name = "rhizome-proxy";
    context.server = "https://" + server->addresses().front().text();
    context.authority_pem = authority.chain.front().to_pem();
    context.certificate_pem = identity.chain.front().to_pem();
    context.key_pem = as_text(identity.key.to_pem().view());
    TRY(const auto file, write_kube_context(call.console, call.if_text("out"), context));
    call.console.out << fmt::format("kubectl --context {} asks {} and signs as {}{}\n", context.name, context.server,
                                    at.user, file.empty() ? "" : fmt::format(" ({})", printable(file.native())));
    call.console.out.flush();
    const runtime::Interrupt interrupt;
    while (!interrupt.asked()) std::this_thread::sleep_for(kLook);
    server->stop(kGrace);
    return ok();
}

Result<void> run_proxy(Invocation& call) {
    auto listen = stream::Address::parse(call.text("listen"));
    if (!listen || listen->is_local)
        return fail(ErrorKind::Usage,
                    fmt::format("--listen {} is no address: 127.0.0.1:8001", printable(call.text("listen"))));
    TRY(const fs::path config, call.console.environment.config_folder());
    node::ProxyOptions options{.held = node::held_folder(config),
                               .hold_all = call.flag("hold"),
                               .verify = call.flag("verify"),
                               .light_data = config / "proxy" / "light",
                               .version = std::string{build_info().version}};
    TRY(options.keys, keys_of(call));
    TRY(options.names, key::keystore_of(call));
    TRY(options.connect, connect_of(call, options.keys));
    if (const auto text = call.if_text("trust")) {
        TRY(options.vouched, read_vouched(*text));
        options.verify = true;
    }
    runtime::StreamSink sink{call.console.err,
                             call.console.err_is_terminal ? runtime::LogForm::Text : runtime::LogForm::Json};
    options.log = Log{sink, {.level = LogLevel::Info, .debug_areas = {}}}.area("proxy");
    const Log log = options.log;
    const Serving at{.folder = config / "proxy", .user = options.keys.front()->name, .listen = *std::move(listen)};
    TRY(const auto backend, node::RemoteBackend::start(std::move(options)));
    return serve(call, at, *backend, log);
}

}  // namespace

Command proxy_command() {
    return {
        .name = "proxy",
        .summary = "Let kubectl use your own key with a node elsewhere",
        .details =
            "Serves the Kubernetes API on this machine: what is read comes from the node, what is written is signed "
            "here with your key and sent there signed. No node ever has your key. A context for kubectl goes into its "
            "file; only its certificate can use the proxy. Secrets come in clear from the node when your key could "
            "change them, and are sealed here before they leave.\n"
            "\n"
            "A change that needs more signatures than yours is refused, or held: with --hold, or when the object has "
            "the annotation rhizome.dev/hold (its value, \"2 of 3\", is for people). 'tx held' lists what waits; "
            "'tx sign' and 'tx submit' take the files it names.\n"
            "\n"
            "--verify believes nothing that is not proven: that a quorum of the voters made the block final, and that "
            "what is shown stands in its state. Reads are then as old as the newest final block.",
        .examples = {{"with your own key", "rhizome proxy --node 10.0.0.7:7701 --key alice"},
                     {"believing nobody", "rhizome proxy --node 10.0.0.7:7701 --key alice --verify --trust 812:9f3c.."},
                     {"then, in another terminal", "kubectl --context rhizome-proxy get pods"}},
        .options = with_node_options(
            {data_option(),
             {.name = "key",
              .letter = 'k',
              .value_name = "NAME",
              .help = "a key that signs; the first one also asks the node. Default: that of --as",
              .repeatable = true,
              .completion = Completion::of(key::key_names)},
             {.name = "listen", .value_name = "ADDRESS", .help = "where kubectl asks", .fallback = "127.0.0.1:8001"},
             {.name = "context",
              .value_name = "NAME",
              .help = "what kubectl calls it; default: rhizome-proxy",
              .fallback = ""},
             {.name = "out",
              .value_name = "FILE",
              .help = "a file of its own for the context instead of kubectl's",
              .completion = Completion::files()},
             {.name = "hold", .help = "hold every change that needs more signatures, instead of refusing it"},
             {.name = "verify", .help = "show only what is proven to be final"},
             {.name = "trust",
              .value_name = "BLOCK",
              .help = "verify from this final block: HEIGHT:HASH, or a file of 'chain anchor'",
              .completion = Completion::files()}}),
        .variables = {key::passphrase_variable()},
        .run = run_proxy,
        .group = std::string{kGroupYou},
    };
}

}  // namespace rhizome::cli
