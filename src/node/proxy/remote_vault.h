// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/io/vault.h"
#include "ledger/tx.h"
#include "node/proxy/remote_calls.h"

namespace rhizome::node {

/// Secrets of a person's proxy: opened by the node for the key that asks, sealed here (docs/spec/secrets.md).
class RemoteVault final : public api::Vault {
public:
    /// `calls` outlives it.
    RemoteVault(RemoteCalls& calls, ledger::ChainId chain) : calls_(calls), chain_(chain) {}

    [[nodiscard]] bool keeps(const cluster::Kind& kind) const override;
    stream::Task<std::vector<Result<api::Standing, api::Withheld>>> open(std::vector<api::Standing> all,
                                                                         api::User user) override;
    stream::Task<Result<json::Value>> seal(json::Value object) override;

private:
    RemoteCalls& calls_;
    ledger::ChainId chain_;
};

}  // namespace rhizome::node
