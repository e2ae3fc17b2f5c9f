// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "follow/light_chain.h"
#include "node/rpc_client.h"

namespace rhizome::node {

/// A block that a person vouches for: from a join token, an anchor, or another machine's `status`.
struct VouchedBlock {
    ledger::Height height{};
    ledger::BlockHash hash{};
};

struct LightOptions {
    std::filesystem::path data{};  ///< keeps where it got to; its local socket is there as a full node's is
    /// A connection to a full node, made anew whenever one fails. Called on the light node's own thread.
    std::function<Result<std::unique_ptr<RpcClient>>()> connect{};
    std::vector<std::string> follow{};      ///< paths such as /namespaces/web; `/` is all documents
    std::optional<VouchedBlock> vouched{};  ///< begins there, also when it got further before
    milliseconds every{1'000};              ///< how often it asks
    milliseconds again_most{30'000};        ///< after failures it waits twice as long each time, up to this
    std::string version{};
    /// Told of every state that was proven, on the light node's own thread.
    std::function<void(const ledger::Header& header, const ledger::ChainId& chain, const state::StateView& state)>
        proven{};
    Log log{};
};

/// A node that keeps headers and the sub-trees it follows, believes nobody (follow/light_chain.h), and answers reads of
/// those sub-trees on its local socket, in the form of the RPC (docs/spec/rpc.md): `status`, `tip`, `state`,
/// `state/list`, `stop`, `/livez`, `/readyz`, `/metrics`.
class LightNode {
public:
    /// Usage for a path that is none, Conflict when another node uses the directory's socket.
    static Result<std::unique_ptr<LightNode>> start(LightOptions options);
    /// Ends it; what it knows is on the disk.
    ~LightNode();
    LightNode(const LightNode&) = delete;
    LightNode& operator=(const LightNode&) = delete;

    /// Waits until somebody asked it to end on its socket, or the time is over; says which.
    bool wait_for_end(milliseconds most);
    /// As its socket says it: `{"role":"light","height","final","follows":[…],"refusals":{…},…}`.
    [[nodiscard]] json::Object status() const;
    /// Why it does not follow the chain at the moment: nobody answers, or what was shown is refused. Empty while it
    /// does.
    [[nodiscard]] std::string trouble() const;

private:
    struct Inside;
    explicit LightNode(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::node
