// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "ledger/apply.h"

namespace rhizome::ledger {

/// The signatures of some transactions, looked up in one state and verified apart from it: the state may move on
/// meanwhile, and the cache be used. Only good signatures come of it, which are good whatever the state is by then; so
/// nothing depends on how much of it was done, or on which state it began from.
///
///     SignatureWork work{state, next, txs};                      // where the state is at home
///     parallel.beside(something_else, work.size(), [&](auto begin, auto end) { work.verify(begin, end); });
///     work.remember(cache);                                      // where the cache is at home
class SignatureWork {
public:
    /// Finds the locks that `txs` have to open in `state`, for a block at `next`. Keeps the state's view, borrows
    /// nothing.
    SignatureWork(const LedgerState& state, const NextBlock& next, std::span<const SharedTx> txs);

    /// Scripts to run.
    [[nodiscard]] std::size_t size() const { return locks_.size(); }
    /// Runs those of [begin, end). Several threads may do so at once, for ranges that do not overlap.
    void verify(std::size_t begin, std::size_t end);
    /// Hands the good signatures over, when all calls of `verify` have ended.
    void remember(SignatureCache& cache) const;

    /// Transactions with an input whose lock is not in the state (yet).
    [[nodiscard]] const std::vector<SharedTx>& left_over() const { return left_over_; }

private:
    struct Lock {
        SharedTx tx;
        std::size_t input;
        state::EntryPtr of;
        bool authority;
    };

    state::StateView view_;
    Place place_;  ///< its parameters are not: scripts do not ask for them
    std::vector<Lock> locks_;
    std::vector<std::vector<SignatureCache::Key>> found_;  ///< what a range found stands at its first place
    std::vector<SharedTx> left_over_;
};

/// Verifies the signatures of `txs` over all cores and remembers the good ones, so that `execute` finds them. Scripts
/// whose locks are not in `state` yet are left to `execute`.
void verify_ahead(const LedgerState& state, const NextBlock& next, std::span<const SharedTx> txs, SignatureCache& cache,
                  Parallel& parallel);

}  // namespace rhizome::ledger
