// SPDX-License-Identifier: Apache-2.0
#include "store/detail/indexer.h"

#include <algorithm>
#include <chrono>

#include "base/ensure.h"
#include "base/time.h"
#include "runtime/memory.h"

namespace rhizome::store::detail {
namespace {

/// Changes are forgotten in pieces of this many heights, so that no batch pays for a long run of them.
constexpr std::uint64_t kUndoErasedAtOnce = 10'000;
/// Freed nodes can be used again after each of these.
constexpr std::size_t kNodesFreedAtOnce = 4'096;
/// What a note takes besides its text, roughly: a node of a map, two strings and a vector.
constexpr std::uint64_t kNoteOverhead = 160;

std::uint64_t note_bytes(const std::pair<std::string, std::string>& key, const Bytes& bytes) {
    return kNoteOverhead + key.first.size() + key.second.size() + bytes.size();
}

}  // namespace

Indexer::Indexer(ChainIndex& index, SegmentLog& log, IndexHead head, IndexerSettings settings)
    : index_(index), log_(log), settings_(settings), head_(std::move(head)), thread_([this] { run(); }) {}

Indexer::~Indexer() {
    {
        const std::lock_guard lock{mutex_};
        stop_ = true;
    }
    work_came_.notify_all();
    thread_.join();
}

void Indexer::push(IndexItem item) {
    const std::lock_guard lock{mutex_};
    if (item.block) {
        const auto& [hash, row] = *item.block;
        if (blocks_.emplace(hash, row).second) heights_.emplace(row.header.height, hash);
        for (std::size_t i = 0; i < item.ids.size(); ++i)
            transactions_[item.ids[i]].push_back({.height = row.header.height, .index = static_cast<std::uint32_t>(i)});
    }
    ++order_;
    for (const auto& [height, row] : item.chain) chain_[height] = {.row = row, .order = order_};
    for (const IndexItem::Changed& changed : item.changes)
        changes_.insert_or_assign(changed.block, RecentChange{.delta = changed.delta, .order = order_});
    if (item.sequence != 0) newest_final_ = item.facts.final_block.height;
    if (item.block) in_bulk_ = !item.changes.empty() && item.changes.front().unless_final.has_value();
    items_bytes_ += item.bytes;
    items_.push_back(std::move(item));
    if (items_bytes_ >= batch_bytes() || items_.size() == 1) work_came_.notify_one();
}

std::uint64_t Indexer::batch_bytes() const { return settings_.batch_bytes * (in_bulk_ ? kBulkFactor : 1); }

Result<void> Indexer::put_note(std::string table, std::string name, Bytes bytes) {
    const std::pair key{std::move(table), std::move(name)};
    const std::uint64_t more = note_bytes(key, bytes);
    std::unique_lock lock{mutex_};
    const auto others = [&] {
        const auto older = notes_.find(key);
        return notes_bytes_ - (older == notes_.end() ? 0 : note_bytes(key, older->second));
    };
    // One that is larger than the bound is taken when no other waits.
    const auto fits = [&] { return others() == 0 || others() + more <= settings_.notes_bytes_max; };
    work_done_.wait(lock, [&] { return failed_ || stuck_ || fits(); });
    if (failed_) return Fail{*failed_};
    work_came_.notify_one();
    if (!fits()) return Fail{*stuck_};  // the disk may have room again: tried now
    notes_bytes_ = others() + more;
    notes_[key] = std::move(bytes);
    return {};
}

void Indexer::offer_state(const BlockId& block, const state::StateView& view, bool now) {
    const std::lock_guard lock{mutex_};
    offered_ = {block, view};
    if (!now) return;
    wants_checkpoint_ = true;
    work_came_.notify_one();
}

void Indexer::set_checkpoint_state(std::optional<state::StateView> view) {
    const std::lock_guard lock{mutex_};
    checkpoint_state_ = std::move(view);
}

Result<void> Indexer::wait_for_room() {
    std::unique_lock lock{mutex_};
    work_done_.wait(lock, [&] { return failed_ || stuck_ || items_bytes_ <= settings_.backlog_bytes_max; });
    if (failed_) return Fail{*failed_};
    if (items_bytes_ > settings_.backlog_bytes_max && stuck_) {
        work_came_.notify_one();  // the disk may have room again
        return Fail{*stuck_};
    }
    return {};
}

Result<void> Indexer::settle(bool checkpoint) {
    std::unique_lock lock{mutex_};
    if (checkpoint && offered_ && offered_->first.hash != head_.checkpoint.hash) wants_checkpoint_ = true;
    urgent_ = true;
    stuck_.reset();
    work_came_.notify_one();
    work_done_.wait(lock, [&] { return failed_ || stuck_ || (!has_work() && !busy_); });
    urgent_ = false;
    if (failed_) return Fail{*failed_};
    if (stuck_) return Fail{*stuck_};
    return {};
}

void Indexer::run() {
    std::unique_lock lock{mutex_};
    while (!stop_) {
        work_came_.wait(lock, [&] { return stop_ || (has_work() && !failed_); });
        // Company for the first item, unless somebody waits.
        work_came_.wait_for(lock, settings_.patience * (in_bulk_ ? kBulkFactor : 1), [&] {
            return stop_ || urgent_ || tried_again_ || wants_checkpoint_ || items_bytes_ >= batch_bytes();
        });
        if (stop_) break;
        const auto checkpoint = std::exchange(wants_checkpoint_, false) ? offered_ : std::nullopt;
        busy_ = true;
        Result<void> written = write_backlog(lock);
        if (stop_) break;
        if (written) {
            lock.unlock();
            if (checkpoint) written = write_checkpoint(checkpoint->first, checkpoint->second);
            (void)log_.prepare_next();  // without room for it, appending will say so
            lock.lock();
        }
        busy_ = false;
        stuck_.reset();
        if (!written && checkpoint) wants_checkpoint_ = true;
        const bool full = !written && written.error().kind == ErrorKind::Exhausted;
        // A transaction that failed has not come about, so it can be tried again. Once it is: a write that found too
        // little room is an I/O error for LMDB, and meanwhile somebody may have made room.
        if (!written && !full && !std::exchange(tried_again_, true)) continue;
        if (written || full) tried_again_ = false;
        if (!written) (full ? stuck_ : failed_) = written.error();
        work_done_.notify_all();
        if (stuck_ && !stop_) work_came_.wait_for(lock, settings_.patience, [&] { return stop_ || urgent_; });
    }
}

/// All that waits, a piece at a time. What could not be written waits again, before what came meanwhile.
Result<void> Indexer::write_backlog(std::unique_lock<std::mutex>& lock) {
    std::deque<IndexItem> waiting = std::exchange(items_, {});
    notes_being_written_ = std::exchange(notes_, {});
    Result<void> written;
    while (written && !stop_ && !(waiting.empty() && notes_being_written_.empty())) {
        std::vector<IndexItem> piece;
        for (std::uint64_t bytes = 0; !waiting.empty() && bytes < batch_bytes(); waiting.pop_front()) {
            bytes += waiting.front().bytes;
            piece.push_back(std::move(waiting.front()));
        }
        lock.unlock();
        written = write(piece, notes_being_written_);
        lock.lock();
        if (written) {
            forget(piece, order_ - items_.size() - waiting.size());
            notes_being_written_.clear();
            count_notes();
            work_done_.notify_all();  // there is room again
        } else {
            waiting.insert(waiting.begin(), std::move_iterator{piece.begin()}, std::move_iterator{piece.end()});
        }
    }
    items_.insert(items_.begin(), std::move_iterator{waiting.begin()}, std::move_iterator{waiting.end()});
    notes_.merge(notes_being_written_);  // newer ones of the same name stay
    notes_being_written_.clear();
    count_notes();
    return written;
}

Result<void> Indexer::write(std::span<const IndexItem> items, const Notes& notes) {
    const ledger::Height final_height = [&] {
        const std::lock_guard lock{mutex_};
        return newest_final_;
    }();
    // The index must never know of a block that the log can still lose, nor leave a change out because of a mark that
    // it can.
    TRY(log_.sync());
    IndexHead head = head_;
    TRY(auto update, index_.update());
    for (const IndexItem& item : items) {
        if (item.block) {
            const auto& [hash, row] = *item.block;
            TRY(update.put_block(hash, row));
            TRY(update.put_transactions(row.header.height, item.ids));
        }
        if (item.cut_above) TRY(update.cut_chain_above(*item.cut_above));
        for (const auto& [height, row] : item.chain) TRY(update.put_on_chain(height, row));
        for (const IndexItem::Changed& changed : item.changes) {
            if (changed.unless_final && *changed.unless_final <= final_height) continue;
            Bytes bytes = changed.record ? *changed.record : state::encode(changed.delta);
            if (bytes.size() <= settings_.undo_bytes_max) TRY(update.put_undo(changed.block, std::move(bytes)));
        }
        if (item.sequence != 0) {
            head.log = item.after;
            head.facts = item.facts;
        }
    }
    for (const auto& [key, bytes] : notes) TRY(update.put_note(key.first, key.second, bytes));

    const std::uint64_t tip = head.facts.tip.height.number();
    const std::uint64_t keep_from =
        std::min(head.facts.final_block.height.number(), tip - std::min(tip, settings_.undo_blocks));
    if (const std::uint64_t from = head.undo_from.number(); from < keep_from) {
        head.undo_from = ledger::Height{std::min(keep_from, from + kUndoErasedAtOnce)};
        TRY(update.erase_undo(ledger::Height{from}, head.undo_from));
    }
    head.durable = log_.durable();
    TRY(update.put_head(head));
    TRY(update.commit());
    const std::lock_guard lock{mutex_};
    head_ = std::move(head);
    return {};
}

Result<void> Indexer::write_checkpoint(const BlockId& block, const state::StateView& view) {
    std::optional<state::StateView> before;
    bool in_bulk = false;
    {
        const std::lock_guard lock{mutex_};
        before = checkpoint_state_;
        in_bulk = in_bulk_;
    }
    TRY(auto update, index_.update());
    if (before) {
        TRY(update.change_state(state::diff(*before, view)));
    } else {
        TRY(update.replace_state(view));
    }
    IndexHead head = head_;
    head.checkpoint = block;
    TRY(update.put_head(head));
    TRY(update.commit());
    {
        const std::lock_guard lock{mutex_};
        head_ = std::move(head);
        checkpoint_state_ = view;
    }
    // The state before was held for this alone. What only it had is freed here rather than by whoever makes blocks.
    before.reset();
    while (view.collect_garbage(kNodesFreedAtOnce) >= kNodesFreedAtOnce) {
    }
    if (!in_bulk) runtime::return_free_memory();  // else the next blocks need it
    return {};
}

/// The index answers for these now. Items that came later may have said something newer about the same things.
void Indexer::forget(std::span<const IndexItem> items, std::uint64_t newest_written) {
    for (const IndexItem& item : items) {
        items_bytes_ -= item.bytes;
        if (item.block) {
            const auto& [hash, row] = *item.block;
            blocks_.erase(hash);
            const auto [from, to] = heights_.equal_range(row.header.height);
            for (auto place = from; place != to; ++place) {
                if (place->second != hash) continue;
                heights_.erase(place);
                break;
            }
            forget_transactions(item);
        }
        for (const IndexItem::Changed& changed : item.changes)
            if (const auto found = changes_.find(changed.block);
                found != changes_.end() && found->second.order <= newest_written)
                changes_.erase(found);
    }
    std::erase_if(chain_, [&](const auto& place) { return place.second.order <= newest_written; });
}

/// The rows that `push` noted for this item, and no others of the same transactions.
void Indexer::forget_transactions(const IndexItem& item) {
    for (std::size_t i = 0; i < item.ids.size(); ++i) {
        const TxRow row{.height = item.block->second.header.height, .index = static_cast<std::uint32_t>(i)};
        const auto found = transactions_.find(item.ids[i]);
        ensure(found != transactions_.end(), "a block's transactions are known until it is forgotten");
        std::vector<TxRow>& rows = found->second;
        const auto place = std::find(rows.begin(), rows.end(), row);
        ensure(place != rows.end(), "a block's transactions are known until it is forgotten");
        rows.erase(place);
        if (rows.empty()) transactions_.erase(found);
    }
}

void Indexer::count_notes() {
    notes_bytes_ = 0;
    for (const Notes* notes : {&notes_, &notes_being_written_})
        for (const auto& [key, bytes] : *notes) notes_bytes_ += note_bytes(key, bytes);
}

// ---- reading --------------------------------------------------------------------------------------------------------

std::optional<BlockRow> Indexer::block(const ledger::BlockHash& hash) const {
    const std::lock_guard lock{mutex_};
    const auto found = blocks_.find(hash);
    return found == blocks_.end() ? std::nullopt : std::optional{found->second};
}

std::optional<ChainRow> Indexer::on_chain(ledger::Height height) const {
    const std::lock_guard lock{mutex_};
    const auto found = chain_.find(height);
    return found == chain_.end() ? std::nullopt : std::optional{found->second.row};
}

std::vector<ledger::BlockHash> Indexer::all_at(ledger::Height height) const {
    const std::lock_guard lock{mutex_};
    std::vector<ledger::BlockHash> hashes;
    const auto [from, to] = heights_.equal_range(height);
    for (auto place = from; place != to; ++place) hashes.push_back(place->second);
    return hashes;
}

std::vector<TxRow> Indexer::transactions(const crypto::Hash256& id) const {
    const std::lock_guard lock{mutex_};
    const auto found = transactions_.find(id);
    return found == transactions_.end() ? std::vector<TxRow>{} : found->second;
}

std::optional<state::Delta> Indexer::change(const ledger::BlockHash& hash) const {
    const std::lock_guard lock{mutex_};
    const auto found = changes_.find(hash);
    return found == changes_.end() ? std::nullopt : std::optional{found->second.delta};
}

std::optional<Bytes> Indexer::note(std::string_view table, std::string_view name) const {
    const std::lock_guard lock{mutex_};
    const std::pair<std::string, std::string> key{table, name};
    for (const auto* notes : {&notes_, &notes_being_written_})
        if (const auto found = notes->find(key); found != notes->end()) return found->second;
    return std::nullopt;
}

std::uint64_t Indexer::backlog_blocks() const {
    const std::lock_guard lock{mutex_};
    return blocks_.size();
}

BlockId Indexer::checkpoint() const {
    const std::lock_guard lock{mutex_};
    return head_.checkpoint;
}

std::uint32_t Indexer::indexed_segment() const {
    const std::lock_guard lock{mutex_};
    return head_.log.position.segment;
}

}  // namespace rhizome::store::detail
