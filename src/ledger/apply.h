// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "base/parallel.h"
#include "ledger/block.h"
#include "ledger/check.h"
#include "ledger/member.h"
#include "ledger/parameters.h"
#include "ledger/rules.h"
#include "ledger/signature_cache.h"
#include "ledger/validator.h"
#include "ledger/working_state.h"

/// From one block's state to the next: the only place where state changes.
namespace rhizome::ledger {

/// The state after a block, with what is derived from it for speed. Follows the chain by `advance` and `step_back`;
/// `ledger/reorganise.h` moves it to another branch.
class LedgerState {
public:
    /// From a view alone: a checkpoint, a snapshot.
    explicit LedgerState(state::StateView view);

    [[nodiscard]] const state::StateView& view() const { return view_; }
    [[nodiscard]] const OutpointIndex& index() const { return index_; }
    [[nodiscard]] const Parameters& parameters() const { return parameters_; }
    /// Zero in the state after genesis, whose hash it is.
    [[nodiscard]] const ChainId& chain() const { return chain_; }

    /// To the state after the block that gave `commit`.
    void advance(const state::Commit& commit);
    /// To the state after `delta`, which was recorded when the block was applied before: no script runs again.
    Result<void, state::DeltaFault> step_forward(const state::Delta& delta);
    /// Back to the state before `delta`.
    Result<void, state::DeltaFault> step_back(const state::Delta& delta);
    /// To any other state of the chain at once; gives what leads there. Costs what the two states differ in.
    state::Delta jump_to(state::StateView view);

private:
    void read_view();

    state::StateView view_;
    OutpointIndex index_;
    Parameters parameters_;
    ChainId chain_{};
};

/// The rules that a state says are in force.
Parameters parameters_of(const state::StateView& view);

/// What consensus adds to a block's effect: it has judged the seal, the ledger only writes down what follows. Both are
/// part of the state root.
struct ConsensusPart {
    std::vector<MemberKey> heard{};                        ///< proposer and attesters: their leases are renewed
    std::vector<std::pair<state::Path, Bytes>> records{};  ///< voters, seed, standing …: empty bytes erase
};

/// Where the next block would stand.
struct NextBlock {
    BlockHash parent{};
    Height height{};
    Time time{};
    Time parent_time{};
};

struct Applied {
    state::Commit commit{};
    std::vector<Effects> effects{};  ///< in block order
};

/// Where the transactions of `next` are judged. Borrows `parent`.
Place place_of(const LedgerState& parent, const NextBlock& next);

/// Applies checked transactions in the order given, then consensus' part, leases, replay ids and history. Says nothing
/// about order, Merkle or state root; the block factory and `apply` do.
Result<Applied, Reject> execute(const LedgerState& parent, const NextBlock& next, std::span<const SharedTx> txs,
                                const ConsensusPart& consensus, const Rules& rules, SignatureCache& cache,
                                Parallel& parallel);

/// What was done for a block's body before its turn came: see `ledger/block_row.h`.
struct BodyAhead {
    Result<std::vector<SharedTx>, Reject> txs;  ///< what `CheckWork` said of them
    std::vector<SharedTx> unverified{};         ///< those of them with signatures that are still to be verified
};

/// The state after `block` on `parent`, or the first rule it breaks: sizes, Merkle root, every transaction, canonical
/// order, state root. The seal is consensus' business. The answer is the same with `ahead` (of this very block) or
/// without.
Result<Applied, Reject> apply(const LedgerState& parent, const Header& parent_header, const Block& block,
                              const ConsensusPart& consensus, const Rules& rules, SignatureCache& cache,
                              Parallel& parallel, const BodyAhead* ahead = nullptr);

/// The one block without a parent: one transaction that names no input and writes the Cluster.
struct GenesisBlock {
    Block block{};
    state::Commit commit{};
};
/// Makes it: `cluster` is the document, `lock` the creator's script.
Result<GenesisBlock, Reject> make_genesis(std::string cluster, Bytes lock, Time time, const ConsensusPart& consensus,
                                          const Seal& seal);
/// Checks and applies one from elsewhere.
Result<state::Commit, Reject> apply_genesis(const Block& block, const ConsensusPart& consensus);

}  // namespace rhizome::ledger
