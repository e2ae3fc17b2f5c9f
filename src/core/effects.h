// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "consensus/signatures.h"
#include "core/messages.h"
#include "ledger/apply.h"
#include "ledger/reject.h"
#include "state/delta.h"

/// What happens to a node, and what it wants done about it.
///
/// A host takes one event at a time, in any order that the world gives them, and carries out the effects of a step in
/// the order they come before it begins the next step. Effects are orders, not questions: none of them fails by itself;
/// a disk that cannot go on is an event.
namespace rhizome::core {

/// A link to another node, by a number of the host's that is never used again.
using PeerId = Count<struct PeerTag>;
/// Somebody who waits for a transaction.
using ClientId = Count<struct ClientTag>;
/// Counts what was handed to the disk, in order.
using Ticket = Count<struct TicketTag>;
/// A header that somebody looks for a nonce for.
using MiningId = Count<struct MiningTag>;
/// A bundle of signatures to check.
using BatchId = Count<struct BatchTag>;

// ---- events --------------------------------------------------------------------------------------------------------

/// The time is now. Also the answer to `Wake`; may come at any other moment, and its clock may jump.
struct Tick {};
struct PeerUp {
    PeerId peer{};
};
struct PeerDown {
    PeerId peer{};
};
struct Heard {
    PeerId from{};
    SharedMessage message{};
};
/// A client wants this on the chain.
struct Submit {
    ClientId client{};
    ledger::SharedTx tx{};
};
/// A client no longer waits.
struct Forget {
    ClientId client{};
};
/// All that was handed to the disk up to this ticket survives a power failure.
struct Stored {
    Ticket up_to{};
};
/// Answer to `Verify`, one for each job.
struct Verified {
    BatchId batch{};
    std::vector<bool> good{};
};
/// Answer to `Mine`.
struct Mined {
    MiningId id{};
    std::uint64_t nonce = 0;
};
/// Answer to `Continue`.
struct Resume {};
/// The disk is nearly full (or has room again): a node that could not write down what it signs takes no new orders.
struct DiskLow {
    bool low = false;
};

/// Answer to `LookUpState`, for the peer that asked.
struct StateFound {
    PeerId to{};
    SharedMessage message{};
};

/// Answer to `FindState`. Without a view: it cannot be had here.
struct OldState {
    ledger::BlockHash block{};
    std::optional<state::StateView> view{};
};

using EventKind = std::variant<Tick, PeerUp, PeerDown, Heard, Submit, Forget, Stored, Verified, Mined, Resume, DiskLow,
                               StateFound, OldState>;
struct Event {
    Time now{};  ///< by the host's clock, whatever that is worth
    EventKind kind{};
};

// ---- effects -------------------------------------------------------------------------------------------------------

struct Send {
    PeerId to{};
    SharedMessage message{};
};

/// The child of the tip becomes the tip.
struct AppendBlock {
    SharedBlock block{};
    std::vector<ledger::TxId> ids{};
    state::Commit commit{};
    /// Far behind the newest block that others are known to have: once it is final too, nobody is going to undo it.
    bool far_behind = false;
};
/// A block of another branch, for later.
struct KeepBlock {
    SharedBlock block{};
};
/// The chain now leads over other blocks, all of them kept before.
struct MoveTip {
    ledger::BlockHash tip{};
    struct Adopted {
        ledger::BlockHash hash{};
        state::Delta change{};
    };
    std::vector<Adopted> branch{};  ///< oldest first; its first block's parent was on the chain before
    state::StateView view{};
    /// A recovery took back what was final: of the blocks marked so, those below the fork still are. One write with the
    /// move, so that no crash leaves a mark beside the chain.
    bool takes_back = false;
};
/// What this node signed: `OwnVotes::encode`. The record before it is no longer needed.
struct RecordVotes {
    Bytes record{};
    bool complete = true;
};
struct MarkFinal {
    ledger::BlockHash block{};
};
using Write = std::variant<AppendBlock, KeepBlock, MoveTip, RecordVotes, MarkFinal>;
/// To the disk, in the order of the tickets. Readable at once through the node's `BlockSource`.
struct Persist {
    Ticket ticket{};
    Write what{};
};
/// Make all handed over so far durable, then say `Stored`. Until then the node holds back what depends on it.
struct Sync {
    Ticket up_to{};
};

/// A `Tick` is wanted at this time (of the host's clock), instead of any wanted before.
struct Wake {
    Time at{};
};
/// There is more to do; a `Resume` is wanted after whatever else waits.
struct Continue {};

struct SignatureJob {
    consensus::MemberKey key{};
    crypto::Digest digest{};
    consensus::CompactSignature signature{};
};
/// Check these, on as many cores as there are, and say `Verified`.
struct Verify {
    BatchId batch{};
    std::vector<SignatureJob> jobs{};
};

/// Look for a nonce that makes this header meet its bits, with as many cores as the operator gives
/// (`consensus::Miner`), instead of for any header before, and say `Mined`. Without a header: stop looking. The host
/// goes on from the nonce it was at, also over a restart.
struct Mine {
    MiningId id{};
    std::optional<ledger::Header> header{};
};

/// How far a transaction has come. A client is told every change: a reorganisation takes `Included` back to `Accepted`.
/// `Included`: in a block of this node's chain that is on its maker's disk, be that this node or another.
/// It ends with `Final` or `Refused`; none ends without.
enum class Stage : std::uint8_t { Accepted, Included, Final, Refused };
struct Answer {
    ClientId client{};
    ledger::TxId tx{};
    Stage stage = Stage::Accepted;
    ledger::BlockHash block{};  ///< Included, Final
    std::optional<ledger::Reject> refused{};
};

/// A newcomer asks for the state after a block, or a part of it: look it up beside everything else, and say
/// `StateFound` with the message that answers, also when there is nothing to find. Only of blocks that are final here.
struct LookUpState {
    PeerId to{};
    std::variant<WantManifest, WantPart> wanted{};
};

/// A branch of a higher recovery generation leaves this node's chain deeper than what its blocks changed is kept: find
/// the state after this block, where they part, beside everything else, and say `OldState`. It is compared with the
/// block's header, so it may come from anywhere: from executing the chain again, or from others.
struct FindState {
    ledger::BlockHash block{};
};

/// A peer sent what no honest one sends, for the peer layer to remember. Nothing is accused on the chain by it.
struct Blame {
    PeerId peer{};
    ledger::Reject why{};
};

/// A peer brought something new and good, a block that became the tip or a vote that counts: links to such peers are
/// the last to be given up. Said of each at most once in `Config::praise_every`.
struct Praise {
    PeerId peer{};
};

/// For watchers: the chain is another.
struct TipMoved {
    ledger::BlockHash from{};
    ledger::BlockHash to{};
    std::vector<ledger::BlockHash> undone{};   ///< newest first
    std::vector<ledger::BlockHash> applied{};  ///< oldest first
    std::vector<ledger::TxId> returned{};      ///< no longer on the chain
    state::Delta change{};                     ///< from the state before to the state now
};
struct FinalMoved {
    ledger::BlockHash block{};
    ledger::Height height{};
};
/// A recovery began a chain without what was final here. Comes before the `TipMoved` of the same step.
struct FinalsTakenBack {
    ledger::Height from{};         ///< up to here it was final before
    ledger::Height to{};           ///< up to here it still is: where the chains part
    std::uint64_t generation = 0;  ///< of the recovery
};
/// What keeps this node from doing its part, for `status` and the operator.
enum class Condition : std::uint8_t {
    ClockOff,           ///< neither seals nor votes: its clock is too far from the others'
    VotesLost,          ///< does not vote until a checkpoint is justified after its start
    ConflictingFinals,  ///< two conflicting blocks are final: neither seals nor votes any more
    DiskFull,           ///< takes no orders
    Accused,            ///< under evidence
    OutOfReach,         ///< a recovery's chain leaves this node's below what is kept here: it cannot follow
};
struct ConditionChanged {
    Condition condition{};
    bool holds = false;
};
using Notice = std::variant<TipMoved, FinalMoved, FinalsTakenBack, ConditionChanged>;
struct Publish {
    Notice notice{};
};

using Effect = std::variant<Send, Persist, Sync, Wake, Continue, Verify, Mine, Answer, Blame, Publish, LookUpState,
                            FindState, Praise>;

}  // namespace rhizome::core
