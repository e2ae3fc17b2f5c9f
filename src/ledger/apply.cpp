// SPDX-License-Identifier: Apache-2.0
#include "ledger/apply.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/chain_records.h"
#include "ledger/codec.h"
#include "ledger/limits.h"
#include "ledger/order.h"
#include "ledger/readiness.h"
#include "ledger/signature_work.h"
#include "ledger/special_kinds.h"

namespace rhizome::ledger {
namespace {

/// Replay ids whose time has come are dropped, some in every block: however many expire at once, no block pays for all.
constexpr std::size_t kReplayDroppedPerBlock = 10'000;

void advance_lease_clock(WorkingState& state, const NextBlock& next, const Parameters& parameters) {
    const auto passed = std::chrono::duration_cast<milliseconds>(next.time - next.parent_time);
    const milliseconds now = lease_clock(state) + std::min(passed, parameters.lease_step_max());
    state.put_record(records::clock(), records::encode_number(static_cast<std::uint64_t>(now.count())));
}

void drop_expired_replay(WorkingState& state, Time now) {
    std::vector<state::Path> expired;
    state::Cursor cursor = state.walk(records::all_replay());
    for (const state::Entry* entry = cursor.next(); entry != nullptr && expired.size() < kReplayDroppedPerBlock;
         entry = cursor.next()) {
        state::Path path = entry->path();
        if (records::replay_expiry(path) > now.unix_seconds()) break;  // they come oldest first
        expired.push_back(std::move(path));
    }
    for (const state::Path& path : expired) state.erase(path);
}

void append_history(WorkingState& state, const BlockHash& parent) {
    records::History history;
    if (const state::Entry* record = state.find(records::history())) {
        auto read = records::decode_history(record->bytes());
        ensure(read.has_value(), "a history record of ours");
        history = *std::move(read);
    }
    history.append(parent);
    state.put_record(records::history(), records::encode(history));
}

void write_consensus_part(WorkingState& state, const ConsensusPart& consensus) {
    for (const MemberKey& key : consensus.heard)
        if (state.find(records::member(key)) != nullptr) renew_lease(key, state);
    for (const auto& [path, bytes] : consensus.records) {
        if (bytes.empty()) {
            state.erase(path);
        } else {
            state.put_record(path, bytes);
        }
    }
}

Reject in_transaction(std::size_t position, const CheckedTx& tx, Reject reject) {
    reject.transaction = position;
    reject.why.insert(0, fmt::format("transaction {} ({}): ", position, tx.id.hex().substr(0, 16)));
    return reject;
}

/// The chain id is the hash of the genesis block, so it can stand in the state only from the block after it.
ChainId chain_of(const LedgerState& parent, const NextBlock& next) {
    return parent.chain().is_zero() ? ChainId{next.parent.view()} : parent.chain();
}

Result<std::vector<SharedTx>, Reject> check_all(std::span<const Tx> txs, Parallel& parallel) {
    CheckWork work{txs};
    parallel.for_ranges(work.size(), [&](std::size_t begin, std::size_t end) { work.check(begin, end); });
    return std::move(work).finish();
}

}  // namespace

Place place_of(const LedgerState& parent, const NextBlock& next) {
    return {
        .chain = chain_of(parent, next), .height = next.height, .time = next.time, .parameters = &parent.parameters()};
}

LedgerState::LedgerState(state::StateView view) : view_(std::move(view)), index_(OutpointIndex::of(view_)) {
    read_view();
}

Parameters parameters_of(const state::StateView& view) {
    const state::Entry* record = view.get(records::parameters());
    if (record == nullptr) return {};
    auto read = read_parameters(json::Object{{"spec", parse_checked(record->document())}});
    ensure(read.has_value(), "parameters in the state were checked");
    return *std::move(read);
}

void LedgerState::read_view() {
    parameters_ = parameters_of(view_);
    chain_ = {};
    if (const state::Entry* record = view_.get(records::chain_id())) {
        ensure(record->bytes().size() == ChainId::kSize, "a chain id record of ours");
        chain_ = ChainId{record->bytes().first<ChainId::kSize>()};
    }
}

void LedgerState::advance(const state::Commit& commit) {
    ensure(commit.delta.root_before() == view_.root(), "a commit follows the state it was made from");
    view_ = commit.view;
    index_.apply(commit.delta);
    read_view();
}

Result<void, state::DeltaFault> LedgerState::step_forward(const state::Delta& delta) {
    TRY(auto after, state::apply(view_, delta));
    // The index follows the two states and not the record: of that only what is written was checked by the root, not
    // what it says was there before, and a damaged one would leave outputs in the index that nothing has.
    (void)jump_to(std::move(after));
    return {};
}

state::Delta LedgerState::jump_to(state::StateView view) {
    state::Delta way = state::diff(view_, view);
    view_ = std::move(view);
    index_.apply(way);
    read_view();
    return way;
}

Result<void, state::DeltaFault> LedgerState::step_back(const state::Delta& delta) {
    TRY(auto before, state::undo(view_, delta));
    (void)jump_to(std::move(before));
    return {};
}

Result<Applied, Reject> execute(const LedgerState& parent, const NextBlock& next, std::span<const SharedTx> txs,
                                const ConsensusPart& consensus, const Rules& rules, SignatureCache& cache,
                                Parallel& parallel) {
    const Place place = place_of(parent, next);
    WorkingState state{parent.view(), parent.index()};
    Applied applied;
    applied.effects.reserve(txs.size());
    std::size_t checks_left = kBlockChecksMax;
    for (std::size_t i = 0; i < txs.size(); ++i) {
        auto effects = decide(txs[i], state, place, rules, cache, checks_left);
        if (!effects) return Fail{in_transaction(i, *txs[i], std::move(effects).error())};
        checks_left -= effects->checks;
        perform(*effects, state, place);
        applied.effects.push_back(*std::move(effects));
    }
    advance_lease_clock(state, next, parent.parameters());
    write_consensus_part(state, consensus);
    follow_leases(state, parent.parameters().lease(), next.time);
    drop_expired_replay(state, next.time);
    append_history(state, next.parent);
    if (parent.chain().is_zero()) state.put_record(records::chain_id(), place.chain.view());
    applied.commit = std::move(state).finish(&parallel);
    return applied;
}

Result<Applied, Reject> apply(const LedgerState& parent, const Header& parent_header, const Block& block,
                              const ConsensusPart& consensus, const Rules& rules, SignatureCache& cache,
                              Parallel& parallel, const BodyAhead* ahead) {
    const Header& header = block.header;
    const NextBlock next{.parent = hash_of(parent_header),
                         .height = header.height,
                         .time = header.time,
                         .parent_time = parent_header.time};
    if (header.previous != next.parent) return reject(RejectCode::MissingInput, "the block is not the parent's child");
    if (header.height != parent_header.height + 1 || header.time <= parent_header.time)
        return reject(RejectCode::BadEncoding, "the block's height or time does not follow from its parent's");
    if (header.consensus != parent.parameters().consensus)
        return reject(RejectCode::BadSeal, "the block is of another consensus than the chain");
    if (encoded_size(block) > parent.parameters().block_bytes + 8)
        return reject(RejectCode::TooLarge,
                      fmt::format("the block is larger than {} bytes", parent.parameters().block_bytes));
    if (header.seal_root != seal_root_of(block.seal))
        return reject(RejectCode::BadSeal, "the seal is not the header's");

    TRY(const auto txs, ahead != nullptr ? ahead->txs : check_all(block.txs, parallel));
    if (header.merkle_root != merkle_root_of_txs(txs))
        return reject(RejectCode::BadMerkle, "the transactions are not those of the header");
    verify_ahead(parent, next, ahead != nullptr ? ahead->unverified : txs, cache, parallel);
    TRY(auto applied, execute(parent, next, txs, consensus, rules, cache, parallel));
    const Ordering ordering = canonical_order(applied.effects);
    if (!ordering.left_out.empty() || !std::is_sorted(ordering.order.begin(), ordering.order.end()))
        return reject(RejectCode::BadOrder, "the transactions are not in their canonical order");
    if (applied.commit.view.root() != header.state_root)
        return reject(RejectCode::BadStateRoot, fmt::format("the state after the block has root {}, the header says {}",
                                                            applied.commit.view.root(), header.state_root));
    return applied;
}

namespace {

/// The state after a genesis transaction. The chain id is not in it: the id is the hash of a header with this state's
/// root.
Result<state::Commit, Reject> execute_genesis(const SharedTx& tx, Time time, const ConsensusPart& consensus) {
    if (!is_genesis(tx->tx) || tx->outputs.size() != 1 || tx->outputs[0].wish != Wish::Store ||
        tx->outputs[0].resource.scope != Scope::Cluster)
        return reject(RejectCode::BadEncoding, "a genesis block has one transaction that writes the Cluster");
    const OutpointIndex index;
    WorkingState state{state::StateView{}, index};
    const Parameters parameters;
    const Place place{.time = time, .parameters = &parameters};
    TRY(check_special(tx->outputs[0].resource, tx->tx.outputs[0].value, nullptr, state, place));
    // It consumes its null input, so that no replay id is kept: there can be no second genesis on a chain.
    perform({.tx = tx, .consumed = {tx->tx.inputs[0].previous}, .stores = {0}}, state, place);
    state.put_record(records::clock(), records::encode_number(0));
    write_consensus_part(state, consensus);
    return std::move(state).finish();
}

}  // namespace

Result<GenesisBlock, Reject> make_genesis(std::string cluster, Bytes lock, Time time, const ConsensusPart& consensus,
                                          const Seal& seal) {
    Tx tx{.inputs = {{.previous = {{}, kGenesisIndex}}},
          .outputs = {{.value = std::move(cluster), .locking = std::move(lock)}}};
    TRY(const auto checked, check_tx(tx, true));
    GenesisBlock genesis;
    TRY(genesis.commit, execute_genesis(checked, time, consensus));
    const LedgerState state{genesis.commit.view};
    genesis.block.header = {.merkle_root = merkle_root_of_txs(std::span{&checked, 1}),
                            .state_root = genesis.commit.view.root(),
                            .time = time,
                            .consensus = state.parameters().consensus,
                            .seal_root = seal_root_of(seal)};
    genesis.block.txs = {std::move(tx)};
    genesis.block.seal = seal;
    return genesis;
}

Result<state::Commit, Reject> apply_genesis(const Block& block, const ConsensusPart& consensus) {
    const Header& header = block.header;
    if (!header.previous.is_zero() || header.height != Height{0} || block.txs.size() != 1)
        return reject(RejectCode::BadEncoding, "a genesis block has height 0, no parent and one transaction");
    if (header.seal_root != seal_root_of(block.seal))
        return reject(RejectCode::BadSeal, "the seal is not the header's");
    TRY(const auto tx, check_tx(block.txs[0], true));
    if (header.merkle_root != merkle_root_of_txs(std::span{&tx, 1}))
        return reject(RejectCode::BadMerkle, "the transaction is not that of the header");
    TRY(auto commit, execute_genesis(tx, header.time, consensus));
    if (commit.view.root() != header.state_root)
        return reject(RejectCode::BadStateRoot, "the state after genesis is not the header's");
    return commit;
}

}  // namespace rhizome::ledger
