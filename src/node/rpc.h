// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "http/router.h"
#include "node/host.h"

/// What a node answers under `/rhizome/v1/` (docs/spec/rpc.md): JSON over HTTP/1.1.
namespace rhizome::node {

/// What others of the daemon say when they are asked.
struct RpcSources {
    std::function<json::Array()> peers{};  ///< any thread
    json::Array listens{};                 ///< addresses where other nodes reach this one
    std::function<void()> stop{};          ///< ends the daemon soon; only where its own user asks
    std::string version{};
    Time started{};
};

/// The routes, and `/healthz`, `/livez`, `/readyz`, `/metrics`. `host` outlives the router.
///
/// Answers stream where they may be long; a client that does not read its `watch` is dropped once `kWatchBacklogMax`
/// lines wait for it.
std::shared_ptr<const http::Router> make_rpc(Host& host, RpcSources sources);

inline constexpr std::size_t kWatchBacklogMax = 1'024;
/// How long `POST txs` waits for a stage when the client says nothing, and at most.
inline constexpr seconds kWaitDefault{30};
inline constexpr seconds kWaitMax{600};

/// A refusal as people and programs read it: `{"code","why"}`.
json::Object to_json(const ledger::Reject& reject);

}  // namespace rhizome::node
