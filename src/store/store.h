// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "ledger/apply.h"
#include "ledger/block.h"
#include "ledger/block_source.h"
#include "ledger/vote_record_id.h"
#include "state/delta.h"
#include "state/view.h"
#include "store/data_folder.h"
#include "store/facts.h"

/// One node's disk: everything that must be there again after a power failure. docs/spec/store.md has the files.
namespace rhizome::store {

/// Counts what was handed to the disk, in order. What has a ticket at or below `durable()` survives a power failure.
using Ticket = std::uint64_t;

struct Options {
    std::uint64_t segment_bytes = 32u << 20;  ///< of the log; one is always prepared ahead
    /// After so many bytes of blocks a checkpoint of the state is written: opening replays at most about twice as much.
    std::uint64_t checkpoint_bytes = 8u << 20;
    /// Blocks are refused while the disk has less room than this: votes, indexes and the operator need some.
    std::uint64_t reserve_bytes = 64u << 20;
    /// What a block changed is kept for so many blocks below the tip, and always down to the newest final one.
    std::uint64_t undo_blocks = 1'024;
    /// A change larger than this is not kept: moving back over it goes by way of an older state instead.
    std::uint64_t undo_bytes_max = 16u << 20;
    /// Blocks not yet in the index. More than this and `append` waits for the index.
    std::uint64_t backlog_bytes_max = 64u << 20;
    /// How much goes into the index at once, and is waited for before it does.
    std::uint64_t index_batch_bytes = 4u << 20;
    /// How long at most: what that costs is the time to read the blocks again from the log after a crash, so there is
    /// no hurry.
    milliseconds index_patience{250};
    /// Notes not yet in the index: many times what known peers take. A single one may be larger.
    std::uint64_t notes_bytes_max = 4u << 20;
};

/// For how long what a block changed is kept.
enum class KeepChange : std::uint8_t {
    ForAWhile,   ///< `undo_blocks`, and until it is final
    UntilFinal,  ///< of a chain that a node catches up with: not at all when it is final by the time it is indexed
};

/// A block's row in the index.
struct BlockInfo {
    ledger::BlockHash hash{};
    ledger::Header header{};
    std::array<std::uint8_t, 64> signature{};
    std::uint32_t tx_count = 0;
    std::uint32_t bytes = 0;  ///< of the whole block
    bool has_body = false;    ///< false once it is pruned, and for the block a snapshot began with
    [[nodiscard]] ledger::Height height() const { return header.height; }
};

/// Where a transaction stands on the chain.
struct TxPlace {
    BlockInfo block{};
    std::uint32_t index = 0;
};

/// A state whose root was compared with its header's: where replaying begins.
struct Checkpoint {
    BlockInfo block{};
    state::StateView view{};
};

/// Something that was not as it should be and was dealt with: told to the operator, kept nowhere.
struct Finding {
    std::string what{};
    std::filesystem::path file{};
    std::uint64_t offset = 0;
};

/// What the node signed last. After a restored backup, in a copied directory or on a new disk nobody knows: then
/// nothing may be signed until the chain shows that it is safe (docs/spec/chain.md section 5).
struct VoteMemory {
    bool complete = false;
    /// As consensus wrote it; empty when nothing was signed yet. While it is not complete, the newest that is known.
    Bytes record{};
    /// While it is not complete: which record begins empty here. Another one after every move of the directory.
    ledger::VoteRecordId id{};
};

/// Where a chain on this disk comes from: whoever was part of it before may have signed things that this disk does not
/// know of.
enum class ChainOrigin : std::uint8_t { MadeHere, FromElsewhere };

/// What `prune` may let go. Each needs the one before.
enum class Prune : std::uint8_t { Bodies, Attestations, Headers };

/// The blocks, the index over them and the checkpoints of one chain, in one folder that nobody else may use meanwhile.
///
/// The **log** is the truth: blocks, changes of the tip, votes and final marks in the order they came. `append` and its
/// like hand a record to the operating system; `sync` makes all that was handed over durable. The **index** follows in
/// the background and may be behind by any amount when the power fails: opening reads the log from where the index
/// ends. Readers see both.
///
/// Writing is for one thread at a time; `sync` may run on another meanwhile, so that one sync serves all that came
/// during the one before. Reading is for any thread.
///
/// A disk that fails (not one that is full) ends all writing until the store is opened again: after a failed sync
/// nobody knows what is on the disk.
class Store final : public ledger::BlockSource {
public:
    /// Makes the folder and a chain of one block in it.
    static Result<std::unique_ptr<Store>> create(const std::filesystem::path& folder,
                                                 const ledger::GenesisBlock& genesis, const Options& options = {},
                                                 ChainOrigin origin = ChainOrigin::MadeHere);
    /// The same from a state that came from elsewhere: `base` is the block it stands after, without its transactions.
    /// The root of `view` is the header's, and somebody trusts that header: both are the caller's business.
    static Result<std::unique_ptr<Store>> create_from_state(const std::filesystem::path& folder,
                                                            const ledger::ChainId& chain, const ledger::Block& base,
                                                            const state::StateView& view, const Options& options = {});
    /// NotFound when there is no chain in the folder, Conflict when another process has it, Unsupported for a newer
    /// schema, Corrupt with file and offset for damage that cannot be mended here.
    static Result<std::unique_ptr<Store>> open(const std::filesystem::path& folder, const Options& options = {});

    /// As if the process were killed: nothing more is written. `close` first unless that is wanted.
    ~Store() override;
    /// Everything durable, the index caught up, its checksums written. Nothing may be called afterwards.
    Result<void> close();

    [[nodiscard]] const std::filesystem::path& folder() const;
    [[nodiscard]] const ledger::ChainId& chain() const;
    /// What opening found out of order and mended.
    [[nodiscard]] const std::vector<Finding>& findings() const;

    // ---- writing: one thread at a time -----------------------------------------------------------------------------

    /// The child of the tip becomes the tip. `ids` are the ids of its transactions, in order; `commit` is what it made
    /// of its parent's state. Exhausted when the disk is too full: nothing has happened then, try again later.
    Result<Ticket> append(const ledger::Block& block, std::span<const ledger::TxId> ids, const state::Commit& commit,
                          KeepChange keep = KeepChange::ForAWhile);
    /// A block of another branch. Its parent need not be here. A known block is not written again.
    Result<Ticket> keep(const ledger::Block& block);
    /// One block on the way to a new tip: kept before, now applied (or done again) with this change.
    struct Adopted {
        ledger::BlockHash hash{};
        state::Delta delta{};
    };
    /// What is final stays so within one recovery generation; a higher one may take it back, and only the caller knows
    /// of generations.
    enum class Finals : std::uint8_t { Stay, TakenBack };
    /// After a reorganisation: the chain now leads over `branch` (oldest first; its first block's parent is on the
    /// present chain). An empty branch with another tip moves back to it. Where finals are taken back, the newest one
    /// that both chains have is the final block from here on.
    Result<Ticket> move_tip(const ledger::BlockHash& tip, std::span<const Adopted> branch, const state::StateView& view,
                            Finals finals = Finals::Stay);
    /// What the node signed, as consensus wants it back. Must be durable before the vote leaves. Denied while the
    /// record is not complete: nobody can tell then what the vote would contradict.
    Result<Ticket> record_vote(ByteView record);
    /// The chain has shown that what the node may have signed without knowing cannot be contradicted any more: from
    /// `record` on, which says where signing goes on, the record is complete again. Both or neither survive a power
    /// failure, and no later vote survives without them.
    Result<Ticket> complete_votes(ByteView record);
    /// Somebody else signs with the node's key: `record_vote` is denied from here on, and the record has a new id.
    Result<Ticket> lose_votes();
    /// A block of the chain, never lower than the one before.
    Result<Ticket> mark_final(const ledger::BlockHash& block);

    /// Makes durable all that was written when it was called. Any thread.
    Result<Ticket> sync();
    [[nodiscard]] Ticket durable() const;

    /// The state at the tip, when it was not made by `append` but by replaying: for the next checkpoint.
    void offer_state(const ledger::BlockHash& block, ledger::Height height, const state::StateView& view);
    /// What a block changed, found out by replaying it.
    void remember_change(const ledger::BlockHash& block, const state::Delta& delta);

    /// Small values of others, by name: known peers, votes that showed a change of voters. Written with the index, so a
    /// crash may lose the last seconds. Empty bytes erase. A newer one takes the place of one of the same name that is
    /// not written yet; with more than `notes_bytes_max` waiting, this waits too, and is Exhausted when they wait
    /// because the disk is full: then nothing has happened, try again later.
    Result<void> put_note(std::string_view table, std::string_view name, ByteView bytes);
    [[nodiscard]] Result<Bytes> note(std::string_view table, std::string_view name) const;
    [[nodiscard]] Result<std::vector<std::pair<std::string, Bytes>>> notes(std::string_view table,
                                                                           std::size_t count_max) const;

    /// Lets go of what lies below `height`, which must not be above the newest final block. Works in slices: does a
    /// bounded piece of work (one segment, or some thousands of rows) and says whether there is more to do.
    struct Pruned {
        std::uint64_t blocks = 0;
        std::uint64_t bytes = 0;  ///< given back to the file system
        bool more = false;
    };
    Result<Pruned> prune(Prune what, ledger::Height height);

    /// Reads every record of the log and compares its checksum. Corrupt with file and offset for the first bad one.
    [[nodiscard]] Result<void> check_log() const;

    /// The index has all that was appended, and the newest checkpoint is written if `checkpoint`. For tests, tools and
    /// an orderly end.
    Result<void> settle(bool checkpoint);

    // ---- reading: any thread ---------------------------------------------------------------------------------------

    [[nodiscard]] BlockInfo tip() const;
    [[nodiscard]] BlockInfo final_block() const;
    /// The oldest block whose state can be reached: genesis, or where the snapshot began.
    [[nodiscard]] BlockInfo base() const;
    [[nodiscard]] VoteMemory votes() const;
    /// The newest checkpoint, read anew; what opening starts from. Corrupt when its root is not its header's.
    [[nodiscard]] Result<Checkpoint> load_checkpoint(Parallel& parallel) const;

    [[nodiscard]] Result<BlockInfo> info(const ledger::BlockHash& hash) const;
    [[nodiscard]] Result<BlockInfo> info_at(ledger::Height height) const;  ///< on the chain
    [[nodiscard]] bool on_chain(const BlockInfo& block) const;
    /// All known blocks of that height, on the chain or not.
    [[nodiscard]] Result<std::vector<BlockInfo>> all_at(ledger::Height height) const;
    [[nodiscard]] Result<ledger::Block> block(const ledger::BlockHash& hash) const override;
    [[nodiscard]] Result<Bytes> block_bytes(const ledger::BlockHash& hash) const;
    /// Proof and attestations of a block whose body may be gone.
    [[nodiscard]] Result<ledger::Seal> seal(const ledger::BlockHash& hash) const;
    [[nodiscard]] Result<state::Delta> change(const ledger::BlockHash& hash) const override;
    [[nodiscard]] Result<TxPlace> find_tx(const ledger::TxId& id) const;

    /// How much of the chain is here; found out without reading it.
    struct Extent {
        ledger::Height headers_from{};   ///< the oldest block that is here at least with its header
        ledger::Height bodies_from{};    ///< from here on whole; the tip when nothing is
        std::uint64_t blocks = 0;        ///< with their headers at least
        std::uint64_t transactions = 0;  ///< in those blocks
    };
    [[nodiscard]] Result<Extent> extent() const;

    struct Usage {
        std::uint64_t log_bytes = 0;
        std::uint64_t index_bytes = 0;
        std::uint64_t free_bytes = 0;
        ledger::Height checkpoint{};
        std::uint64_t backlog_blocks = 0;  ///< not yet in the index
    };
    [[nodiscard]] Result<Usage> usage() const;

private:
    struct Inside;
    explicit Store(std::unique_ptr<Inside> inside);
    static Result<std::unique_ptr<Store>> begin(const std::filesystem::path& folder, const ledger::ChainId& chain,
                                                const ledger::Block& base, bool has_body, const state::StateView& view,
                                                ChainOrigin origin, const Options& options);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::store
