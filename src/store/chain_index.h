// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "ledger/block.h"
#include "state/delta.h"
#include "state/view.h"
#include "store/detail/lmdb.h"
#include "store/facts.h"
#include "store/segment_log.h"

/// What is looked up instead of read through: LMDB tables over the log, and the newest checkpoint of the state. All of
/// it follows from the log (and, after pruning, from what the log once held).
namespace rhizome::store {

struct BlockRow {
    LogPosition position{};  ///< segment 0: the body is not here
    std::uint32_t bytes = 0;
    std::uint32_t tx_count = 0;
    ledger::Header header{};
    std::array<std::uint8_t, 64> signature{};
    friend bool operator==(const BlockRow&, const BlockRow&) = default;
};

/// The chain's block of a height.
struct ChainRow {
    ledger::BlockHash hash{};
    std::uint64_t tx_total = 0;  ///< transactions of the chain from its first block here up to this one
    friend bool operator==(const ChainRow&, const ChainRow&) = default;
};

/// Where a transaction may stand: on some branch, so the block of the chain at that height has to be asked.
struct TxRow {
    ledger::Height height{};
    std::uint32_t index = 0;
    friend bool operator==(const TxRow&, const TxRow&) = default;
};

/// How far the index is.
struct IndexHead {
    LogCursor log{};             ///< the log is indexed up to here
    std::uint64_t durable = 0;   ///< records up to this one are on the disk
    Facts facts{};               ///< what the log said up to there
    BlockId checkpoint{};        ///< whose state the state table is
    ledger::Height undo_from{};  ///< changes below are no longer kept
    friend bool operator==(const IndexHead&, const IndexHead&) = default;
};

class ChainIndex {
public:
    static Result<std::unique_ptr<ChainIndex>> open(const std::filesystem::path& folder);

    // ---- reading: any thread ---------------------------------------------------------------------------------------
    [[nodiscard]] Result<std::optional<IndexHead>> head() const;  ///< nothing in a new index
    [[nodiscard]] Result<std::optional<BlockRow>> block(const ledger::BlockHash& hash) const;
    [[nodiscard]] Result<std::optional<ChainRow>> on_chain(ledger::Height height) const;
    [[nodiscard]] Result<std::vector<ledger::BlockHash>> all_at(ledger::Height height) const;
    [[nodiscard]] Result<std::vector<TxRow>> transactions(const crypto::Hash256& id) const;
    [[nodiscard]] Result<std::optional<Bytes>> undo(const ledger::BlockHash& hash) const;
    [[nodiscard]] Result<std::optional<Bytes>> seal(const ledger::BlockHash& hash) const;
    [[nodiscard]] Result<std::optional<Bytes>> note(std::string_view table, std::string_view name) const;
    [[nodiscard]] Result<std::vector<std::pair<std::string, Bytes>>> notes(std::string_view table,
                                                                           std::size_t count_max) const;
    /// The state table as a state. Nobody has compared its root yet.
    [[nodiscard]] Result<state::StateView> state(Parallel& parallel) const;
    [[nodiscard]] const std::filesystem::path& path() const { return environment_.path(); }

    // ---- writing: one thread ---------------------------------------------------------------------------------------

    /// Changes that become visible and durable together, by `commit`.
    class Update {
    public:
        Result<void> put_head(const IndexHead& head);
        Result<void> put_block(const ledger::BlockHash& hash, const BlockRow& row);
        Result<void> put_transactions(ledger::Height height, std::span<const crypto::Hash256> ids);
        Result<void> put_on_chain(ledger::Height height, const ChainRow& row);
        /// Heights above are on no chain any more.
        Result<void> cut_chain_above(ledger::Height height);
        Result<void> put_undo(const ledger::BlockHash& hash, Bytes delta);
        /// Forgets the changes of all blocks of these heights.
        Result<void> erase_undo(ledger::Height from, ledger::Height below);
        Result<void> put_note(std::string_view table, std::string_view name, ByteView bytes);
        /// Makes the state table that of `after`, which `delta` leads to.
        Result<void> change_state(const state::Delta& delta);
        /// The same from nothing, whatever the table held.
        Result<void> replace_state(const state::StateView& view);

        // What pruning takes away.
        Result<void> put_seal(const ledger::BlockHash& hash, ByteView seal);
        Result<void> erase_seal(const ledger::BlockHash& hash);
        Result<void> erase_transactions(ledger::Height height, std::span<const crypto::Hash256> ids);
        Result<void> erase_block(ledger::Height height, const ledger::BlockHash& hash);
        Result<void> erase_on_chain(ledger::Height height);

        Result<void> commit();

    private:
        friend class ChainIndex;
        Update(ChainIndex& index, detail::Transaction transaction)
            : index_(index), transaction_(std::move(transaction)) {}
        /// Behind all that are there, and how many bytes it took.
        Result<std::size_t> append_entry(const state::Entry& entry);
        ChainIndex& index_;
        detail::Transaction transaction_;
        Bytes scratch_;
    };
    Result<Update> update();
    /// Says in `index/seal` that this file is in use, unless that is done. Nothing is updated before.
    Result<void> mark_in_use();
    /// The state table of a new index, in as many transactions as keep memory small: until a head says so it is
    /// nobody's. The last of them comes back, to put the head in and to commit.
    Result<Update> fill_state(const state::StateView& view);

private:
    struct Tables {
        detail::Table meta = 0, blocks = 0, heights = 0, chain = 0, transactions = 0, undo = 0, seals = 0, notes = 0,
                      state = 0, long_state = 0;
    };
    explicit ChainIndex(detail::Environment environment) : environment_(std::move(environment)) {}
    detail::Environment environment_;
    std::mutex marking_{};
    bool marked_ = false;
    Tables tables_;
};

/// Whether LMDB's file can be believed. LMDB has no checksums and trusts what it maps, so a changed file would crash
/// the process or answer wrongly; a file that was changed by nobody but LMDB survives every crash.
///
/// While the index is open, `index/seal` says which file (inode and time of birth) is in use; an orderly end writes the
/// checksums of the whole file there.
enum class IndexTrust : std::uint8_t {
    New,      ///< there is no index
    Sealed,   ///< closed in order, and every checksum is right
    Ours,     ///< not closed in order, but the very file we had open: LMDB itself guarantees it
    Foreign,  ///< not closed in order, and another file: a copy made while a node was running
    Damaged,  ///< a checksum is wrong
};
struct IndexFinding {
    IndexTrust trust = IndexTrust::New;
    std::uint64_t offset = 0;  ///< of the first damage
    std::string what{};
    bool another_file = false;  ///< than the one that was sealed or in use: this one is a copy, whole or not
};
Result<IndexFinding> examine_index(const std::filesystem::path& folder);
/// The file is about to be used by us.
Result<void> mark_index_in_use(const std::filesystem::path& folder);
/// The file was closed and will not change any more.
Result<void> seal_index(const std::filesystem::path& folder);
/// Removes the index; it is made again from the log.
Result<void> discard_index(const std::filesystem::path& folder);

}  // namespace rhizome::store
