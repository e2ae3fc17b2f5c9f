// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "cli/command.h"
#include "cli/invocation.h"
#include "node/rpc_client.h"

/// Which node a command asks: the one of the data directory, through its socket, or with `--node` one elsewhere.
///
/// A node elsewhere is known by its chain key, which `status` prints there: `--node-key` says it once, then it stands
/// in `known-nodes.json` of the user's configuration. Requests are signed with a key of the user's (`--as`).
namespace rhizome::cli {

inline constexpr std::string_view kNodeVariable = "RHIZOME_NODE";

/// The same options with `--node`, `--node-key`, `--as`, and those for keys and passphrases where they are missing. A
/// command that declares them and `data_option` uses the functions below.
std::vector<Option> with_node_options(std::vector<Option> options);
/// Whether `--node` was given.
bool asks_elsewhere(const Invocation& call);

/// The node of `--node`, else the one that runs on the data directory. NotFound with what to type when none does.
Result<std::unique_ptr<node::RpcClient>> asked_node(Invocation& call);
/// The same; null when no `--node` is given and none runs on the data directory.
Result<std::unique_ptr<node::RpcClient>> if_asked_node(Invocation& call);

/// Where `--node` is, and the key it must show: of `--node-key`, or known from before. Remembers it.
struct NodePlace {
    std::string address{};
    ledger::MemberKey key{};
};
Result<NodePlace> node_place(Invocation& call);

/// Who `--node` is and who asks it, for those who connect themselves and more than once. Asks nobody; the passphrase is
/// asked for here.
Result<node::RemoteNode> remote_node(Invocation& call);

}  // namespace rhizome::cli
