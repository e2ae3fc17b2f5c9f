// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>

#include "base/flat_map.h"
#include "base/random.h"
#include "consensus/evidence.h"
#include "consensus/fork_choice.h"
#include "consensus/judge.h"
#include "consensus/vote_book.h"
#include "consensus/voting.h"
#include "core/detail/catch_up.h"
#include "core/detail/compact.h"
#include "core/detail/recent_blocks.h"
#include "core/detail/vote_relay.h"
#include "core/node.h"
#include "ledger/reorganise.h"

/// The parts of a node and what they share. Each file of `handlers/` has the functions of one group below.
namespace rhizome::core {

using HeaderNode = ledger::HeaderTree::Node;

/// What is known of a block besides its header. Of one that was not judged yet, what it claims.
struct BlockFacts {
    std::shared_ptr<const consensus::Electorate> electorate{};
    U256 weight{};
    bool judged = false;
    consensus::MemberKey proposer{};
    /// The newest block up to this one that its only voter sealed: final by that, for everybody who sees it.
    ledger::Height sealed_final{};
    PeerId from{};  ///< who sent it first; zero: made or found here
    /// Of its transactions, from when it was executed until it is final: so that nothing is hashed again for its id.
    std::optional<std::vector<ledger::TxId>> ids{};
};

/// A neighbour, and what it is known to have.
struct PeerState {
    Time clock{};        ///< as it last said
    Time clock_heard{};  ///< by ours
    bool is_member = false;
    consensus::MemberKey member{};
    consensus::Checkpoint justified{};   ///< as it last said
    ledger::BlockHash tip{};             ///< the same
    ledger::Height height{};             ///< the same
    std::uint64_t generation = 0;        ///< the same
    Time guide_after{};                  ///< it led nowhere: not followed far before this
    std::uint32_t false_ways = 0;        ///< how often it did
    std::uint32_t silent_ways = 0;       ///< how often it did not answer: its link may be slow, and it is given longer
    bool owes_headers = false;           ///< it was left for its silence: its answer may still come
    std::optional<Time> asked_blocks{};  ///< a question is open
    ledger::BlockHash last_block{};      ///< where its last answer ended
    std::optional<Time> asked_votes{};
    std::optional<Time> answered_votes{};
    std::size_t states_open = 0;  ///< parts of states that are looked up for it
    std::optional<Time> praised{};
    LruCache<ledger::WireId, char> known_txs;
    LruCache<ledger::BlockHash, char> known_blocks;
    explicit PeerState(std::size_t known_max) : known_txs(known_max), known_blocks(known_max) {}
};

/// The recovery generation that a transaction would begin, as far as can be told without executing it; 0 for none.
[[nodiscard]] std::uint64_t claimed_generation(const ledger::Tx& tx);

/// A transaction that somebody waits for.
struct Awaited {
    ledger::SharedTx tx{};
    std::set<ClientId> clients{};
    Stage stage = Stage::Accepted;
    bool inclusion_told = false;  ///< Included: a block of this node's own is on the disk first,
    Ticket on_disk_with{};        ///< which it is with this
    ledger::BlockHash block{};
    Time announced{};                         ///< last, to peers
    std::optional<Time> lost_since{};         ///< it is neither pending nor on the chain
    std::optional<ledger::Reject> refused{};  ///< by the state after `block`, which is not final yet
};

struct Node::Inside final : consensus::BlockLore {
    Inside(const Config& config, const Start& start, const Ports& ports, Time now);

    // ---- parts -----------------------------------------------------------------------------------------------------
    Config config;
    Ports ports;
    consensus::RememberedSignatures signatures;
    consensus::Judge judge;
    ledger::BlockRules block_rules;
    detail::RecentBlocks blocks;
    ledger::HeaderTree tree;
    std::map<ledger::BlockHash, BlockFacts> facts;
    std::map<ledger::BlockHash, const HeaderNode*> tips;  ///< leaves of what may still be good
    std::set<ledger::BlockHash> invalid;
    /// Blocks that the disk has lost, and the tips that cannot be reached without them: asked of peers again.
    std::map<ledger::BlockHash, std::set<ledger::BlockHash>> unreadable;
    /// Where a branch that cannot be followed parts from this chain: the state after that block is not at hand.
    struct Lacking {
        ledger::BlockHash block{};
        ledger::Height height{};
        std::optional<Time> again{};  ///< it could not be had, and is asked for again then
    };
    std::optional<Lacking> lacking{};
    /// Who sealed what on which parent, above the final block: a second one is evidence.
    std::map<std::pair<ledger::BlockHash, consensus::MemberKey>, ledger::BlockHash> sealed;
    ledger::LedgerState state;
    const HeaderNode* at;       ///< whose state `state` is
    const HeaderNode* settled;  ///< the tip as everybody outside knows it; on disk
    state::StateView settled_view{};
    const HeaderNode* final_node;
    /// A state at or below the final block, to start from where going back block by block is not possible.
    std::optional<ledger::Reorganisation::Kept> kept{};
    std::unique_ptr<ledger::Reorganisation> mover;
    const HeaderNode* mover_goal = nullptr;
    /// What the blocks changed that were judged on the present way: to the disk with the move, however long it is.
    std::map<ledger::BlockHash, state::Delta> moved_over;
    consensus::VoteBook book;
    consensus::OwnVotes own;
    ledger::PendingPool pool;
    Random random;
    ledger::ChainId chain;

    std::map<PeerId, PeerState> peers;
    std::size_t states_open = 0;  ///< parts of states that are looked up, for all peers
    detail::CatchUp catch_up;
    bool is_catching_up = false;                      ///< what becomes the tip now is nobody's news
    ledger::BlockHash appended{};                     ///< the last one that went to the disk as a child of the tip
    std::map<ledger::BlockHash, SharedBlock> unkept;  ///< taken in this step, not on the disk
    detail::RecentTxs recent_txs;
    /// Clients' new transactions that peers were not told of: they go together when the host has nothing else to do.
    std::vector<ledger::SharedTx> untold;
    std::map<ledger::BlockHash, detail::OpenCompact> open_compacts;
    /// Transactions that were asked for by id, and when.
    std::map<ledger::WireId, Time> asked_txs;
    Traffic traffic{};
    std::map<ledger::BlockHash, std::vector<std::pair<PeerId, SharedBlock>>> orphans;  ///< by parent
    std::deque<ledger::BlockHash> orphan_order;
    std::multimap<Time, std::pair<PeerId, SharedBlock>> future;
    struct Parked {
        BatchId batch{};
        Heard heard{};
        bool ready = false;
        std::vector<bool> good{};  ///< of votes, counted through the message, when the host has checked them
    };
    std::deque<Parked> parked;
    /// Votes that were asked for by name, and when.
    FlatMap<VoteName, Time> promised;
    std::map<consensus::MemberKey, ledger::TxId> accusing;  ///< the newest accusation by this node, of each member
    std::map<ledger::TxId, Awaited> awaited;
    std::unordered_map<ledger::TxId, ledger::BlockHash> included;  ///< on the chain above the final block
    LruCache<ledger::TxId, ledger::BlockHash> finals{65'536};
    std::set<Condition> conditions;

    // ---- times -----------------------------------------------------------------------------------------------------
    Time now{};
    Time started{};
    Time seal_not_before{};
    std::optional<Time> pending_since{};  ///< when this node first saw something to seal on the present tip
    consensus::Epoch votes_after{};       ///< this node was not there to vote up to this one
    /// It started without its vote record, and the tip is from before: it may have sealed on it. On disk the record is
    /// not complete until then.
    bool seals_unknown = false;
    /// What `weight_of_our_own` said last, for the way to another branch and back: the state is not there then.
    struct {
        ledger::BlockHash block{};  ///< the tip it is of
        U256 weight{};
    } own_weight{};
    Time settled_since{};  ///< when the present tip became it, by this node's clock
    consensus::VotingPace pace;
    Time next_status{};
    std::size_t status_turn = 0;  ///< whose turn it is to be told, in large clusters
    std::optional<Time> next_flush{};
    detail::VoteRelay relay;  ///< votes that were not passed on to everybody yet

    /// A block that this node is about to seal.
    struct Candidate {
        ledger::Block block{};  ///< all but nonce and signature
        std::vector<ledger::TxId> ids{};
        state::Commit commit{};
    };
    struct Mining {
        MiningId id{};
        Candidate candidate{};
        Time begun{};
        std::size_t pending = 0;  ///< transactions there were when it was made
    };
    std::optional<Mining> mining{};
    MiningId last_mining{};

    // ---- towards the disk ------------------------------------------------------------------------------------------
    Ticket last_ticket{};
    Ticket stored{};
    Ticket synced{};  ///< asked for
    struct Held {
        Ticket needs{};
        std::vector<consensus::Vote> votes{};
        SharedBlock block{};
        ledger::BlockHash hash{};  ///< of the block
    };
    std::deque<Held> held;  ///< own votes and blocks that wait for the disk
    /// Clients' transactions whose block waits for the disk: what is answered as included survives a power failure.
    /// Blocks of others have left their makers, and so are on their disks.
    struct HeldInclusion {
        Ticket needs{};
        ledger::TxId tx{};
    };
    std::deque<HeldInclusion> held_inclusions;
    bool sync_wanted = false;
    bool resume_wanted = false;   ///< there is more to do
    bool resume_pending = false;  ///< and the host knows
    BatchId last_batch{};
    /// Of parked messages; and, of votes, which place in the message each job is about.
    std::map<BatchId, std::pair<std::vector<SignatureJob>, std::vector<std::size_t>>> jobs_of;
    Time asked_wake{};
    /// How long after the tip this node may seal: asked once for each tip.
    mutable std::optional<milliseconds> turn_wait{};
    /// What `voting` found, and for which tip: asked with every event.
    mutable std::pair<const HeaderNode*, const consensus::Electorate*> voting_found{};

    std::vector<Effect> effects;

    // ---- handlers/start.cpp ----------------------------------------------------------------------------------------
    Result<void, ledger::Reject> restore(const Start& start);

    // ---- handlers/blocks.cpp: blocks that come in
    // --------------------------------------------------------------------
    /// `KeepLater`: of a way that is caught up with, known to be whole. Most become the tip in the same step and are
    /// written once; `keep_rest` writes the others.
    enum class Keeping : std::uint8_t { KeepNow, KeepLater };
    void take_block(PeerId from, const SharedBlock& block, Keeping keeping = Keeping::KeepNow);
    /// The same of one whose transactions were checked before, and which is known to be whole.
    void take_checked(PeerId from, const SharedBlock& block, std::vector<ledger::SharedTx> txs);
    void take(PeerId from, const SharedBlock& block, Keeping keeping, const std::function<bool()>& is_whole);
    void heard(PeerId from, const NewBlock& message);
    void heard(PeerId from, const Blocks& message);
    void heard(PeerId from, const WantBlocks& message);
    void want_blocks(PeerId from, const ledger::BlockHash& wanted);
    /// The newest block of a stranger's locator that is below `goal`.
    /// Up to where a peer wants to be led, and from which height on.
    struct AskedWay {
        const HeaderNode* goal = nullptr;
        ledger::Height first{};
    };
    /// Nothing for a locator that is too long: the peer is blamed.
    std::optional<AskedWay> way_asked(PeerId from, const std::vector<ledger::BlockHash>& locator,
                                      const ledger::BlockHash& wanted);
    [[nodiscard]] ledger::Height fork_height(const std::vector<ledger::BlockHash>& locator,
                                             const HeaderNode* goal) const;
    [[nodiscard]] std::optional<ledger::BlockHash> hash_below(const HeaderNode* goal, ledger::Height height) const;
    void want_unreadable(PeerId from);
    void take_future();
    void take_orphans(const ledger::BlockHash& parent);
    void heard(PeerId from, const CompactBlock& message);
    void heard(PeerId from, const WantBlockTxs& message);
    void heard(PeerId from, const BlockTxs& message);
    /// Takes what was put together, or asks for the whole block when that went wrong.
    void close_compact(detail::OpenCompact open, const ledger::BlockHash& hash);
    /// What names a block's transactions, made once for all peers it is told to.
    struct CompactNames {
        std::vector<ledger::WireId> ids{};
        std::vector<std::uint64_t> short_ids{};
    };
    [[nodiscard]] CompactNames compact_names(const ledger::Block& block, const ledger::BlockHash& hash) const;
    [[nodiscard]] SharedMessage compact_for(PeerState& peer, const SharedBlock& block, const CompactNames& names);
    void note_claims(const HeaderNode* node, const ledger::Block& block, const consensus::MemberKey& proposer,
                     PeerId from);

    // ---- handlers/catch_up.cpp: what is far behind
    // -------------------------------------------------------------------
    /// So far ahead that it is followed headers first.
    [[nodiscard]] bool is_far(ledger::Height height) const;
    void begin_catch_up(PeerId guide);
    void follow(PeerId guide);
    /// Whether this peer was asked for headers that are of use.
    [[nodiscard]] bool may_show_headers(PeerId from) const;
    void ask_headers();
    void heard(PeerId from, const WantHeaders& message);
    void heard(PeerId from, const Headers& message);
    /// Whether it may stand behind those there are; ends the way where not.
    bool extend_way(const SealedHeader& sealed);
    void heard(PeerId from, const WantBodies& message);
    void heard(PeerId from, const Bodies& message);
    /// Asks for what is missing next, and leaves ways that lead nowhere.
    void go_on_catching_up();
    void take_caught_up();
    /// To the disk with all that was taken and is not there yet: before the chain could lead over them.
    void keep_rest();
    enum class FalseWay : std::uint8_t { Silent, DeadEnd, BrokenPromise };
    void leave_guide(FalseWay why);
    [[nodiscard]] std::optional<SealedHeader> sealed_header(const ledger::BlockHash& hash) const;
    void resume();

    // ---- handlers/states.cpp: states for newcomers
    // -------------------------------------------------------------------
    void heard(PeerId from, const WantManifest& message);
    void heard(PeerId from, const StateManifest& message);
    void heard(PeerId from, const WantPart& message);
    void heard(PeerId from, const StatePart& message);
    void look_up_state(LookUpState wanted);
    void state_found(const StateFound& event);

    // ---- handlers/old_forks.cpp: branches that leave this chain below what is at hand
    // --------------------------------
    /// Brings headers back from the disk down to this block of the chain. False when it is none, or lies too deep.
    bool deepen_to(const ledger::BlockHash& block);
    /// For a peer whose chain may leave ours deeper than what is in memory: blocks of ours at doubling distances, down
    /// to the first.
    void add_old_blocks(std::vector<ledger::BlockHash>& locator) const;
    [[nodiscard]] bool is_ahead_by_recovery(PeerId peer) const;
    void ask_for_state(const HeaderNode* fork);
    void old_state(const OldState& event);
    /// It leaves this chain where no state is at hand.
    [[nodiscard]] bool is_out_of_reach(const HeaderNode* node) const;

    // ---- handlers/chain.cpp: which chain is followed
    // -----------------------------------------------------------------
    /// Up to where a chain is final by its only voter's seals alone.
    [[nodiscard]] ledger::Height sealed_final_of(const HeaderNode* node, const BlockFacts& known) const;
    [[nodiscard]] consensus::ChainRank rank_of(const HeaderNode* node) const;
    [[nodiscard]] bool is_better(const HeaderNode* left, const HeaderNode* right) const;
    [[nodiscard]] bool may_follow(const HeaderNode* node) const;
    [[nodiscard]] const HeaderNode* best_tip() const;
    /// The best one, unless our own branch is only behind because blocks have not carried the votes yet that were
    /// given to it: a side that seals seldom would lose to a smaller one that seals often.
    [[nodiscard]] const HeaderNode* tip_to_follow();
    /// What the next block could add to the weight of our branch by votes that no block from before `fork` explains.
    [[nodiscard]] U256 weight_of_our_own(const HeaderNode* fork);
    /// The state is on its way between branches: nothing that needs it may happen.
    [[nodiscard]] bool is_moving() const { return mover != nullptr || at != settled; }
    /// Goes on towards the best chain, some blocks at a time; settles when it is there. What was taken is on its way to
    /// the disk then.
    void follow_best();
    void go_on_following();
    bool apply_child(const HeaderNode* node, const HeaderNode* goal);
    /// The child of the tip is good, or not.
    bool adopt_child(const HeaderNode* node, const SharedBlock& block, Result<ledger::Applied, ledger::Reject> applied);
    /// Several children, one after the other; says how many. The signatures of the next are verified meanwhile.
    std::size_t apply_row(const HeaderNode* goal, std::size_t most);
    void step_mover();
    void settle();
    void note_judged(const HeaderNode* node, const ledger::Block& block);
    void mark_invalid(const HeaderNode* node, const ledger::Reject& why);
    /// `node` was good once, or nobody knows: whoever sent it is not to blame for this machine's disk.
    void note_unreadable(const HeaderNode* node, const HeaderNode* goal);
    void note_readable(const ledger::BlockHash& hash);
    void update_final();
    void set_final(const HeaderNode* node);
    /// The chain has moved to one of a higher recovery generation that lacks the final block: what is final is where
    /// they part, until votes of that generation, or its only voter's seals, show more.
    void take_back_finals();
    /// Of a block of this chain that lies deeper than states are at hand nothing is known but that it is there. It is
    /// taken to be of the tip's generation: nothing of that is left for another of the same.
    void note_deep(const HeaderNode* node);
    void forget_old();
    [[nodiscard]] ledger::NextBlock next_block() const;

    // ---- handlers/votes.cpp
    // ------------------------------------------------------------------------------------------
    void heard(PeerId from, const Votes& message, const std::vector<bool>& good = {});
    void heard(PeerId from, const HaveVotes& message);
    void heard(PeerId from, const AskVotes& message);
    void heard(PeerId from, const WantVotes& message);
    /// Two votes that no honest member signs: whoever sees them may prove it to everybody.
    void note_contradiction(const consensus::Vote& one, const consensus::Vote& other);
    /// Everybody may submit the proof; nobody needs a key for it.
    void bring_evidence(const consensus::Evidence& evidence);
    void after_votes(const consensus::VoteBook::Outcome& outcome);
    void vote_if_due();
    [[nodiscard]] consensus::VotingPace::Sight voting_sight() const;
    bool vote_in(consensus::Epoch epoch);
    /// Votes show that it is final.
    [[nodiscard]] bool is_shown_final(const ledger::BlockHash& block) const;
    /// The last block of the chain timed before the end of an epoch; null when the whole chain is younger.
    [[nodiscard]] const HeaderNode* target_of(consensus::Epoch epoch) const;
    std::optional<consensus::Ballot> ballot_for(consensus::Epoch epoch) const;
    [[nodiscard]] consensus::Checkpoint justified_on(const HeaderNode* node, consensus::Epoch before) const;
    [[nodiscard]] std::optional<Time> next_vote() const;
    /// Which votes of a set are new here and of members, as far as is known: their indices in it.
    [[nodiscard]] std::vector<std::uint32_t> worth_checking(const consensus::VoteGroup& group) const;
    /// Votes wait to be passed on: when that happens.
    void plan_flush();
    void flush_votes();
    /// With hundreds of members everybody's votes reach all neighbours of a machine at the same moment, and what one
    /// sends need not come from six others too. So they go along the tree by which the block they are for has come: to
    /// whoever sent that, and to those who send votes for it here, which are those it was sent on to. Where that does
    /// not work (somebody in between died, lies, or lost a message) the rest goes to the others as well, after a while;
    /// and whoever says by that that it lacks something is sent the rest from then on.
    void flush_along_tree(std::span<const PeerId> all);
    /// From when on the votes of a row go to those beside the tree as well.
    [[nodiscard]] Time late_from(consensus::Epoch epoch, Time since) const;
    /// So many voters that votes go along trees.
    [[nodiscard]] bool is_large() const;
    /// Whole or by name, in messages of bounded size.
    [[nodiscard]] std::vector<SharedMessage> messages_of(std::vector<consensus::VoteGroup> groups) const;
    [[nodiscard]] std::vector<SharedMessage> whole_messages_of(std::vector<consensus::VoteGroup> groups) const;
    /// Whether an epoch has so many votes that only their names go round.
    [[nodiscard]] bool is_crowded(consensus::Epoch epoch) const;

    // ---- handlers/sealing.cpp
    // ----------------------------------------------------------------------------------------
    void seal_if_due();
    /// What this node would seal on the tip; nothing when it may not, or when there is no reason to.
    std::optional<Candidate> make_candidate(Time time);
    /// All that a block at `time` could carry, as far as its place allows.
    [[nodiscard]] std::vector<consensus::Vote> votes_to_carry(Time time) const;
    /// Signs it and makes it the tip.
    void put_on_tip(Candidate candidate);
    void mined(const Mined& event);
    /// The tip is another, or this node may not seal: nobody need look for a nonce any more.
    void stop_mining();
    [[nodiscard]] std::optional<Time> next_seal() const;
    /// Where two finals conflict only the owner goes on: a recovery with a higher generation waits to be sealed.
    [[nodiscard]] bool recovery_waits() const;
    [[nodiscard]] bool may_seal() const { return may_act() || recovery_waits(); }
    void seal(Time time);

    // ---- handlers/transactions.cpp: pool and clients
    // -----------------------------------------------------------------
    void heard(PeerId from, const Transactions& message);
    void heard(PeerId from, const HaveTxs& message);
    void heard(PeerId from, const WantTxs& message);
    void take_txs(PeerId from, std::span<const ledger::SharedTx> txs);
    /// In messages of bounded size.
    [[nodiscard]] std::vector<SharedMessage> messages_of(std::span<const ledger::SharedTx> txs) const;
    void send_txs(PeerId to, std::span<const ledger::SharedTx> txs);
    void submit(const Submit& event);
    void forget(ClientId client);
    /// The block of the chain that has it; null when none has, or it was too long ago.
    [[nodiscard]] const HeaderNode* place_of(const ledger::TxId& id) const;
    /// Whole: what nobody else has yet. Named: what may be there already; who lacks it asks.
    enum class Telling : std::uint8_t { Whole, Named };
    void announce(std::span<const ledger::SharedTx> txs, PeerId except, Telling telling);
    /// Clients' new transactions, all of those together that came since the last time.
    void announce_untold();
    void announce_again();
    void tell(const ledger::TxId& id, Awaited& awaited_tx, Stage stage, const ledger::BlockHash& block,
              std::optional<ledger::Reject> refused = {});
    /// The same of Included, as soon as the block is on its maker's disk: with `needs`, when that is this one.
    void tell_inclusion(const ledger::TxId& id, Awaited& awaited_tx, const ledger::BlockHash& block,
                        std::optional<Ticket> needs);
    /// The disk has come further.
    void tell_held_inclusions();
    void note_included(std::span<const ledger::TxId> ids, const ledger::BlockHash& hash);
    [[nodiscard]] std::vector<ledger::TxId> ids_in(const ledger::Block& block, const ledger::BlockHash& hash) const;
    void note_returned(const ledger::TxId& id);
    void note_final(const ledger::BlockHash& hash);
    void note_dropped(const ledger::SharedTx& tx, const ledger::Reject& why);
    void retry_refused();
    void note_pending();

    // ---- handlers/peers.cpp
    // ------------------------------------------------------------------------------------------
    void peer_up(PeerId peer);
    void peer_down(PeerId peer);
    void hear(const Heard& event);
    void dispatch(const Heard& event, const std::vector<bool>& good = {});
    void verified(const Verified& event);
    void drain_parked();
    void heard(PeerId from, const Status& message);
    void send_status(PeerId to);
    void send_statuses();
    void send(PeerId to, Message message);
    void tell_block(const SharedBlock& block, const ledger::BlockHash& hash);
    void blame(PeerId peer, ledger::Reject why);
    void praise(PeerId peer);
    void check_clock();

    // ---- handlers/disk.cpp
    // -------------------------------------------------------------------------------------------
    Ticket persist(Write what);
    void request_sync();
    /// What a block of its own waits for on its way to the disk: until then it leaves for nobody, and is neither final
    /// nor told to be included.
    [[nodiscard]] std::optional<Ticket> held_until(const ledger::BlockHash& hash) const;
    [[nodiscard]] bool is_held(const ledger::BlockHash& hash) const { return held_until(hash).has_value(); }
    /// What must be stored before clients are told of what is in a block; nothing when it is on its maker's disk. One
    /// of this node's own that others brought back was lost here with a disk: then it is asked to be made durable
    /// again.
    std::optional<Ticket> told_with(const ledger::BlockHash& hash);
    void stored_up_to(Ticket ticket);
    void record_own_votes();

    // ---- handlers/tick.cpp
    // -------------------------------------------------------------------------------------------
    void set_clock(Time time);
    void tick();
    void set_wake();
    void finish_step();
    void set_condition(Condition condition, bool holds);
    [[nodiscard]] bool may_act() const;                                             ///< seal and vote
    [[nodiscard]] std::uint64_t generation() const { return voting().generation; }  ///< of the tip

    // ---- consensus::BlockLore
    // ----------------------------------------------------------------------------------------
    [[nodiscard]] const consensus::Electorate* electorate_of(const ledger::BlockHash& block) const override;
    [[nodiscard]] ledger::Trust trust() const override { return state.parameters().trust; }

    [[nodiscard]] const ledger::Parameters& parameters() const { return state.parameters(); }
    /// Who votes after the tip.
    [[nodiscard]] const consensus::Electorate& voting() const;
    [[nodiscard]] bool is_member(const consensus::MemberKey& key) const;
};

}  // namespace rhizome::core
