// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <variant>
#include <vector>

#include "consensus/attestations.h"
#include "consensus/vote_sum.h"
#include "ledger/block.h"
#include "ledger/check.h"
#include "ledger/vote_record_id.h"

/// What nodes tell each other, as values; `core/wire.h` has the bytes.
namespace rhizome::core {

using SharedBlock = std::shared_ptr<const ledger::Block>;

/// Where a node stands. Sent to a peer that connects, then every `Config::status_every`: whatever got lost on the way
/// is noticed by it.
struct Status {
    Time clock{};
    consensus::MemberKey member{};  ///< all zero when the sender is none
    ledger::BlockHash tip{};
    ledger::Height height{};
    consensus::Checkpoint justified{};
    consensus::Checkpoint final_checkpoint{};
    std::uint64_t generation = 0;  ///< of recovery, of the tip
    /// Who has the same votes need not be sent any.
    consensus::VoteSums votes{};
    /// The sender does not know what it signed before, and has begun this record (all zero: it knows).
    ledger::VoteRecordId record{};
};

/// Transactions the receiver may not have.
struct Transactions {
    std::vector<ledger::SharedTx> txs{};
};

/// A block the receiver may not have: the sender follows it.
struct NewBlock {
    SharedBlock block{};
};

/// "I have these; send me what leads to `wanted`." Who has nothing, not even genesis, gets the first blocks.
struct WantBlocks {
    std::vector<ledger::BlockHash> locator{};
    ledger::BlockHash wanted{};
};
/// The answer, oldest first. `more`: ask again from the last one.
struct Blocks {
    std::vector<SharedBlock> blocks{};
    bool more = false;
};

/// A set, in its order (`consensus::grouped`): most votes of an epoch say the same, and are handled together.
struct Votes {
    std::vector<consensus::VoteGroup> groups{};
};
/// A vote by its epoch and the first bytes of its voter's key (`consensus::short_key`): enough to tell whether one has
/// it.
struct VoteName {
    consensus::Epoch epoch{};
    std::uint64_t voter = 0;
    friend auto operator<=>(const VoteName&, const VoteName&) = default;
};
/// "I have these": said instead of passing them on where there are so many members that most neighbours have most of
/// their votes already.
struct HaveVotes {
    std::vector<VoteName> names{};
};
/// "Then send me these."
struct AskVotes {
    std::vector<VoteName> names{};
};
/// "I lack what shows this": asked when a status names a checkpoint that is not justified here.
struct WantVotes {
    consensus::Epoch since{};
};

// ---- far behind: headers first, then bodies from many
// ----------------------------------------------------------------

/// A block without its transactions: shows who sealed it and what it stands on.
struct SealedHeader {
    ledger::Header header{};
    std::array<std::uint8_t, 64> signature{};
    ledger::Seal seal{};
};
/// "I have these; how does it go on towards `wanted`?"
struct WantHeaders {
    std::vector<ledger::BlockHash> locator{};
    ledger::BlockHash wanted{};
};
/// The answer, oldest first, each the parent of the next. Whoever offers a header has the body too. `more`: ask again
/// from the last one.
struct Headers {
    std::vector<SealedHeader> headers{};
    bool more = false;
};
/// "Send me the transactions of these."
struct WantBodies {
    std::vector<ledger::BlockHash> blocks{};
};
struct Body {
    ledger::BlockHash block{};
    std::shared_ptr<const std::vector<ledger::Tx>> txs{};  ///< never null; may be part of a whole block
};
/// The answer, in the order of the question, to which `first` (the first hash that was asked for) belongs. What is not
/// in it the sender does not have; with `more` only as far as the answer goes, since the rest had no room.
struct Bodies {
    ledger::BlockHash first{};
    std::vector<Body> bodies{};
    bool more = false;
};

// ---- what most already have
// ------------------------------------------------------------------------------------------

/// "I have these": said of transactions that come from elsewhere, by wire id. Whoever brings one sends it whole.
struct HaveTxs {
    std::vector<ledger::WireId> ids{};
};
/// "Then send me these." Answered with `Transactions`.
struct WantTxs {
    std::vector<ledger::WireId> ids{};
};
/// A new block for somebody who has most of its transactions already.
struct CompactBlock {
    SealedHeader sealed{};
    /// Of every transaction, in order (`detail/compact.h`).
    std::vector<std::uint64_t> short_ids{};
    /// Those that the receiver is not known to have, with their places, in rising order.
    struct Given {
        std::uint32_t place = 0;
        ledger::Tx tx{};
    };
    std::vector<Given> given{};
};
/// "Of this block I lack the transactions at these places", in rising order.
struct WantBlockTxs {
    ledger::BlockHash block{};
    std::vector<std::uint32_t> places{};
};
/// The answer, in the same order. None at all: the sender no longer has the block.
struct BlockTxs {
    ledger::BlockHash block{};
    std::vector<ledger::Tx> txs{};
};

// ---- a state instead of the blocks before it
// ---------------------------------------------------------------------------

/// "Have you the state after this block?"
struct WantManifest {
    ledger::BlockHash block{};
};
/// The answer, as `ledger::encode` writes a manifest; no bytes: the sender does not have it.
struct StateManifest {
    ledger::BlockHash block{};
    Bytes bytes{};
};
/// "Send me this part of it." The hash says how the asker has it cut.
struct WantPart {
    ledger::BlockHash block{};
    std::uint32_t part = 0;
    crypto::Hash256 hash{};
};
/// The answer (`ledger::encode_part`); no bytes: the sender does not have it, or has it cut otherwise.
struct StatePart {
    ledger::BlockHash block{};
    std::uint32_t part = 0;
    Bytes bytes{};
};

using Message = std::variant<Status, Transactions, NewBlock, WantBlocks, Blocks, Votes, HaveVotes, AskVotes, WantVotes,
                             WantHeaders, Headers, WantBodies, Bodies, HaveTxs, WantTxs, CompactBlock, WantBlockTxs,
                             BlockTxs, WantManifest, StateManifest, WantPart, StatePart>;
using SharedMessage = std::shared_ptr<const Message>;

}  // namespace rhizome::core
