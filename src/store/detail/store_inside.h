// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "store/chain_index.h"
#include "store/detail/indexer.h"
#include "store/place.h"
#include "store/segment_log.h"
#include "store/store.h"

namespace rhizome::store {

/// What a store is made of. Members go in the order of their declaration: the indexer ends before what it uses.
struct Store::Inside {
    Inside(DataFolder folder_in, const Options& options_in) : folder(std::move(folder_in)), options(options_in) {}

    DataFolder folder;
    Options options;
    std::vector<Finding> findings{};
    mutable std::mutex mutex{};  ///< tip, final block, total, votes: written by one thread, read by any
    Facts facts{};
    BlockInfo base{};
    BlockInfo tip{};
    std::uint64_t tx_total = 0;  ///< of the chain up to the tip
    BlockInfo final_block{};
    std::uint64_t since_checkpoint = 0;  ///< bytes of blocks
    std::unique_ptr<SegmentLog> log{};
    std::unique_ptr<ChainIndex> index{};
    std::unique_ptr<detail::Indexer> indexer{};
    std::optional<PlaceFinding> arriving{};  ///< until it is written down; writing is one thread's

    SegmentLog::Settings log_settings(const ledger::ChainId& chain);
    void start_indexer(const IndexHead& head);
    /// Whether there is room on the disk for another block, and in the backlog.
    Result<void> check_room();

    // ---- writing ---------------------------------------------------------------------------------------------------
    Result<Ticket> write(RecordKind kind, ByteView payload, Facts facts_after, detail::IndexItem item);
    Result<Ticket> write_vote(RecordKind kind, ByteView record);
    /// The vote record is not complete from here on, and has a new id.
    Result<Ticket> lose_votes();
    /// Writes down what opening found, unless that is done: until then nothing else is written. Exhausted on a full
    /// disk: it is tried again with the next write.
    Result<void> arrive();
    /// The directory is not where it was, and its log does not say so yet.
    [[nodiscard]] bool forgets_votes() const { return arriving && arriving->trust != PlaceTrust::Same; }
    Result<Ticket> add_block(RecordKind kind, const ledger::Block& block, std::span<const ledger::TxId> ids,
                             const std::optional<state::Delta>& change, KeepChange keep);
    void set_tip(const BlockInfo& block, std::uint64_t total);
    /// The state at the tip, for the next checkpoint, which is due when enough has come.
    void offer(const state::StateView& view, std::uint64_t bytes, KeepChange keep);
    /// What a move of the tip means for the index, and the transactions of the chain afterwards. `behind` are items
    /// that are not in it yet, while opening.
    struct Move {
        detail::IndexItem item{};
        std::uint64_t tx_total = 0;
        BlockId fork{};  ///< the newest block of the chain before that the one after has too
    };
    /// What holds after a move of the tip: a final block that the chain moved away from is final no more, what is below
    /// the fork still is.
    [[nodiscard]] static Facts after_move(Facts before, const BlockId& tip, const BlockId& fork);
    Result<Move> plan_move(const BlockId& to, std::span<const detail::IndexItem> behind);
    /// Marks made by versions that left them beside the chain, when a recovery had taken the block back: on the chain
    /// again, where that left the block's. While opening, when nothing is behind the index.
    Result<void> bring_final_home();
    /// What a record of the log says, while opening. The first one of a log without an index says where everything
    /// begins.
    Result<detail::IndexItem> read_record(const LogRecord& record, bool first,
                                          std::span<const detail::IndexItem> behind);

    // ---- pruning, a slice at a time --------------------------------------------------------------------------------
    Result<Pruned> prune_bodies(ledger::Height height);
    using RowPruner = std::function<Result<void>(ChainIndex::Update&, const BlockId&, Pruned&)>;
    Result<Pruned> prune_rows(std::string_view what, ledger::Height height, const RowPruner& each);
    Result<Pruned> prune_attestations(ledger::Height height);
    Result<Pruned> prune_headers(ledger::Height height);

    // ---- reading ---------------------------------------------------------------------------------------------------
    Result<std::optional<BlockRow>> row(const ledger::BlockHash& hash) const;
    Result<std::optional<ChainRow>> chain_at(ledger::Height height) const;
    Result<std::optional<ledger::BlockHash>> hash_at(ledger::Height height) const;
};

namespace detail {

/// length (4), proof ‖ length (4), attestations: a seal whose block's body is gone.
Bytes encode(const ledger::Seal& seal);
Result<ledger::Seal, DecodeFault> decode_seal(ByteView bytes);

}  // namespace detail
}  // namespace rhizome::store
