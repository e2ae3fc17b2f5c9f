// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "cli/invocation.h"
#include "node/rpc_client.h"

/// What commands that talk to a running node share.
namespace rhizome::cli {

/// The node that runs on `--data`. NotFound with what to type when none does. The command declares `data_option`.
Result<std::unique_ptr<node::RpcClient>> running_node(const Invocation& call);
/// The same, nothing when none runs: for commands that work without one too.
std::unique_ptr<node::RpcClient> if_running_node(const Invocation& call);

/// The screen of `status`, from what `/rhizome/v1/status` says.
std::string status_text(const Console& console, const json::Value& status);

}  // namespace rhizome::cli
