// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/u256.h"
#include "consensus/electorate.h"
#include "consensus/signatures.h"
#include "ledger/apply.h"

namespace rhizome::consensus {

struct Order;

/// Orders of proposers that were drawn before, by whoever shares this process: who seals when after a block follows
/// from its hash alone. The simulator's nodes share one, so that hundreds of them draw an order once.
class OrderMemory {
public:
    virtual ~OrderMemory() = default;
    /// Of the block after this parent. Null when it is not known.
    [[nodiscard]] virtual std::shared_ptr<const Order> find_order(const BlockHash& parent) = 0;
    virtual void keep_order(const BlockHash& parent, std::shared_ptr<const Order> order) = 0;
};

/// A block about to be judged or sealed, as far as an engine looks at it. Borrows everything.
struct Turn {
    const ledger::LedgerState& parent;
    const ledger::Header& parent_header;
    const Electorate& electorate;  ///< of the parent's state
    MemberKey proposer{};
    Time time{};
    OrderMemory* orders = nullptr;
};

/// What follows for the state when the seal is good.
struct EngineEffect {
    U256 weight{};  ///< of the block itself, beside its attestations
    std::vector<std::pair<state::Path, Bytes>> records{};
};

/// How turns are given to proposers: one of authority, work, space, stake. Attestations and finality are the same for
/// all and live in `Judge`. Stateless, so one object serves every chain; any thread.
class Engine {
public:
    virtual ~Engine() = default;

    [[nodiscard]] virtual ledger::ConsensusId id() const = 0;
    /// Whether blocks weigh by the attestations they carry. Where they do not, attestations only renew leases and
    /// finalise.
    [[nodiscard]] virtual bool attestations_weigh() const { return true; }

    /// Whether blocks are made all the time, with or without something to put into them: where work is the weight of a
    /// chain, and its difficulty follows how often somebody finds.
    [[nodiscard]] virtual bool seals_always() const { return false; }

    /// A block further ahead of a node's clock than this waits there until its time has come.
    [[nodiscard]] virtual milliseconds future_tolerance() const { return milliseconds{500}; }

    /// How long after the parent's time this proposer may seal at the earliest; nothing when it never may.
    [[nodiscard]] virtual std::optional<milliseconds> earliest(const Turn& turn) const = 0;

    /// The engine's own bytes of a seal, behind the proposer's key. The proposer is the signer.
    [[nodiscard]] virtual Bytes seal_data(const Turn& turn, const Signer& signer) const = 0;
    /// The bits that a block of this turn has; zero where no work is done.
    [[nodiscard]] virtual std::uint32_t bits(const Turn& turn) const = 0;

    /// Whether the proposer's turn had come and `data` is right, and what follows. `attested` are the good votes that
    /// the block carries.
    [[nodiscard]] virtual Result<EngineEffect, ledger::Reject> judge(const Turn& turn, ByteView data,
                                                                     std::span<const Vote> attested,
                                                                     const Signatures& signatures) const = 0;
    /// What the header alone must fulfil: the work done over it. `turn` is that of the block.
    [[nodiscard]] virtual Result<void, ledger::Reject> judge_header(const Turn& turn,
                                                                    const ledger::Header& header) const = 0;
    /// The records that a chain of this engine begins with.
    [[nodiscard]] virtual std::vector<std::pair<state::Path, Bytes>> genesis_records(
        const MemberKey& proposer, const ledger::Parameters& parameters, Time time) const = 0;
};

/// The engine of a chain; null for those that are not built yet.
const Engine* engine_of(ledger::ConsensusId id);

}  // namespace rhizome::consensus
