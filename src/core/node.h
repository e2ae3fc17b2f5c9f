// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/parallel.h"
#include "consensus/engine.h"
#include "consensus/fork_choice.h"
#include "consensus/own_votes.h"
#include "consensus/signatures.h"
#include "core/config.h"
#include "core/effects.h"
#include "ledger/block_source.h"
#include "ledger/rules.h"
#include "ledger/seal_judge.h"

namespace rhizome::core {

/// What the host can look up of the past, as far back as it keeps it. The node itself holds headers from some way below
/// the newest final block on.
class History {
public:
    virtual ~History() = default;
    /// The blocks that have a transaction, on whatever branch. Asked when a client's transaction is refused: it may be
    /// in the chain already, and the client was not told because its node died.
    [[nodiscard]] virtual std::vector<ledger::BlockHash> blocks_with(const ledger::TxId& id) const = 0;
    /// The chain below what the node has in memory: asked for somebody who is far behind.
    [[nodiscard]] virtual std::optional<ledger::Height> height_of(const ledger::BlockHash&) const {
        return std::nullopt;
    }
    [[nodiscard]] virtual std::optional<ledger::BlockHash> hash_at(ledger::Height) const { return std::nullopt; }
    /// The header of a block of the chain: asked for where a branch leaves the chain below what the node has in memory.
    [[nodiscard]] virtual std::optional<ledger::Header> header(const ledger::BlockHash&) const { return std::nullopt; }
    /// A block whose body is here too, without reading that; nothing where the host cannot tell without doing so.
    [[nodiscard]] virtual std::optional<SealedHeader> sealed_header(const ledger::BlockHash&) const {
        return std::nullopt;
    }
};

/// What a node reads while it decides, and whom it asks. All outlive the node; all answer at once.
struct Ports {
    const ledger::BlockSource& blocks;  ///< what was persisted, readable before it is durable
    const History& history;
    const ledger::Rules& rules;
    const consensus::Signatures& signatures;
    const consensus::Signer* signer = nullptr;  ///< null: a node that only follows
    ledger::SignatureCache& cache;              ///< of transactions' signatures
    Parallel& parallel;
    ledger::AppliedMemory* memory = nullptr;   ///< null: every block is executed here
    consensus::OrderMemory* orders = nullptr;  ///< null: every order is drawn here
};

/// What the disk had when the node started.
struct Start {
    ledger::ChainId chain{};
    ledger::Header root{};                        ///< the oldest block whose header is known: genesis, or a snapshot's
    std::vector<ledger::Header> chain_headers{};  ///< from the root's child to the tip
    state::StateView tip_view{};                  ///< the state after the last of them
    ledger::BlockHash final_block{};              ///< on that chain
    Bytes vote_record{};
    bool votes_complete = true;  ///< false: what this node signed before is not known
    /// Something is written that was never on the chain: asked for again by hash when a peer names it.
    std::uint64_t seed = 0;  ///< for choices that need no agreement
};

/// The whole node: events in, effects out. Same events in the same order give the same effects on every machine.
/// Confined to one strand.
class Node {
public:
    /// BadEncoding when what the disk had does not fit together.
    static Result<std::unique_ptr<Node>, ledger::Reject> start(const Config& config, const Start& start,
                                                               const Ports& ports, Time now);
    ~Node();

    std::vector<Effect> step(const Event& event);

    // ---- for status, API and checks --------------------------------------------------------------------------------
    [[nodiscard]] const ledger::LedgerState& state() const;
    [[nodiscard]] const ledger::Header& tip() const;
    [[nodiscard]] ledger::BlockHash tip_hash() const;
    [[nodiscard]] consensus::ChainRank rank() const;
    [[nodiscard]] ledger::BlockHash final_block() const;
    [[nodiscard]] ledger::Height final_height() const;
    [[nodiscard]] std::uint64_t final_generation() const;  ///< recovery generation of the newest final block
    /// The highest recovery generation of this node's tip and of what linked members say of theirs.
    [[nodiscard]] std::uint64_t generation_heard() const;
    [[nodiscard]] consensus::Checkpoint justified() const;
    [[nodiscard]] std::size_t pending() const;
    [[nodiscard]] ledger::SharedTx pending_tx(const ledger::TxId& id) const;  ///< null when it does not wait here
    /// All that waits and is valid on top of the tip, in the pool's order.
    [[nodiscard]] std::vector<ledger::SharedTx> pending_txs() const;
    /// The newest checkpoint that votes show to be final, and those votes: what convinces somebody without the chain.
    /// No votes when they are not kept any more (after a start), or its only voter's seal made it final.
    struct FinalVotes {
        consensus::Checkpoint checkpoint{};
        std::vector<consensus::Vote> votes{};
    };
    [[nodiscard]] FinalVotes final_votes() const;
    [[nodiscard]] bool has(Condition condition) const;

    /// What it holds in memory besides the state: for bounds.
    struct Usage {
        std::size_t headers = 0;
        std::size_t orphans = 0;
        std::size_t future = 0;
        std::size_t parked = 0;
        std::size_t votes = 0;
        std::size_t pending_bytes = 0;
        std::size_t peers = 0;
        std::size_t tips = 0;
        std::size_t unstored = 0;       ///< blocks not yet durable
        std::size_t headers_ahead = 0;  ///< of a chain that is being caught up with
        std::size_t bodies_ahead_bytes = 0;
    };
    [[nodiscard]] Usage usage() const;

    /// What passed over the links since the start: counters for metrics.
    struct Traffic {
        std::uint64_t txs_sent = 0;       ///< whole
        std::uint64_t txs_named = 0;      ///< announced by id
        std::uint64_t txs_asked = 0;      ///< of others, by id
        std::uint64_t compact_sent = 0;   ///< blocks by short ids
        std::uint64_t compact_saved = 0;  ///< bytes less than the whole blocks
        std::uint64_t compact_heard = 0;
        std::uint64_t compact_fill_ins = 0;   ///< of those heard, how many lacked something that was asked for
        std::uint64_t compact_fallbacks = 0;  ///< and how many were asked for whole
        std::uint64_t headers_heard = 0;      ///< while catching up
        std::uint64_t bodies_heard = 0;
        std::uint64_t bodies_asked_again = 0;
        std::uint64_t false_guides = 0;  ///< ways that led nowhere
    };
    [[nodiscard]] const Traffic& traffic() const;

private:
    struct Inside;
    explicit Node(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace rhizome::core
