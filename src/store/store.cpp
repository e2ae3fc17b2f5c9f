// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <algorithm>
#include <mutex>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/block_outputs.h"
#include "ledger/codec.h"
#include "runtime/entropy.h"
#include "store/chain_index.h"
#include "store/detail/indexer.h"
#include "store/detail/store_inside.h"
#include "store/place.h"

namespace rhizome::store {

using detail::IndexItem;
using ledger::Block;
using ledger::BlockHash;
using ledger::Height;

// ---- making ---------------------------------------------------------------------------------------------------------

namespace {

/// Takes away what was begun, unless it came to an end.
class Unfinished {
public:
    explicit Unfinished(const DataFolder& folder)
        : format_(folder.format()), log_(folder.log()), index_(folder.index()), place_(place_of(folder.path())) {}
    ~Unfinished() {
        if (finished_) return;
        // The last step may have been done though it failed. Without this name there is no chain, so it goes first.
        std::error_code ignored;
        std::filesystem::remove(format_, ignored);
        if (ignored) return;
        std::filesystem::remove_all(log_, ignored);
        std::filesystem::remove_all(index_, ignored);
        std::filesystem::remove(place_, ignored);
    }
    void finish() { finished_ = true; }

private:
    std::filesystem::path format_;
    std::filesystem::path log_;
    std::filesystem::path index_;
    std::filesystem::path place_;
    bool finished_ = false;
};

BlockInfo info_of(const BlockHash& hash, const BlockRow& row) {
    return {.hash = hash,
            .header = row.header,
            .signature = row.signature,
            .tx_count = row.tx_count,
            .bytes = row.bytes,
            .has_body = row.position.segment != 0};
}

Error not_found(std::string what) { return {ErrorKind::NotFound, std::move(what)}; }

/// The outputs of a block that is read when the first of them is asked for.
class OutputsOnDisk final : public state::Outputs {
public:
    OutputsOnDisk(const Store& store, const BlockHash& hash) : store_(store), hash_(hash) {}
    [[nodiscard]] std::optional<Output> find(const state::Outpoint& output) const override {
        if (!block_) {
            block_ = store_.block(hash_);
            if (*block_) outputs_.emplace(block_->value());
        }
        return outputs_ ? outputs_->find(output) : std::nullopt;
    }
    /// Why the block could not be read, when it could not.
    [[nodiscard]] const Error* failure() const { return block_ && !*block_ ? &block_->error() : nullptr; }

private:
    const Store& store_;
    BlockHash hash_;
    mutable std::optional<Result<Block>> block_;
    mutable std::optional<ledger::BlockOutputs> outputs_;
};

}  // namespace

Store::Store(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Store::~Store() = default;

/// A folder with a log, an index whose state is `view`, and one block that everything begins with.
Result<std::unique_ptr<Store>> Store::begin(const std::filesystem::path& folder, const ledger::ChainId& chain,
                                            const Block& base, bool has_body, const state::StateView& view,
                                            ChainOrigin origin, const Options& options) {
    TRY(auto data, DataFolder::make(folder));
    Unfinished unfinished{data};
    auto inside = std::make_unique<Inside>(std::move(data), options);
    const BlockId id{.hash = hash_of(base.header), .height = base.header.height};
    inside->facts = {.base = id, .tip = id, .final_block = id, .votes_complete = origin == ChainOrigin::MadeHere};
    if (!inside->facts.votes_complete) runtime::fill_with_entropy(inside->facts.record_id);
    TRY(inside->log, SegmentLog::create(inside->log_settings(chain)));
    BlockRow row{.header = base.header, .signature = base.signature};
    std::vector<ledger::TxId> ids;
    if (has_body) {
        const Bytes bytes = ledger::encode(base);
        const ByteView payload{bytes};
        TRY(const auto appended, inside->log->append(RecordKind::Block, std::span{&payload, 1}));
        TRY(inside->log->sync());
        row.position = appended.position;
        row.bytes = static_cast<std::uint32_t>(bytes.size());
        row.tx_count = static_cast<std::uint32_t>(base.txs.size());
        for (const ledger::Tx& tx : base.txs) ids.push_back(id_of(tx));
    }
    inside->tip = inside->base = inside->final_block = info_of(id.hash, row);
    inside->tx_total = row.tx_count;
    TRY(inside->index, ChainIndex::open(inside->folder.index()));
    TRY(inside->index->mark_in_use());
    const IndexHead head{.log = inside->log->end(),
                         .durable = inside->log->durable(),
                         .facts = inside->facts,
                         .checkpoint = id,
                         .undo_from = id.height};
    {
        TRY(auto update, inside->index->fill_state(view));
        TRY(update.put_block(id.hash, row));
        TRY(update.put_transactions(id.height, ids));
        TRY(update.put_on_chain(id.height, {.hash = id.hash, .tx_total = row.tx_count}));
        if (!has_body) TRY(update.put_seal(id.hash, detail::encode(base.seal)));
        TRY(update.put_head(head));
        TRY(update.commit());
    }
    TRY(mark_place(inside->folder.path()));
    TRY(inside->folder.finish(chain));
    unfinished.finish();
    inside->start_indexer(head);
    inside->indexer->set_checkpoint_state(view);
    inside->indexer->offer_state(id, view, false);
    return std::unique_ptr<Store>{new Store{std::move(inside)}};
}

Result<std::unique_ptr<Store>> Store::create(const std::filesystem::path& folder, const ledger::GenesisBlock& genesis,
                                             const Options& options, ChainOrigin origin) {
    return begin(folder, ledger::ChainId{hash_of(genesis.block.header).view()}, genesis.block, true,
                 genesis.commit.view, origin, options);
}

Result<std::unique_ptr<Store>> Store::create_from_state(const std::filesystem::path& folder,
                                                        const ledger::ChainId& chain, const Block& base,
                                                        const state::StateView& view, const Options& options) {
    ensure(view.root() == base.header.state_root, "a state that its header names");
    return begin(folder, chain, base, false, view, ChainOrigin::FromElsewhere, options);
}

const std::filesystem::path& Store::folder() const { return inside_->folder.path(); }
const ledger::ChainId& Store::chain() const { return inside_->folder.chain(); }
const std::vector<Finding>& Store::findings() const { return inside_->findings; }

// ---- writing --------------------------------------------------------------------------------------------------------

Result<Ticket> Store::append(const Block& block, std::span<const ledger::TxId> ids, const state::Commit& commit,
                             KeepChange keep) {
    ensure(block.header.previous == inside_->facts.tip.hash, "only a child of the tip is appended");
    ensure(commit.view.root() == block.header.state_root, "the state a block is appended with is the one it names");
    TRY(inside_->check_room());
    TRY(const Ticket ticket, inside_->add_block(RecordKind::Append, block, ids, commit.delta, keep));
    inside_->offer(commit.view, encoded_size(block), keep);
    return ticket;
}

Result<Ticket> Store::keep(const Block& block) {
    if (const auto known = info(hash_of(block.header)); known && known->has_body)
        return inside_->log->end().sequence - 1;
    TRY(inside_->check_room());
    return inside_->add_block(RecordKind::Block, block, {}, {}, {});
}

Result<Ticket> Store::move_tip(const BlockHash& tip, std::span<const Adopted> branch, const state::StateView& view,
                               Finals finals) {
    TRY(const BlockInfo target, info(tip));
    ensure(view.root() == target.header.state_root, "the state the chain moves to is the one its tip names");
    TRY(inside_->check_room());
    TRY(Inside::Move move, inside_->plan_move({.hash = tip, .height = target.height()}, {}));
    for (const Adopted& block : branch) move.item.changes.push_back({.block = block.hash, .delta = block.delta});
    const BlockId to{.hash = tip, .height = target.height()};
    Facts facts = Inside::after_move(inside_->facts, to, move.fork);
    const bool stays = facts.final_block == inside_->facts.final_block;
    ensure(stays || finals == Finals::TakenBack, "the chain moves off its final block only by a recovery");
    BlockInfo final_now = final_block();
    if (!stays) {
        TRY(final_now, info(facts.final_block.hash));
    }
    Writer out;
    out.id(tip).u64(target.height().number());
    // One record says both: a crash leaves the chain and the mark as they were, or as they are.
    TRY(const Ticket ticket, inside_->write(RecordKind::Tip, out.view(), std::move(facts), std::move(move.item)));
    inside_->set_tip(target, move.tx_total);
    {
        const std::lock_guard lock{inside_->mutex};
        inside_->final_block = final_now;
    }
    inside_->offer(view, 0, KeepChange::ForAWhile);
    return ticket;
}

Result<Ticket> Store::record_vote(ByteView record) {
    if (!inside_->facts.votes_complete || inside_->forgets_votes())
        return fail(ErrorKind::Denied,
                    fmt::format("nothing is signed from {} yet: what was signed before may not be known there",
                                inside_->folder.path().native()));
    return inside_->write_vote(RecordKind::Vote, record);
}

Result<Ticket> Store::complete_votes(ByteView record) { return inside_->write_vote(RecordKind::VotesKnown, record); }

Result<Ticket> Store::lose_votes() { return inside_->lose_votes(); }

Result<Ticket> Store::mark_final(const BlockHash& hash) {
    TRY(const BlockInfo block, info(hash));
    ensure(on_chain(block), "a final block is of the chain");
    ensure(block.height() >= inside_->facts.final_block.height, "the final block goes back only with the chain");
    TRY(inside_->arrive());
    Facts facts = inside_->facts;
    facts.final_block = {.hash = hash, .height = block.height()};
    Writer out;
    out.id(hash).u64(block.height().number());
    TRY(const Ticket ticket, inside_->write(RecordKind::Final, out.view(), std::move(facts), {}));
    const std::lock_guard lock{inside_->mutex};
    inside_->final_block = block;
    return ticket;
}

Result<Ticket> Store::sync() { return inside_->log->sync(); }
Ticket Store::durable() const { return inside_->log->durable(); }

void Store::offer_state(const BlockHash& block, Height height, const state::StateView& view) {
    const bool behind = inside_->indexer->checkpoint().hash != block;
    inside_->since_checkpoint = behind ? inside_->options.checkpoint_bytes : 0;
    inside_->indexer->offer_state({.hash = block, .height = height}, view, false);
}

void Store::remember_change(const BlockHash& block, const state::Delta& delta) {
    IndexItem item;
    item.changes.push_back({.block = block, .delta = delta});
    inside_->indexer->push(std::move(item));
}

Result<void> Store::put_note(std::string_view table, std::string_view name, ByteView bytes) {
    TRY(inside_->index->note(table, name));  // refuses what no table or name can be
    return inside_->indexer->put_note(std::string{table}, std::string{name}, {bytes.begin(), bytes.end()});
}

Result<Bytes> Store::note(std::string_view table, std::string_view name) const {
    std::optional<Bytes> found = inside_->indexer->note(table, name);
    if (!found) {
        TRY(found, inside_->index->note(table, name));
    }
    if (!found || found->empty()) return Fail{not_found(fmt::format("there is no note \"{}\" in \"{}\"", name, table))};
    return *std::move(found);
}

Result<std::vector<std::pair<std::string, Bytes>>> Store::notes(std::string_view table, std::size_t count_max) const {
    TRY(inside_->indexer->settle(false));
    return inside_->index->notes(table, count_max);
}

Result<void> Store::settle(bool checkpoint) {
    TRY(inside_->log->sync());
    return inside_->indexer->settle(checkpoint);
}

// ---- reading --------------------------------------------------------------------------------------------------------

BlockInfo Store::tip() const {
    const std::lock_guard lock{inside_->mutex};
    return inside_->tip;
}

BlockInfo Store::final_block() const {
    const std::lock_guard lock{inside_->mutex};
    return inside_->final_block;
}

BlockInfo Store::base() const { return inside_->base; }

VoteMemory Store::votes() const {
    const std::lock_guard lock{inside_->mutex};
    // On a full disk: no id stands on it that others could be told.
    const bool forgets = inside_->forgets_votes();
    return {.complete = inside_->facts.votes_complete && !forgets,
            .record = inside_->facts.vote,
            .id = forgets ? ledger::VoteRecordId{} : inside_->facts.record_id};
}

Result<Checkpoint> Store::load_checkpoint(Parallel& parallel) const {
    // What it stands after must be known. Where the index waits for room, those who wait for the index know it.
    if (const auto settled = inside_->indexer->settle(false); !settled && settled.error().kind != ErrorKind::Exhausted)
        return Fail{settled.error()};
    const BlockId id = inside_->indexer->checkpoint();
    inside_->indexer->set_checkpoint_state(std::nullopt);  // until the root is known to be right
    if (id.hash.is_zero()) return Fail{not_found("the index has no checkpoint")};
    TRY(const BlockInfo block, info(id.hash));
    TRY(auto view, inside_->index->state(parallel));
    if (view.root() != block.header.state_root)
        return fail(ErrorKind::Corrupt, fmt::format("{} is damaged: its state is not the one that block {} names",
                                                    inside_->index->path().native(), id.height));
    inside_->indexer->set_checkpoint_state(view);
    return Checkpoint{.block = block, .view = std::move(view)};
}

Result<BlockInfo> Store::info(const BlockHash& hash) const {
    TRY(const auto row, inside_->row(hash));
    if (!row) return Fail{not_found(fmt::format("there is no block {} here", hash))};
    return info_of(hash, *row);
}

Result<BlockInfo> Store::info_at(Height height) const {
    TRY(const auto hash, inside_->hash_at(height));
    if (!hash) {
        const BlockInfo newest = tip();
        return Fail{not_found(
            height > newest.height()
                ? fmt::format("there is no block {}: the chain's newest is {}", height, newest.height())
                : fmt::format("block {} is not kept here: {}\nask a node that has all of the chain, with "
                              "--node ADDRESS",
                              height,
                              height < inside_->base.height()
                                  ? fmt::format("this machine began with the state at {}", inside_->base.height())
                                  : std::string{"it was pruned"}))};
    }
    return info(*hash);
}

bool Store::on_chain(const BlockInfo& block) const {
    const auto hash = inside_->hash_at(block.height());
    return hash && *hash && **hash == block.hash;
}

Result<std::vector<BlockInfo>> Store::all_at(Height height) const {
    std::vector<BlockHash> hashes = inside_->indexer->all_at(height);
    TRY(const auto indexed, inside_->index->all_at(height));
    hashes.insert(hashes.end(), indexed.begin(), indexed.end());
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    std::vector<BlockInfo> blocks;
    for (const BlockHash& hash : hashes) {
        TRY(const BlockInfo block, info(hash));
        blocks.push_back(block);
    }
    return blocks;
}

Result<Bytes> Store::block_bytes(const BlockHash& hash) const {
    TRY(const auto row, inside_->row(hash));
    if (!row) return Fail{not_found(fmt::format("there is no block {} here", hash))};
    if (row->position.segment == 0)
        return Fail{
            not_found(fmt::format("the body of block {} ({}) is not here: it was pruned, or the chain began with a "
                                  "snapshot",
                                  row->header.height, hash))};
    TRY(auto record, inside_->log->read(row->position));
    return std::move(record.second);
}

Result<Block> Store::block(const BlockHash& hash) const {
    TRY(const Bytes bytes, block_bytes(hash));
    auto block = ledger::decode_block(bytes);
    // The record's checksum is right, so this is no damage of the disk: the row led to another block.
    if (!block || hash_of(block->header) != hash)
        return fail(ErrorKind::Corrupt,
                    fmt::format("{} is damaged: it gives another place for block {} than where it is",
                                inside_->index->path().native(), hash));
    return *std::move(block);
}

Result<ledger::Seal> Store::seal(const BlockHash& hash) const {
    TRY(const BlockInfo facts, info(hash));
    if (facts.has_body) {
        TRY(Block whole, block(hash));
        return std::move(whole.seal);
    }
    TRY(const auto kept, inside_->index->seal(hash));
    if (!kept) return Fail{not_found(fmt::format("the seal of block {} is not here any more", facts.height()))};
    TRY(auto seal, detail::decode_seal(*kept));
    return seal;
}

Result<state::Delta> Store::change(const BlockHash& hash) const {
    if (auto recent = inside_->indexer->change(hash)) return *std::move(recent);
    TRY(const auto bytes, inside_->index->undo(hash));
    if (!bytes) return Fail{not_found(fmt::format("what block {} changed is not kept", hash))};
    const OutputsOnDisk outputs{*this, hash};
    auto delta = state::decode_delta(*bytes, inside_->options.undo_bytes_max, &outputs);
    if (outputs.failure()) return Fail{*outputs.failure()};
    if (!delta) return Fail{to_error(delta.error())};
    return *std::move(delta);
}

Result<TxPlace> Store::find_tx(const ledger::TxId& id) const {
    std::vector<TxRow> rows = inside_->indexer->transactions(id);
    TRY(const auto indexed, inside_->index->transactions(id));
    rows.insert(rows.end(), indexed.begin(), indexed.end());
    for (const TxRow& row : rows) {
        TRY(const auto hash, inside_->hash_at(row.height));
        if (!hash) continue;
        TRY(const BlockInfo facts, info(*hash));
        if (!facts.has_body || row.index >= facts.tx_count) continue;
        // Rows are of all branches: only the block itself says whether it has the transaction.
        TRY(const Block whole, block(*hash));
        if (row.index < whole.txs.size() && id_of(whole.txs[row.index]) == id)
            return TxPlace{.block = facts, .index = row.index};
    }
    return Fail{not_found(fmt::format("there is no transaction {} on this chain", id))};
}

Result<Store::Usage> Store::usage() const {
    Usage usage;
    usage.log_bytes = inside_->log->bytes();
    std::error_code fault;
    usage.index_bytes = std::filesystem::file_size(inside_->index->path(), fault);
    if (fault) usage.index_bytes = 0;
    TRY(usage.free_bytes, inside_->folder.free_bytes());
    usage.checkpoint = inside_->indexer->checkpoint().height;
    usage.backlog_blocks = inside_->indexer->backlog_blocks();
    return usage;
}

}  // namespace rhizome::store
