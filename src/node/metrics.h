// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.h"
#include "core/passing.h"
#include "http/exchange.h"
#include "node/host.h"

namespace rhizome::node {

/// The node in figures, in Prometheus's text format.
std::string metrics_text(const NodeView& view, const store::Store& store, Time now);
/// The answer that carries it.
http::Response metrics_response(const Host& host);
/// Answers GET /metrics and nothing else. `host` outlives it.
/// `more`: figures of other parts; any thread.
http::Handler make_metrics_handler(const Host& host, std::function<std::string()> more);

/// Documents off the chain, in the same format.
std::string gossip_metrics(const core::Passing::Usage& usage);

/// What a watchtower has counted (`Watching::shown`), in the same format.
std::string watching_metrics(const json::Object& watching);

}  // namespace rhizome::node
