// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "api/io/backend.h"
#include "base/log.h"
#include "node/kube/key_signing.h"
#include "node/light_node.h"
#include "node/proxy/remote_calls.h"

namespace rhizome::node {

struct ProxyOptions {
    RemoteCalls::Connect connect{};           ///< to the node, asking with the person's key; any thread
    NamedKeys keys{};                         ///< what the person signs with; the first one asks
    Keystore names{std::filesystem::path{}};  ///< whose names locks may use
    std::filesystem::path held{};             ///< where what waits for more signatures goes
    bool hold_all = false;                    ///< hold whatever needs more, not only what says `rhizome.dev/hold`
    /// Believe nothing that is not proven to be final (follow/light_chain.h): reads are as old as the newest final
    /// block, and a write is done when it is final.
    bool verify = false;
    std::filesystem::path light_data{};     ///< verify: keeps how far it got
    std::optional<VouchedBlock> vouched{};  ///< verify: the block that a person vouches for
    std::string version{};
    Log log{};
};

/// The Kubernetes API's backend on a person's machine: reads come from a node over its RPC, writes are signed here, and
/// no node ever holds the key. Secrets come in clear over the connection, for the key that asks; they are sealed here
/// before they leave.
class RemoteBackend final : public api::Backend {
public:
    /// Returns once there is something to show. Errors of the node, or that nothing was proven in time.
    static Result<std::unique_ptr<RemoteBackend>> start(ProxyOptions options);
    ~RemoteBackend() override;

    api::Live& live() override;
    api::Signer& signer() override;
    api::HeardOf heard_of() override;
    api::Vault* vault() override;
    bool has_passing() override { return false; }  ///< the RPC carries none
    std::uint64_t submit(ledger::SharedTx tx, std::function<void(const api::Progress&)> told) override;
    void forget(std::uint64_t client) override;
    state::Height final_height() override;
    std::vector<api::HealthCheck> health() override;
    std::string metrics() override;
    Time now() override;
    void fill_with_entropy(std::span<std::uint8_t> out) override;

private:
    struct Inside;
    explicit RemoteBackend(std::shared_ptr<Inside> inside);
    std::shared_ptr<Inside> inside_;
};

}  // namespace rhizome::node
