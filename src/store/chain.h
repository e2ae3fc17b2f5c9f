// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "ledger/seal_judge.h"
#include "ledger/signature_cache.h"
#include "store/store.h"

namespace rhizome::store {

/// How far a long piece of work is: called with blocks done and blocks in all. May be empty.
using ProgressSink = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// A stored chain together with the state at its tip, for whoever works on it without a node: the offline commands,
/// tests, benchmarks. Confined to one thread. Borrows rules and cores.
class Chain {
public:
    static Result<std::unique_ptr<Chain>> create(const std::filesystem::path& folder,
                                                 const ledger::GenesisBlock& genesis, const ledger::BlockRules& rules,
                                                 Parallel& parallel, const Options& options = {},
                                                 ChainOrigin origin = ChainOrigin::MadeHere);
    /// A chain that begins with a state from elsewhere: see `Store::create_from_state`.
    static Result<std::unique_ptr<Chain>> create_from_state(const std::filesystem::path& folder,
                                                            const ledger::ChainId& chain, const ledger::Block& base,
                                                            const state::StateView& view,
                                                            const ledger::BlockRules& rules, Parallel& parallel,
                                                            const Options& options = {});
    /// Opens the store and replays what lies behind the newest checkpoint. A checkpoint that is damaged is passed over:
    /// then everything is replayed from genesis, if the blocks are still there.
    static Result<std::unique_ptr<Chain>> open(const std::filesystem::path& folder, const ledger::BlockRules& rules,
                                               Parallel& parallel, const Options& options = {},
                                               const ProgressSink& progress = {});

    [[nodiscard]] Store& store() { return *store_; }
    [[nodiscard]] const Store& store() const { return *store_; }
    [[nodiscard]] const ledger::LedgerState& state() const { return *state_; }
    [[nodiscard]] const ledger::Header& tip() const { return tip_; }
    [[nodiscard]] ledger::NextBlock next(Time now) const;
    [[nodiscard]] ledger::SignatureCache& cache() { return cache_; }
    [[nodiscard]] const ledger::BlockRules& rules() const { return rules_; }
    [[nodiscard]] Parallel& parallel() { return parallel_; }

    /// Judges and applies a child of the tip and hands it to the store; durable after `store().sync()`. The error is a
    /// refusal by the rules, or the disk's.
    Result<Ticket> add(const ledger::Block& block);
    /// Several that follow one another, as `add` would take them one by one; faster, because the signatures of the next
    /// are verified while one is executed. `added` is called after each, to sync or to tell how far it is; its error,
    /// like a refusal, ends it.
    Result<void> add_all(std::span<const ledger::Block> blocks, const std::function<Result<void>(Ticket)>& added);
    /// The same as `add` for a block that this chain's own factory made on top of the tip: not executed a second time.
    Result<Ticket> add_made(const ledger::Block& block, const ledger::Applied& applied);

    /// The state after the block of that height on the chain: back from the tip while changes are kept, else forward
    /// from genesis. NotFound above the tip, Unavailable when the blocks it takes were pruned.
    Result<state::StateView> state_at(ledger::Height height, const ProgressSink& progress = {});

    /// A checkpoint of the tip, everything durable, the folder free again.
    Result<void> close();

private:
    Chain(std::unique_ptr<Store> store, const ledger::BlockRules& rules, Parallel& parallel);
    Result<void> replay(const ProgressSink& progress);
    std::unique_ptr<Store> store_;
    ledger::BlockRules rules_;
    Parallel& parallel_;
    ledger::SignatureCache cache_;
    std::unique_ptr<ledger::LedgerState> state_;
    ledger::Header tip_{};
};

/// The state after a block of the chain by executing what is stored again, from genesis on. Any thread; takes as long
/// as that takes. Unavailable when the first blocks are not here.
Result<state::StateView> execute_again(const Store& store, const ledger::BlockHash& block,
                                       const ledger::BlockRules& rules, Parallel& parallel);

/// What is wrong with a chain, and where.
struct ChainFault {
    ledger::Height height{};
    std::optional<std::size_t> transaction{};  ///< its place in the block
    std::string rule{};                        ///< `BadStateRoot`, `NotAuthorised`, `Corrupt` …
    std::string why{};
};
struct VerifyReport {
    ledger::Height from{};  ///< first block that was executed: 0, or where the snapshot began
    ledger::Height to{};
    std::uint64_t blocks = 0;
    std::uint64_t transactions = 0;
    std::optional<ChainFault> fault{};  ///< the first
};
/// Reads every block from the log and executes it, from genesis (or, where that is not here, from as far back as the
/// state can be had) to the tip, comparing every root. Damage on the disk is a fault like a broken rule; an error is
/// what keeps it from being looked at at all.
Result<VerifyReport> verify(const Store& store, const ledger::BlockRules& rules, Parallel& parallel,
                            const ProgressSink& progress = {});

}  // namespace rhizome::store
