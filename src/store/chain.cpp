// SPDX-License-Identifier: Apache-2.0
#include "store/chain.h"

#include <algorithm>
#include <deque>
#include <optional>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/block_row.h"
#include "ledger/reject.h"
#include "runtime/memory.h"

namespace rhizome::store {
namespace {

using ledger::Block;
using ledger::Header;
using ledger::Height;
using ledger::LedgerState;

std::vector<ledger::TxId> ids_of(const ledger::Applied& applied) {
    std::vector<ledger::TxId> ids;
    ids.reserve(applied.effects.size());
    for (const ledger::Effects& effects : applied.effects) ids.push_back(effects.tx->id);
    return ids;
}

/// A state on its way over the chain, with the header it stands after.
struct Walker {
    Header at{};
    std::unique_ptr<LedgerState> state{};
};

Result<Walker> walker_at_genesis(const Store& store, const ledger::BlockRules& rules) {
    const BlockInfo base = store.base();
    if (base.height() != Height{0} || !base.has_body)
        return fail(ErrorKind::Unavailable,
                    fmt::format("the chain begins with a snapshot at {} here, or its first blocks "
                                "were pruned: nothing older can be executed again",
                                base.height()));
    TRY(const Block block, store.block(base.hash));
    TRY(const auto consensus, rules.judge.judge_genesis(block));
    TRY(auto commit, ledger::apply_genesis(block, consensus));
    return Walker{.at = block.header, .state = std::make_unique<LedgerState>(std::move(commit.view))};
}

/// Back from `view`, the state after the chain's block of height `at`, as far as changes are kept, at most to `height`.
Result<std::pair<Height, state::StateView>> walk_back(const Store& store, state::StateView view, Height at,
                                                      Height height) {
    while (at > height) {
        TRY(const BlockInfo block, store.info_at(at));
        auto change = store.change(block.hash);
        if (!change && change.error().kind == ErrorKind::NotFound) break;
        if (!change) return Fail{change.error()};
        TRY(view, state::undo(view, *change));
        --at;
    }
    return std::pair{at, std::move(view)};
}

/// Why a walk over the stored blocks ended early.
struct WalkFault {
    BlockInfo block{};
    Height height{};
    std::optional<Error> unreadable{};        ///< the disk's
    std::optional<ledger::Reject> refused{};  ///< the rules'
};

/// Steps over the blocks of the chain up to `to`. `each` sees every one after it was applied.
std::optional<WalkFault> walk(const Store& store, Walker& walker, Height to, const ledger::BlockRules& rules,
                              ledger::SignatureCache& cache, Parallel& parallel,
                              const std::function<void(const BlockInfo&, const Block&, const ledger::Applied&)>& each) {
    ledger::BlockRow row{rules, cache, parallel};
    std::deque<BlockInfo> read;  // as many as are in the row
    std::optional<WalkFault> fault;
    const auto fill = [&] {
        while (!fault && row.size() < ledger::BlockRow::kDepth) {
            const Height height = walker.at.height + 1 + row.size();
            if (height > to) return;
            auto info = store.info_at(height);
            auto block = info ? store.block(info->hash) : Result<Block>{Fail{info.error()}};
            if (!block) {
                fault = WalkFault{.height = height, .unreadable = block.error()};
                return;
            }
            read.push_back(*std::move(info));
            row.push(std::make_shared<const Block>(*std::move(block)));
        }
    };
    for (fill(); !row.empty(); fill()) {
        std::optional<WalkFault> refusal;
        row.step(*walker.state, walker.at, [&](const Block& block, Result<ledger::Applied, ledger::Reject> applied) {
            if (!applied) {
                refusal = WalkFault{
                    .block = read.front(), .height = block.header.height, .refused = std::move(applied).error()};
                return;
            }
            walker.state->advance(applied->commit);
            walker.at = block.header;
            each(read.front(), block, *applied);
        });
        if (refusal) return refusal;
        read.pop_front();
    }
    return fault;
}

Result<void> walk_forward(const Store& store, Walker& walker, Height to, const ledger::BlockRules& rules,
                          ledger::SignatureCache& cache, Parallel& parallel, const ProgressSink& progress,
                          const std::function<void(const BlockInfo&, const ledger::Applied&)>& each) {
    const Height from = walker.at.height;
    const auto fault = walk(store, walker, to, rules, cache, parallel,
                            [&](const BlockInfo& info, const Block& block, const ledger::Applied& applied) {
                                if (each) each(info, applied);
                                if (progress) progress(block.header.height - from, to - from);
                            });
    if (fault && fault->unreadable) return Fail{*fault->unreadable};
    if (fault)
        return Fail{
            with_context(fmt::format("block {} ({}) on this disk is not valid", fault->height, fault->block.hash),
                         to_error(*fault->refused))};
    return {};
}

}  // namespace

Chain::Chain(std::unique_ptr<Store> store, const ledger::BlockRules& rules, Parallel& parallel)
    : store_(std::move(store)), rules_(rules), parallel_(parallel) {}

Result<std::unique_ptr<Chain>> Chain::create(const std::filesystem::path& folder, const ledger::GenesisBlock& genesis,
                                             const ledger::BlockRules& rules, Parallel& parallel,
                                             const Options& options, ChainOrigin origin) {
    TRY(auto store, Store::create(folder, genesis, options, origin));
    std::unique_ptr<Chain> chain{new Chain{std::move(store), rules, parallel}};
    chain->state_ = std::make_unique<LedgerState>(genesis.commit.view);
    chain->tip_ = genesis.block.header;
    return chain;
}

Result<std::unique_ptr<Chain>> Chain::create_from_state(const std::filesystem::path& folder, const ledger::ChainId& id,
                                                        const ledger::Block& base, const state::StateView& view,
                                                        const ledger::BlockRules& rules, Parallel& parallel,
                                                        const Options& options) {
    TRY(auto store, Store::create_from_state(folder, id, base, view, options));
    std::unique_ptr<Chain> chain{new Chain{std::move(store), rules, parallel}};
    chain->state_ = std::make_unique<LedgerState>(view);
    chain->tip_ = base.header;
    return chain;
}

Result<std::unique_ptr<Chain>> Chain::open(const std::filesystem::path& folder, const ledger::BlockRules& rules,
                                           Parallel& parallel, const Options& options, const ProgressSink& progress) {
    TRY(auto store, Store::open(folder, options));
    std::unique_ptr<Chain> chain{new Chain{std::move(store), rules, parallel}};
    TRY(chain->replay(progress));
    return chain;
}

Result<void> Chain::replay(const ProgressSink& progress) {
    Walker walker;
    auto checkpoint = store_->load_checkpoint(parallel_);
    if (checkpoint) {
        walker = {.at = checkpoint->block.header, .state = std::make_unique<LedgerState>(std::move(checkpoint->view))};
        // The checkpoint may be of a branch that lost since.
        for (BlockInfo at = checkpoint->block; !store_->on_chain(at);) {
            auto change = store_->change(at.hash);
            if (!change || !walker.state->step_back(*change)) {
                walker.state.reset();
                break;
            }
            TRY(at, store_->info(at.header.previous));
            walker.at = at.header;
        }
    } else if (checkpoint.error().kind != ErrorKind::Corrupt && checkpoint.error().kind != ErrorKind::NotFound) {
        return Fail{checkpoint.error()};
    }
    if (!walker.state) {
        auto genesis = walker_at_genesis(*store_, rules_);
        if (!genesis) return Fail{checkpoint ? genesis.error() : checkpoint.error()};
        walker = *std::move(genesis);
    }
    const BlockInfo tip = store_->tip();
    const Height replayed_from = walker.at.height;
    TRY(walk_forward(*store_, walker, tip.height(), rules_, cache_, parallel_, progress,
                     [&](const BlockInfo& block, const ledger::Applied& applied) {
                         store_->remember_change(block.hash, applied.commit.delta);
                     }));
    state_ = std::move(walker.state);
    tip_ = walker.at;
    store_->offer_state(tip.hash, tip.height(), state_->view());
    if (tip.height() > replayed_from) runtime::return_free_memory();  // blocks, changes, scripts
    return {};
}

ledger::NextBlock Chain::next(Time now) const {
    const Time earliest = tip_.time + milliseconds{1};
    return {
        .parent = hash_of(tip_), .height = tip_.height + 1, .time = std::max(now, earliest), .parent_time = tip_.time};
}

Result<Ticket> Chain::add(const Block& block) {
    auto applied = judge_and_apply(*state_, tip_, block, rules_, cache_, parallel_);
    if (!applied)
        return Fail{with_context(fmt::format("block {} is refused", block.header.height), to_error(applied.error()))};
    return add_made(block, *applied);
}

Result<void> Chain::add_all(std::span<const Block> blocks, const std::function<Result<void>(Ticket)>& added) {
    ledger::BlockRow row{rules_, cache_, parallel_};
    for (std::size_t next = 0; next < blocks.size() || !row.empty();) {
        while (next < blocks.size() && row.size() < ledger::BlockRow::kDepth) row.push_borrowed(blocks[next++]);
        Result<void> result;
        row.step(*state_, tip_, [&](const Block& block, Result<ledger::Applied, ledger::Reject> applied) {
            result = [&]() -> Result<void> {
                if (!applied)
                    return Fail{with_context(fmt::format("block {} is refused", block.header.height),
                                             to_error(applied.error()))};
                TRY(const Ticket ticket, add_made(block, *applied));
                return added(ticket);
            }();
        });
        TRY(std::move(result));
    }
    return {};
}

Result<Ticket> Chain::add_made(const Block& block, const ledger::Applied& applied) {
    TRY(const Ticket ticket, store_->append(block, ids_of(applied), applied.commit));
    state_->advance(applied.commit);
    tip_ = block.header;
    return ticket;
}

Result<state::StateView> Chain::state_at(Height height, const ProgressSink& progress) {
    if (height > tip_.height)
        return fail(ErrorKind::NotFound,
                    fmt::format("there is no block {}: the chain's newest is {}", height, tip_.height));
    TRY(auto back, walk_back(*store_, state_->view(), tip_.height, height));
    if (back.first == height) return std::move(back.second);
    TRY(auto walker, walker_at_genesis(*store_, rules_));
    ledger::SignatureCache cache;
    TRY(walk_forward(*store_, walker, height, rules_, cache, parallel_, progress, {}));
    return walker.state->view();
}

Result<state::StateView> execute_again(const Store& store, const ledger::BlockHash& block,
                                       const ledger::BlockRules& rules, Parallel& parallel) {
    TRY(const BlockInfo wanted, store.info(block));
    if (!store.on_chain(wanted))
        return fail(ErrorKind::NotFound, fmt::format("block {} is not on the chain", wanted.height()));
    TRY(auto walker, walker_at_genesis(store, rules));
    ledger::SignatureCache cache;
    TRY(walk_forward(store, walker, wanted.height(), rules, cache, parallel, {}, {}));
    return walker.state->view();
}

Result<void> Chain::close() { return store_->close(); }

// ---- verifying ------------------------------------------------------------------------------------------------------

namespace {

ChainFault fault_of(Height height, const Error& error) {
    return {.height = height, .rule = std::string{name(error.kind)}, .why = error.message};
}

ChainFault fault_of(Height height, const ledger::Reject& reject) {
    return {
        .height = height, .transaction = reject.transaction, .rule = std::string{name(reject.code)}, .why = reject.why};
}

}  // namespace

Result<VerifyReport> verify(const Store& store, const ledger::BlockRules& rules, Parallel& parallel,
                            const ProgressSink& progress) {
    const BlockInfo tip = store.tip();
    VerifyReport report{.to = tip.height()};
    // Executing tells which block it is, if it is one of the chain; so this one is told only when that finds nothing.
    const auto log = store.check_log();
    const auto with_fault = [&](ChainFault fault) {
        report.fault = std::move(fault);
        return report;
    };

    Walker walker;
    const BlockInfo base = store.base();
    if (base.height() == Height{0} && base.has_body) {
        auto block = store.block(base.hash);
        if (!block) return with_fault(fault_of(Height{0}, block.error()));
        auto consensus = rules.judge.judge_genesis(*block);
        if (!consensus) return with_fault(fault_of(Height{0}, consensus.error()));
        auto commit = ledger::apply_genesis(*block, *consensus);
        if (!commit) return with_fault(fault_of(Height{0}, commit.error()));
        walker = {.at = block->header, .state = std::make_unique<LedgerState>(std::move(commit->view))};
        report.blocks = 1;
        report.transactions = block->txs.size();
    } else {
        auto checkpoint = store.load_checkpoint(parallel);
        if (!checkpoint) return with_fault(fault_of(tip.height(), checkpoint.error()));
        TRY(auto oldest, walk_back(store, std::move(checkpoint->view), checkpoint->block.height(), base.height()));
        TRY(const BlockInfo block, store.info_at(oldest.first));
        walker = {.at = block.header, .state = std::make_unique<LedgerState>(std::move(oldest.second))};
        report.from = oldest.first;
    }
    ledger::SignatureCache cache;
    const auto fault = walk(store, walker, tip.height(), rules, cache, parallel,
                            [&](const BlockInfo&, const Block& block, const ledger::Applied&) {
                                report.blocks += 1;
                                report.transactions += block.txs.size();
                                if (progress) progress(block.header.height - report.from, tip.height() - report.from);
                            });
    if (fault)
        return with_fault(fault->unreadable ? fault_of(fault->height, *fault->unreadable)
                                            : fault_of(fault->height, *fault->refused));
    if (!log) return with_fault(fault_of(tip.height(), log.error()));
    return report;
}

}  // namespace rhizome::store
