// SPDX-License-Identifier: Apache-2.0
#include "store/detail/store_inside.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "ledger/block_outputs.h"
#include "ledger/codec.h"
#include "ledger/limits.h"
#include "runtime/entropy.h"

namespace rhizome::store {

using detail::IndexItem;
using ledger::BlockHash;
using ledger::Height;

SegmentLog::Settings Store::Inside::log_settings(const ledger::ChainId& chain) {
    SegmentLog::Settings settings{.folder = folder.log(), .segment_bytes = options.segment_bytes};
    std::copy(chain.view().begin(), chain.view().end(), settings.chain.begin());
    settings.carry = [this] { return encode(facts); };
    return settings;
}

void Store::Inside::start_indexer(const IndexHead& head) {
    indexer = std::make_unique<detail::Indexer>(*index, *log, head,
                                                detail::IndexerSettings{.undo_blocks = options.undo_blocks,
                                                                        .undo_bytes_max = options.undo_bytes_max,
                                                                        .backlog_bytes_max = options.backlog_bytes_max,
                                                                        .notes_bytes_max = options.notes_bytes_max,
                                                                        .batch_bytes = options.index_batch_bytes,
                                                                        .patience = options.index_patience});
}

Result<void> Store::Inside::check_room() {
    TRY(arrive());
    TRY(indexer->wait_for_room());
    TRY(const std::uint64_t free, folder.free_bytes());
    // Room inside the segment is ours already; what else is needed comes on top of the reserve.
    const std::uint64_t needed =
        options.reserve_bytes + (log->fits(ledger::kBlockBytesMax + ledger::kSealBytesMax) ? 0 : options.segment_bytes);
    if (free < needed)
        return fail(
            ErrorKind::Exhausted,
            fmt::format("the disk of {} has {} MiB left and {} MiB are needed: no more blocks are taken\nmake room "
                        "(rhizome chain prune, or delete other files); the node goes on by itself then",
                        folder.path().native(), free >> 20, (needed + (1u << 20) - 1) >> 20));
    return {};
}

// ---- writing --------------------------------------------------------------------------------------------------------

Result<Ticket> Store::Inside::write(RecordKind kind, ByteView payload, Facts facts_after, IndexItem item) {
    TRY(const auto appended, log->append(kind, std::span{&payload, 1}));
    if (item.block) item.block->second.position = appended.position;
    item.sequence = appended.sequence;
    item.after = log->end();
    item.facts = facts_after;
    item.bytes += 512;
    {
        const std::lock_guard lock{mutex};
        facts = std::move(facts_after);
    }
    indexer->push(std::move(item));
    return appended.sequence;
}

Result<Ticket> Store::Inside::write_vote(RecordKind kind, ByteView record) {
    if (record.size() > kVoteBytesMax)
        return fail(ErrorKind::Exhausted, fmt::format("a vote record of {} bytes is too large", record.size()));
    TRY(arrive());
    Facts after = facts;
    after.vote = {record.begin(), record.end()};
    if (kind == RecordKind::VotesKnown) {
        after.votes_complete = true;
        after.record_id = {};
    }
    return write(kind, record, std::move(after), {});
}

Result<Ticket> Store::Inside::lose_votes() {
    Facts after = facts;
    after.votes_complete = false;
    runtime::fill_with_entropy(after.record_id);
    const ledger::VoteRecordId id = after.record_id;
    return write(RecordKind::VotesLost, id, std::move(after), {});
}

Result<Ticket> Store::Inside::add_block(RecordKind kind, const ledger::Block& block, std::span<const ledger::TxId> ids,
                                        const std::optional<state::Delta>& change, KeepChange keep) {
    const BlockId id{.hash = hash_of(block.header), .height = block.header.height};
    const Bytes bytes = ledger::encode(block);
    IndexItem item;
    item.block = {id.hash, BlockRow{.bytes = static_cast<std::uint32_t>(bytes.size()),
                                    .tx_count = static_cast<std::uint32_t>(block.txs.size()),
                                    .header = block.header,
                                    .signature = block.signature}};
    item.ids.assign(ids.begin(), ids.end());
    if (ids.empty())
        for (const ledger::Tx& tx : block.txs) item.ids.push_back(id_of(tx));
    ensure(item.ids.size() == block.txs.size(), "a block's ids are all of its transactions'");
    if (change) {
        IndexItem::Changed changed{.block = id.hash, .delta = *change};
        if (keep == KeepChange::UntilFinal) {
            changed.unless_final = id.height;  // then it is encoded if at all when it is written
        } else {
            const ledger::BlockOutputs outputs{block, item.ids};
            changed.record = state::encode(*change, &outputs);
        }
        item.changes.push_back(std::move(changed));
    }
    item.bytes = bytes.size() + (change ? bytes.size() : 0);  // a change is about as large as what made it
    Facts after = facts;
    const std::uint64_t total = tx_total + block.txs.size();
    if (kind == RecordKind::Append) {
        after.tip = id;
        item.chain.push_back({.height = id.height, .row = {.hash = id.hash, .tx_total = total}});
    }
    TRY(const Ticket ticket, write(kind, bytes, std::move(after), std::move(item)));
    if (kind == RecordKind::Append)
        set_tip({.hash = id.hash,
                 .header = block.header,
                 .signature = block.signature,
                 .tx_count = static_cast<std::uint32_t>(block.txs.size()),
                 .bytes = static_cast<std::uint32_t>(bytes.size()),
                 .has_body = true},
                total);
    return ticket;
}

void Store::Inside::set_tip(const BlockInfo& block, std::uint64_t total) {
    const std::lock_guard lock{mutex};
    tip = block;
    tx_total = total;
}

void Store::Inside::offer(const state::StateView& view, std::uint64_t bytes, KeepChange keep) {
    since_checkpoint += bytes;
    const bool due =
        since_checkpoint >= options.checkpoint_bytes * (keep == KeepChange::UntilFinal ? detail::kBulkFactor : 1);
    if (due) since_checkpoint = 0;
    indexer->offer_state(facts.tip, view, due);
}

Result<Store::Inside::Move> Store::Inside::plan_move(const BlockId& to, std::span<const IndexItem> behind) {
    // While opening, what is behind the index is in `behind` and nowhere else yet.
    const auto row_of = [&](const BlockHash& hash) -> Result<std::optional<BlockRow>> {
        for (auto item = behind.rbegin(); item != behind.rend(); ++item)
            if (item->block && item->block->first == hash) return std::optional{item->block->second};
        return row(hash);
    };
    const auto chain_now = [&](Height height) -> Result<std::optional<ChainRow>> {
        for (auto item = behind.rbegin(); item != behind.rend(); ++item) {
            for (const IndexItem::OnChain& block : item->chain)
                if (block.height == height) return std::optional{block.row};
            if (item->cut_above && height > *item->cut_above) return std::optional<ChainRow>{};
        }
        return chain_at(height);
    };
    Move move;
    IndexItem& item = move.item;
    BlockId at = to;
    for (;;) {
        TRY(const auto known, chain_now(at.height));
        if (known && known->hash == at.hash) {
            move.tx_total = known->tx_total;
            break;
        }
        TRY(const auto block, row_of(at.hash));
        if (!block || block->header.height != at.height || at.height == Height{0})
            return fail(ErrorKind::Corrupt,
                        fmt::format("the tip moved to a branch whose block {} is not here", at.hash));
        item.chain.push_back({.height = at.height, .row = {.hash = at.hash, .tx_total = block->tx_count}});
        at = {.hash = block->header.previous, .height = at.height - 1};
    }
    move.fork = at;
    std::reverse(item.chain.begin(), item.chain.end());
    for (auto& [height, row] : item.chain) row.tx_total = move.tx_total += row.tx_total;
    item.cut_above = at.height;
    return move;
}

Facts Store::Inside::after_move(Facts before, const BlockId& tip, const BlockId& fork) {
    before.tip = tip;
    if (before.final_block.height > fork.height) before.final_block = fork;
    return before;
}

namespace {

/// What a version wrote that left the mark where it was when a recovery took the block back.
bool left_its_mark(const Facts& carried, Facts facts) {
    if (carried.final_block.height <= facts.final_block.height) return false;
    facts.final_block = carried.final_block;
    return carried == facts;
}

}  // namespace

Result<void> Store::Inside::bring_final_home() {
    for (BlockId at = facts.final_block;;) {
        if (at.height <= facts.tip.height) {
            TRY(const auto on_chain, index->on_chain(at.height));
            // Below what is kept all are of the chain.
            if (!on_chain || on_chain->hash == at.hash) {
                facts.final_block = on_chain ? at : facts.base;
                return {};
            }
        }
        TRY(const auto block, index->block(at.hash));
        if (!block || at.height <= facts.base.height) {
            facts.final_block = facts.base;
            return {};
        }
        at = {.hash = block->header.previous, .height = at.height - 1};
    }
}

Result<IndexItem> Store::Inside::read_record(const LogRecord& record, bool first, std::span<const IndexItem> behind) {
    IndexItem item;
    const auto block_id = [&]() -> Result<BlockId> {
        Reader in{record.payload};
        BlockId block;
        TRY(block.hash, in.id<BlockHash>());
        TRY(const std::uint64_t height, in.u64());
        TRY(in.finish());
        block.height = Height{height};
        return block;
    };
    switch (record.head.kind) {
        case RecordKind::Carry: {
            TRY(auto carried, decode_facts(record.payload));
            if (first) {
                facts = std::move(carried);
                item.chain.push_back({.height = facts.base.height, .row = {.hash = facts.base.hash}});
            } else if (carried != facts && !left_its_mark(carried, facts)) {
                return fail(ErrorKind::Corrupt, "the segment begins with other facts than the one before ended with");
            }
            break;
        }
        case RecordKind::Block:
        case RecordKind::Append: {
            auto block = ledger::decode_block(record.payload);
            if (!block) return fail(ErrorKind::Corrupt, "the block in it cannot be read: " + block.error().why);
            const BlockId id{.hash = hash_of(block->header), .height = block->header.height};
            item.block = {id.hash, BlockRow{.position = record.position,
                                            .bytes = record.head.length,
                                            .tx_count = static_cast<std::uint32_t>(block->txs.size()),
                                            .header = block->header,
                                            .signature = block->signature}};
            for (const ledger::Tx& tx : block->txs) item.ids.push_back(id_of(tx));
            item.bytes = record.head.length;
            if (record.head.kind == RecordKind::Append) {
                if (block->header.previous != facts.tip.hash)
                    return fail(ErrorKind::Corrupt, "the block in it does not follow the tip");
                facts.tip = id;
            }
            // The block that everything begins with is told first by the facts, without its transactions.
            if (record.head.kind == RecordKind::Append || (id == facts.base && id == facts.tip)) {
                tx_total += block->txs.size();
                item.chain.push_back({.height = id.height, .row = {.hash = id.hash, .tx_total = tx_total}});
            }
            break;
        }
        case RecordKind::Tip: {
            TRY(const BlockId to, block_id());
            TRY(Move move, plan_move(to, behind));
            item = std::move(move.item);
            tx_total = move.tx_total;
            facts = after_move(std::move(facts), to, move.fork);
            break;
        }
        case RecordKind::Final: {
            TRY(facts.final_block, block_id());
            break;
        }
        case RecordKind::Vote: facts.vote = {record.payload.begin(), record.payload.end()}; break;
        case RecordKind::VotesLost:
            // From before records had ids they have none.
            if (!record.payload.empty() && record.payload.size() != facts.record_id.size())
                return fail(ErrorKind::Corrupt, "lost votes have the id of the new record, and nothing else");
            facts.votes_complete = false;
            facts.record_id = {};
            std::copy(record.payload.begin(), record.payload.end(), facts.record_id.begin());
            break;
        case RecordKind::VotesKnown:
            facts.vote = {record.payload.begin(), record.payload.end()};
            facts.votes_complete = true;
            facts.record_id = {};
            break;
        case RecordKind::State:
        case RecordKind::Note:
        case RecordKind::End: return fail(ErrorKind::Corrupt, "a record of a backup stands in the log");
    }
    item.sequence = record.head.sequence;
    item.after = {
        .position = {.segment = record.position.segment,
                     .offset = record.position.offset + static_cast<std::uint32_t>(record_bytes(record.head.length))},
        .sequence = record.head.sequence + 1,
        .link = record.head.checksum};
    item.facts = facts;
    return item;
}

// ---- reading --------------------------------------------------------------------------------------------------------

Result<std::optional<BlockRow>> Store::Inside::row(const BlockHash& hash) const {
    if (indexer)
        if (auto recent = indexer->block(hash)) return recent;
    return index->block(hash);
}

Result<std::optional<BlockHash>> Store::Inside::hash_at(Height height) const {
    TRY(const auto row, chain_at(height));
    return row ? std::optional{row->hash} : std::nullopt;
}

Result<std::optional<ChainRow>> Store::Inside::chain_at(Height height) const {
    {
        // Rows above the tip may still stand in the index after a move back.
        const std::lock_guard lock{mutex};
        if (height > facts.tip.height) return std::optional<ChainRow>{};
    }
    if (indexer)
        if (auto recent = indexer->on_chain(height)) return recent;
    return index->on_chain(height);
}

namespace detail {

Bytes encode(const ledger::Seal& seal) {
    Writer out;
    out.blob(seal.proof).blob(seal.attestations);
    return std::move(out).take();
}

Result<ledger::Seal, DecodeFault> decode_seal(ByteView bytes) {
    Reader in{bytes};
    TRY(const ByteView proof, in.blob(ledger::kSealBytesMax));
    TRY(const ByteView attestations, in.blob(ledger::kSealBytesMax));
    TRY(in.finish());
    return ledger::Seal{.proof = {proof.begin(), proof.end()},
                        .attestations = {attestations.begin(), attestations.end()}};
}

}  // namespace detail
}  // namespace rhizome::store
