// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "http/exchange.h"
#include "node/host.h"

/// What a node answers under `/rhizome/v1/` (docs/spec/rpc.md): JSON over HTTP/1.1, and a WebSocket for what happens.
/// The same answers on the local socket, where whoever can open it is trusted, and over TLS, where requests are signed.
namespace rhizome::node {

class KeyKeeper;
class RefusalJournal;

/// What others of the daemon say when they are asked.
struct RpcSources {
    std::function<json::Array()> peers{};  ///< any thread
    json::Array listens{};                 ///< addresses where other nodes reach this one
    std::function<json::Array()> rpc{};    ///< addresses where it is asked over TLS; any thread
    std::function<json::Array()> api{};    ///< addresses of its Kubernetes API; any thread
    /// From now on no links with these nodes, instead of those said before; only where its own user asks.
    std::function<void(const std::set<ledger::MemberKey>& keys)> refuse_peers{};
    std::function<void()> stop{};  ///< ends the daemon soon; only where its own user asks
    std::string version{};
    Time started{};
    std::string role = "member";  ///< what the operator wants this node to be: `member`, `observer`, …
    /// Asks the co-signer of this node for its signature (node/cosigning.h); any thread. None: it has none.
    std::function<void(ledger::Tx, std::function<void(Result<json::Object>)>)> cosign{};
    KeyKeeper* secrets = nullptr;        ///< cluster keys; outlives the handler. Null: none are kept here
    RefusalJournal* refusals = nullptr;  ///< what was refused; outlives the handler. Null: nothing is kept
    /// Figures of parts besides the core, as `metrics_text` writes them; any thread.
    std::function<std::string()> metrics{};
    std::function<json::Object()> watching{};  ///< what a watchtower has counted; any thread. None: it is none
};

/// What strangers and clients may take. Only the network is limited; the local socket is the operator's own.
struct RpcLimits {
    unsigned address_requests_per_second = 200;  ///< twice as many at once; 0: no limit
    unsigned key_requests_per_second = 200;      ///< the same for whoever signs
    seconds clock_window{60};                    ///< how far the clocks may differ
    std::size_t nonces_max = 100'000;            ///< requests remembered, two windows long, so that none is used twice
    milliseconds handshake_time{10'000};         ///< of TLS
    milliseconds header_time{10'000};            ///< from a request's first byte to the end of its header
    milliseconds idle_time{120'000};             ///< between two requests of a connection
    std::size_t connections_max = 1'024;
    std::size_t address_connections_max = 64;
    std::size_t body_bytes_max = 16u << 20;      ///< four times the largest transaction
    std::size_t subscriber_behind_max = 1'024;   ///< blocks; further behind it is told so and dropped
    std::size_t subscriber_resume_max = 10'000;  ///< blocks that one may begin behind the tip
    milliseconds subscriber_write_time{10'000};  ///< for a subscriber to take one message
    milliseconds body_gap{30'000};               ///< between two pieces of a body
    std::size_t watch_changes_max = 16'384;      ///< how far a watcher of the Kubernetes API may be behind, in changes
    std::size_t watch_bytes_max = 64u << 20;     ///< and in bytes of what only those changes still hold
};

/// The routes, and `/healthz`, `/livez`, `/readyz`, `/metrics`. `host` outlives the handler.
http::Handler make_rpc(Host& host, RpcSources sources, RpcLimits limits = {});

/// The RPC's form of a refusal, for what never reaches the handler (`http::ServerOptions::refuse`).
http::Response rpc_refusal(unsigned status, std::string_view message);

/// How long `POST txs` waits for a stage when the client says nothing, and at most.
inline constexpr seconds kWaitDefault{30};
inline constexpr seconds kWaitMax{600};

/// A refusal as people and programs read it: `{"code","why"}`.
json::Object to_json(const ledger::Reject& reject);

}  // namespace rhizome::node
