// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "consensus/beacon.h"
#include "core/node.h"
#include "ledger/seal_judge.h"

namespace rhizome::sim {

/// Blocks and what they did, kept once for all machines: what a block does follows from its hash.
class Archive final : public ledger::AppliedMemory, public consensus::OrderMemory {
public:
    [[nodiscard]] const ledger::Applied* find(const ledger::BlockHash& block) override;
    void keep(const ledger::BlockHash& block, const ledger::Applied& applied) override;
    [[nodiscard]] std::shared_ptr<const consensus::Order> find_order(const ledger::BlockHash& parent) override;
    void keep_order(const ledger::BlockHash& parent, std::shared_ptr<const consensus::Order> order) override;

    void put(const core::SharedBlock& block);
    [[nodiscard]] std::vector<ledger::BlockHash> blocks_with(const ledger::TxId& id) const;
    [[nodiscard]] core::SharedBlock block(const ledger::BlockHash& hash) const;
    [[nodiscard]] const state::Delta* change(const ledger::BlockHash& hash) const;
    [[nodiscard]] const state::StateView* view(const ledger::BlockHash& hash) const;
    [[nodiscard]] std::size_t size() const { return blocks_.size(); }

private:
    std::map<ledger::BlockHash, core::SharedBlock> blocks_;
    std::map<ledger::BlockHash, ledger::Applied> applied_;
    std::map<ledger::TxId, std::vector<ledger::BlockHash>> places_;
    std::map<ledger::BlockHash, std::shared_ptr<const consensus::Order>> orders_;
};

/// How far back a disk knows what it needs for changing branches.
struct DiskLimits {
    /// What a block changed is kept for so many blocks below the tip, and always down to the newest final one.
    std::uint64_t undo_blocks = 1'024;
    /// Headers below the newest final block that a node has in memory when it starts.
    std::uint64_t headers_below_final = 1'024;
};

/// One machine's disk. Writes are kept in the order they came; what is not synced may be lost when the power fails,
/// from some point on (the store's log ends at the first record that is not whole).
class Disk final : public ledger::BlockSource, public core::History {
public:
    explicit Disk(Archive& archive, const DiskLimits& limits = {}) : archive_(&archive), limits_(limits) {}

    /// A chain of these two blocks, durable.
    void begin(const ledger::BlockHash& genesis, const ledger::BlockHash& second);
    /// Says which rule of the store a write breaks, when it does: there the process ends.
    [[nodiscard]] std::optional<std::string> write(core::Ticket ticket, const core::Write& what);
    void sync(core::Ticket up_to);

    /// The power fails: `keep` in [0, 1000] says how much of what was not synced survives, in thousandths.
    void lose(std::uint64_t keep);
    /// A new, empty disk with the same first blocks: what was signed before is not known.
    void replace();
    /// A new disk whose chain begins with this block.
    void install(const ledger::BlockHash& root);
    /// A backup from now, and the disk going back to it: the chain is there, the vote record is not.
    void back_up() { backup_ = std::make_shared<Contents>(durable_); }
    bool restore();

    /// A write went elsewhere and lies over another: one block of those that are kept can no longer be read. False when
    /// there is none but the first two. Checksums find it, so nothing wrong is ever read.
    bool misdirect(Random& random);
    /// Whether opening it finds damage.
    [[nodiscard]] bool is_damaged() const { return !damaged_.empty(); }

    /// Whether it would still be there after a power failure now.
    [[nodiscard]] bool is_durable(const ledger::BlockHash& block) const { return durable_.blocks.contains(block); }

    /// What a node that starts finds.
    [[nodiscard]] core::Start start(const ledger::ChainId& chain, std::uint64_t seed) const;

    [[nodiscard]] Result<ledger::Block> block(const ledger::BlockHash& hash) const override;
    [[nodiscard]] Result<state::Delta> change(const ledger::BlockHash& hash) const override;
    [[nodiscard]] std::vector<ledger::BlockHash> blocks_with(const ledger::TxId& id) const override;
    [[nodiscard]] std::optional<ledger::Height> height_of(const ledger::BlockHash& hash) const override;
    [[nodiscard]] std::optional<ledger::BlockHash> hash_at(ledger::Height height) const override;
    [[nodiscard]] std::optional<ledger::Header> header(const ledger::BlockHash& hash) const override;
    /// The state after a block of the chain, by executing again what is here; nothing where that begins above it.
    [[nodiscard]] std::optional<state::StateView> state_after(const ledger::BlockHash& hash) const;

private:
    struct Contents {
        std::set<ledger::BlockHash> blocks{};
        std::set<ledger::BlockHash> caught_up{};  ///< what these changed is not kept once it is final
        ledger::BlockHash genesis{};
        ledger::BlockHash second{};
        ledger::BlockHash tip{};
        ledger::BlockHash final_block{};
        Bytes votes{};
        bool votes_complete = true;
        ledger::Height undo_from{};  ///< changes of blocks below are gone
    };
    void perform(const core::Write& what, Contents& contents) const;
    [[nodiscard]] std::optional<std::string> broken_rule(const core::Write& what) const;
    [[nodiscard]] ledger::Height height(const ledger::BlockHash& hash) const;
    [[nodiscard]] std::uint64_t generation(const ledger::BlockHash& hash) const;
    /// The ancestor of `tip` at that height; zero above it or where its chain ends.
    [[nodiscard]] ledger::BlockHash ancestor(ledger::BlockHash tip, ledger::Height height) const;
    [[nodiscard]] bool is_on_chain(const ledger::BlockHash& hash, const Contents& contents) const;

    Archive* archive_;
    DiskLimits limits_;
    Contents now_;      ///< as the machine reads it
    Contents durable_;  ///< as a power failure leaves it at least
    std::vector<std::pair<core::Ticket, core::Write>> unsynced_;
    std::shared_ptr<Contents> backup_;
    std::set<ledger::BlockHash> damaged_;
};

}  // namespace rhizome::sim
