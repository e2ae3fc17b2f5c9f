// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "ledger/apply.h"

namespace rhizome::ledger {

/// A block before it is sealed: everything but consensus' own fields.
struct BlockDraft {
    Header header{};
    std::vector<SharedTx> txs{};
    Applied applied{};

    /// The block as it goes to others, once the seal is known. The header's seal root must be that of `seal`.
    [[nodiscard]] Block to_block(const Seal& seal) const;
};

/// Picks from `candidates`, in their order, what fits together and under the parent's limits (leaving `seal_bytes` for
/// the seal), and puts it into the canonical order. What is not valid just now is left out, never an error: the pool
/// keeps it.
BlockDraft build_block(const LedgerState& parent, const NextBlock& next, std::span<const SharedTx> candidates,
                       const ConsensusPart& consensus, std::size_t seal_bytes, const Rules& rules,
                       SignatureCache& cache, Parallel& parallel);
/// The same for candidates that a pool has decided on before (`PendingPool::decided`), which saves deciding once more:
/// the order is taken from what each was thought to do, then they are executed in it like any block. Where that gives
/// no block, all is decided anew as above.
BlockDraft build_block(const LedgerState& parent, const NextBlock& next, std::span<const Effects* const> decided,
                       const ConsensusPart& consensus, std::size_t seal_bytes, const Rules& rules,
                       SignatureCache& cache, Parallel& parallel);

}  // namespace rhizome::ledger
