// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cli/invocation.h"
#include "node/rpc_client.h"
#include "state/path.h"

/// What commands that talk to a running node share.
namespace rhizome::cli {

/// The node that runs on `--data`. NotFound with what to type when none does. The command declares `data_option`.
Result<std::unique_ptr<node::RpcClient>> running_node(const Invocation& call);
/// The same, nothing when none runs: for commands that work without one too.
std::unique_ptr<node::RpcClient> if_running_node(const Invocation& call);

/// What the node's state has below a path (`/nodes`), with the documents: each as `GET state/list` says it.
Result<std::vector<json::Value>> entries_below(node::RpcClient& client, std::string_view prefix);
/// The document at a path; nothing when nothing stands there.
Result<std::optional<json::Value>> document_at(node::RpcClient& client, const state::Path& path);

/// The screen of `status`, from what `/rhizome/v1/status` says.
std::string status_text(const Console& console, const json::Value& status);

}  // namespace rhizome::cli
