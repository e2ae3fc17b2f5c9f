// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/io/vault.h"
#include "ledger/tx.h"
#include "node/proxy/remote_calls.h"

namespace rhizome::node {

/// Secrets of a person's proxy: opened by the node for the key that asks, sealed here (docs/spec/secrets.md).
class RemoteVault final : public api::Vault {
public:
    /// For the node's answer, with the time that a call waits for others: then it is unavailable.
    static constexpr seconds kAnswerTime{30};

    /// `calls` outlives it, and serves nothing that waits for blocks.
    RemoteVault(RemoteCalls& calls, ledger::ChainId chain, microseconds answer_time = kAnswerTime)
        : calls_(calls), chain_(chain), answer_time_(answer_time) {}

    [[nodiscard]] bool keeps(const cluster::Kind& kind) const override;
    stream::Task<std::vector<Result<api::Standing, api::Withheld>>> open(std::vector<api::Standing> all,
                                                                         api::User user) override;
    stream::Task<Result<json::Value>> seal(json::Value object) override;

private:
    RemoteCalls& calls_;
    ledger::ChainId chain_;
    microseconds answer_time_;
};

}  // namespace rhizome::node
