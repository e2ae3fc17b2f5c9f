// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "ledger/block.h"
#include "state/delta.h"
#include "state/view.h"
#include "store/chain_index.h"
#include "store/facts.h"
#include "store/segment_log.h"

namespace rhizome::store::detail {

/// While a chain is caught up with, so much more is collected before it is written, as rows and as a checkpoint: ids
/// and names fall anywhere into their tables, so that of few rows each changes a page of its own, of many several the
/// same.
inline constexpr unsigned kBulkFactor = 4;

/// What one record of the log means for the index.
struct IndexItem {
    std::uint64_t sequence = 0;  ///< of the record; 0 for what is in no record
    LogCursor after{};           ///< where the log goes on behind it
    Facts facts{};               ///< what holds after it
    std::optional<std::pair<ledger::BlockHash, BlockRow>> block{};
    std::vector<crypto::Hash256> ids{};
    struct OnChain {
        ledger::Height height{};
        ChainRow row{};
    };
    std::vector<OnChain> chain{};  ///< now on the chain, oldest first
    /// A move of the tip: heights above are no longer on the chain, before `chain` is put there.
    std::optional<ledger::Height> cut_above{};
    struct Changed {
        ledger::BlockHash block{};
        state::Delta delta{};
        /// The delta encoded without what the block itself has, where somebody had the block at hand.
        std::optional<Bytes> record{};
        /// Its height, when it is not to be kept once that is final.
        std::optional<ledger::Height> unless_final{};
    };
    std::vector<Changed> changes{};
    std::uint64_t bytes = 0;  ///< about how much memory it holds
};

struct IndexerSettings {
    std::uint64_t undo_blocks = 0;
    std::uint64_t undo_bytes_max = 0;
    std::uint64_t backlog_bytes_max = 0;
    std::uint64_t notes_bytes_max = 0;
    /// How much is collected before it is written, unless it has waited for a while: a commit of LMDB costs two syncs.
    /// Also about how much is written at once however much has come meanwhile: LMDB has all pages of a transaction in
    /// memory, of which each id of a transaction takes a whole one.
    std::uint64_t batch_bytes = 0;
    milliseconds patience{};  ///< how long a block waits for others before it is indexed
};

/// Brings the index up to date in the background, and answers for what is not in it yet. Any thread may ask and push;
/// items are pushed in the order of the log.
class Indexer {
public:
    Indexer(ChainIndex& index, SegmentLog& log, IndexHead head, IndexerSettings settings);
    /// Stops as if killed.
    ~Indexer();

    /// Exhausted when the index cannot keep up because its disk is full, or the error that ended it.
    Result<void> wait_for_room();
    void push(IndexItem item);
    /// Exhausted, with nothing taken, when notes wait for room on a full disk and there are too many of them already.
    Result<void> put_note(std::string table, std::string name, Bytes bytes);

    /// The state after a block, for the next checkpoint; written at once when `now`.
    void offer_state(const BlockId& block, const state::StateView& view, bool now);
    /// What the state table holds, when somebody has read it; nothing when it is damaged and must be written anew.
    void set_checkpoint_state(std::optional<state::StateView> view);
    /// All that was pushed is in the index; with `checkpoint` also the newest state offered.
    Result<void> settle(bool checkpoint);

    // ---- what is not in the index yet ------------------------------------------------------------------------------
    [[nodiscard]] std::optional<BlockRow> block(const ledger::BlockHash& hash) const;
    [[nodiscard]] std::optional<ChainRow> on_chain(ledger::Height height) const;
    [[nodiscard]] std::vector<ledger::BlockHash> all_at(ledger::Height height) const;
    [[nodiscard]] std::vector<TxRow> transactions(const crypto::Hash256& id) const;
    [[nodiscard]] std::optional<state::Delta> change(const ledger::BlockHash& hash) const;
    [[nodiscard]] std::optional<Bytes> note(std::string_view table, std::string_view name) const;
    [[nodiscard]] std::uint64_t backlog_blocks() const;
    [[nodiscard]] BlockId checkpoint() const;
    [[nodiscard]] std::uint32_t indexed_segment() const;

private:
    struct IdHash {
        template <class Id>
        std::size_t operator()(const Id& id) const noexcept {
            return std::hash<Id>{}(id);
        }
    };
    struct ChainPlace {
        ChainRow row{};
        std::uint64_t order = 0;
    };
    struct RecentChange {
        state::Delta delta{};
        std::uint64_t order = 0;
    };
    using Notes = std::map<std::pair<std::string, std::string>, Bytes>;

    void run();
    Result<void> write_backlog(std::unique_lock<std::mutex>& lock);
    Result<void> write(std::span<const IndexItem> items, const Notes& notes);
    Result<void> write_checkpoint(const BlockId& block, const state::StateView& view);
    void forget(std::span<const IndexItem> items, std::uint64_t newest_written);
    void forget_transactions(const IndexItem& item);
    void count_notes();
    [[nodiscard]] bool has_work() const { return !items_.empty() || !notes_.empty() || wants_checkpoint_; }
    [[nodiscard]] std::uint64_t batch_bytes() const;

    ChainIndex& index_;
    SegmentLog& log_;
    IndexerSettings settings_;

    mutable std::mutex mutex_;
    std::condition_variable work_came_;
    std::condition_variable work_done_;
    IndexHead head_;                 ///< what the index says; the thread's own, read by others under the lock
    ledger::Height newest_final_{};  ///< as the newest item says
    bool in_bulk_ = false;           ///< the newest block is one of many that are caught up with
    std::deque<IndexItem> items_;
    std::uint64_t items_bytes_ = 0;
    std::uint64_t order_ = 0;  ///< how many items ever
    Notes notes_;
    Notes notes_being_written_;      ///< only the thread changes it
    std::uint64_t notes_bytes_ = 0;  ///< of both
    std::optional<std::pair<BlockId, state::StateView>> offered_;
    std::optional<state::StateView> checkpoint_state_;
    bool wants_checkpoint_ = false;
    bool urgent_ = false;
    bool busy_ = false;
    bool stop_ = false;
    bool tried_again_ = false;    ///< the last write failed
    std::optional<Error> stuck_;  ///< full disk: tried again with the next work
    std::optional<Error> failed_;

    std::unordered_map<ledger::BlockHash, BlockRow> blocks_;
    std::multimap<ledger::Height, ledger::BlockHash> heights_;
    std::map<ledger::Height, ChainPlace> chain_;
    std::unordered_map<crypto::Hash256, std::vector<TxRow>> transactions_;
    std::unordered_map<ledger::BlockHash, RecentChange> changes_;

    std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace rhizome::store::detail
