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
    consensus::MemberKey identity{};  ///< the chain key that its end of the link has proven
};
struct PeerDown {
    PeerId peer{};
};
/// How long a word to this peer and its answer were on their way, by the host's own measuring; from time to time.
struct RoundTrip {
    PeerId peer{};
    microseconds took{};
};
struct Heard {
    PeerId from{};
    SharedMessage message{};
};
/// What happens to a transaction once its client no longer waits.
enum class Remember : std::uint8_t {
    UntilSettled,  ///< it is kept, over restarts, until it is final or told to be lost (`Lost`)
    WhileAsked     ///< nobody is told: for whoever writes it anew where it is missing
};
/// A client wants this on the chain.
struct Submit {
    ClientId client{};
    ledger::SharedTx tx{};
    Remember remember = Remember::UntilSettled;
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

using EventKind = std::variant<Tick, PeerUp, PeerDown, RoundTrip, Heard, Submit, Forget, Stored, Verified, Mined,
                               Resume, DiskLow, StateFound>;
struct Event {
    Time now{};  ///< by the host's clock, whatever that is worth
    EventKind kind{};
    /// Since any beginning, by a clock of the host's that nobody sets and that goes on while the machine sleeps.
    microseconds steady{};
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
/// What this node signed: `OwnVotes::encode`. The record before it is no longer needed. Only of a complete one: who
/// does not know what it signed before signs nothing that a later start would have to know.
struct RecordVotes {
    Bytes record{};
};
/// Somebody else signs with this node's key: its record is not complete, and a start later finds that it has a new id.
struct LoseVotes {};
struct MarkFinal {
    ledger::BlockHash block{};
};
/// A transaction that this node has accepted of a client: to be found in `Start::accepted` until it is forgotten.
/// Whoever is answered `Included` can rely on that.
struct KeepAccepted {
    ledger::SharedTx tx{};
    Time time{};
};
struct ForgetAccepted {
    ledger::TxId tx{};
};
using Write =
    std::variant<AppendBlock, KeepBlock, MoveTip, RecordVotes, LoseVotes, MarkFinal, KeepAccepted, ForgetAccepted>;
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

/// A transaction that this node had accepted will never be final, and those who asked for it were told otherwise, or no
/// longer wait: it is for the host to tell. What a power failure does not leave of that is said again after the start,
/// so it may come twice, and never not at all.
struct Lost {
    ledger::SharedTx tx{};
    ledger::Reject why{};
    Time accepted{};            ///< when this node took it
    bool was_included = false;  ///< it was in a block of this node's chain, as far as is known since the start
};

/// A newcomer asks for the state after a block, or a part of it: look it up beside everything else, and say
/// `StateFound` with the message that answers, also when there is nothing to find. Only of blocks that are final here.
struct LookUpState {
    PeerId to{};
    std::variant<WantManifest, WantPart> wanted{};
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
    ClockOff,           ///< neither seals nor votes: its clock is ahead of the others', or too far from the chain's
    VotesLost,          ///< does not vote until a checkpoint is justified after its start
    ConflictingFinals,  ///< two conflicting blocks are final: neither seals nor votes any more
    DiskFull,           ///< takes no orders
    Accused,            ///< under evidence
    Starting,           ///< its tip was compared with nobody's yet: orders wait
    ChainAhead,         ///< chain time is ahead of its clock, and goes on slowly until that has caught up
    CopyRuns,           ///< its key signed what it did not: neither seals nor votes until it is started again
};
inline constexpr Condition kConditions[] = {Condition::ClockOff,   Condition::VotesLost, Condition::ConflictingFinals,
                                            Condition::DiskFull,   Condition::Accused,   Condition::Starting,
                                            Condition::ChainAhead, Condition::CopyRuns};
struct ConditionChanged {
    Condition condition{};
    bool holds = false;
};
using Notice = std::variant<TipMoved, FinalMoved, FinalsTakenBack, ConditionChanged>;
struct Publish {
    Notice notice{};
};

using Effect =
    std::variant<Send, Persist, Sync, Wake, Continue, Verify, Mine, Answer, Blame, Publish, LookUpState, Praise, Lost>;

}  // namespace rhizome::core
