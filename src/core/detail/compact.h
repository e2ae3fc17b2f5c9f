// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "core/effects.h"
#include "core/messages.h"

namespace rhizome::core::detail {

/// How a transaction is named in a compact block: 48 bits of H(block hash ‖ wire id). The block's hash is the key: two
/// transactions that share a name in one block do not in the next, and nobody can prepare such pairs before the block
/// is sealed.
[[nodiscard]] std::uint64_t short_id(const ledger::BlockHash& block, const ledger::WireId& id);

/// Transactions that came lately, by wire id, whether the pool has them, a block took them or they were refused.
/// Bounded by the memory they take, about; the newest is here however large it is, since somebody may ask for it.
/// Confined to the core strand.
class RecentTxs {
public:
    /// What one takes beside its bytes, which lie in some dozen pieces: hashes, paths, a place here.
    static constexpr std::size_t kBeside = 700;

    explicit RecentTxs(std::size_t bytes_max) : bytes_max_(bytes_max) {}
    void put(const ledger::SharedTx& tx);
    /// Null when it is not here.
    [[nodiscard]] ledger::SharedTx find(const ledger::WireId& id) const;
    /// Of each place, what has its short id in this block; null where there is none. Looked for from the newest on and
    /// no further than needed, since a block takes what came just now. So of two with one name the newer is taken: the
    /// block's Merkle root shows whether it was meant.
    [[nodiscard]] std::vector<ledger::SharedTx> match(const ledger::BlockHash& block,
                                                      const std::vector<std::uint64_t>& short_ids) const;

private:
    std::map<ledger::WireId, ledger::SharedTx> txs_;
    std::deque<ledger::SharedTx> order_;  ///< oldest first
    std::size_t bytes_max_;
    std::size_t bytes_ = 0;
};

/// A compact block of which some transactions are still missing.
struct OpenCompact {
    PeerId from{};
    Time asked{};
    ledger::Block block{};  ///< with empty places
    /// The same transactions as far as they were here before, and so need not be checked again; else null.
    std::vector<ledger::SharedTx> checked{};
    std::vector<std::uint32_t> missing{};
};

/// The block as far as it can be put together here.
[[nodiscard]] OpenCompact open_compact(PeerId from, const CompactBlock& compact, const ledger::BlockHash& hash,
                                       const RecentTxs& recent);

}  // namespace rhizome::core::detail
