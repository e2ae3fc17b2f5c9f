// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/invocation.h"
#include "cli/offline_chain.h"
#include "ledger/block.h"
#include "node/look.h"
#include "node/rpc_client.h"

namespace rhizome::cli {

/// The chain that a command looks at: that of the node that runs on the data directory, of one elsewhere (`--node`),
/// or, while no node uses it, that of the directory itself. All answer with the same data (`node/look.h`), so that
/// commands do not know which it is; only how far back a state can be had differs.
class ChainSource {
public:
    /// The command declares `data_option` and `with_node_options`. Errors say what to try.
    static Result<ChainSource> open(Invocation& call);

    Result<json::Value> overview(std::uint64_t last);
    Result<json::Value> header(const std::string& word);
    Result<ledger::Block> block(const std::string& hash);

    struct FoundTx {
        json::Value about{};  ///< `node::tx_json`
        ledger::Tx tx{};
    };
    /// Also one that waits, or was refused: `about.status` says so.
    Result<FoundTx> tx(const std::string& id);
    Result<ledger::TxProof> tx_proof(const std::string& id);

    /// `node::entry_json` with its document, and `height`.
    Result<json::Value> entry(const std::string& resource, const std::string& name_space, const std::string& at);
    /// `{"height","items":[node::entry_json…]}`, all of them.
    Result<json::Value> list(const std::string& prefix, const std::string& at);
    Result<ledger::StateProof> state_proof(const state::Path& path, const std::string& at);
    /// Names and keys of the members.
    Result<std::vector<std::pair<std::string, crypto::PublicKey>>> members();

private:
    explicit ChainSource(Invocation& call) : call_(&call) {}
    [[nodiscard]] node::Sight sight() const;
    Result<ledger::ExportedState> state_at(const std::string& word);

    Invocation* call_;
    std::unique_ptr<node::RpcClient> client_{};
    std::unique_ptr<OfflineChain> offline_{};  ///< when nobody is asked
};

}  // namespace rhizome::cli
