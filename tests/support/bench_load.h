// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "crypto/keys.h"
#include "ledger/apply.h"
#include "ledger/block_factory.h"
#include "runtime/thread_pool.h"

/// Signed transactions in numbers, and the bare verifications they are measured against.
namespace rhizome::bench {

/// One key that owns everything: a Cluster, a namespace `web`, and pods in it of 1 KiB a transaction.
class Load {
public:
    Load();

    [[nodiscard]] const ledger::GenesisBlock& genesis() const { return genesis_; }
    /// The namespace, to be written on top of genesis.
    [[nodiscard]] ledger::SharedTx namespace_tx(const ledger::LedgerState& state) const;
    /// A pod that does not exist yet. `state` has the namespace; `now` is about the time of the block.
    [[nodiscard]] ledger::Tx create_pod(const ledger::LedgerState& state, std::size_t number, Time now) const;
    /// Another version of a pod, decided by its own lock.
    [[nodiscard]] ledger::Tx update_pod(const ledger::LedgerState& state, std::size_t number,
                                        std::size_t version) const;

    static state::Path pod_path(std::size_t number);
    /// The header's seal root is that of an empty seal.
    static ledger::Block seal(ledger::BlockDraft& draft);

    /// As many bare verifications with their parsing, over the pool.
    void raw_verifies(std::size_t count, Parallel& parallel) const;

private:
    void unlock(ledger::Tx& tx, const ledger::SpentValue& spent) const;

    crypto::SecretKey key_;
    Bytes lock_;
    ledger::GenesisBlock genesis_;
    ledger::ChainId chain_;
    std::vector<crypto::Hash256> digests_;
    std::vector<Bytes> signatures_;
};

}  // namespace rhizome::bench
