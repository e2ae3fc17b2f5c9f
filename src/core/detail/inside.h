// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>

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
    Time guide_after{};                  ///< it led nowhere: not followed far before this
    std::uint32_t false_ways = 0;        ///< how often it did
    std::optional<Time> asked_blocks{};  ///< a question is open
    ledger::BlockHash last_block{};      ///< where its last answer ended
    std::optional<Time> asked_votes{};
    LruCache<ledger::WireId, char> known_txs;
    LruCache<ledger::BlockHash, char> known_blocks;
    explicit PeerState(std::size_t known_max) : known_txs(known_max), known_blocks(known_max) {}
};

/// A transaction that somebody waits for.
struct Awaited {
    ledger::SharedTx tx{};
    std::set<ClientId> clients{};
    Stage stage = Stage::Accepted;
    ledger::BlockHash block{};
    Time told{};                              ///< last announced to peers
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
    consensus::VoteBook book;
    consensus::OwnVotes own;
    ledger::PendingPool pool;
    Random random;
    ledger::ChainId chain;

    std::map<PeerId, PeerState> peers;
    detail::CatchUp catch_up;
    bool is_catching_up = false;                      ///< what becomes the tip now is nobody's news
    std::map<ledger::BlockHash, SharedBlock> unkept;  ///< taken in this step, not on the disk
    detail::RecentTxs recent_txs;
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
        std::vector<bool> good{};  ///< of votes, by their place in the message, when the host has checked them
    };
    std::deque<Parked> parked;
    /// Votes that were asked for by name, and when.
    FlatMap<VoteName, Time> promised;
    std::map<ledger::TxId, Awaited> awaited;
    std::map<ledger::TxId, ledger::BlockHash> included;  ///< on the chain above the final block
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
    Time settled_since{};  ///< when the present tip became it, by this node's clock
    consensus::VotingPace pace;
    Time next_status{};
    std::optional<Time> next_flush{};
    /// A vote that was not passed on yet, and who has it already: whoever sent it in the meantime. Once it went to all
    /// others nothing need be remembered of it; what gets lost is asked for again.
    struct Relay {
        consensus::Vote vote{};
        std::vector<PeerId> known_to{};
        bool own = false;
    };
    std::vector<Relay> votes_to_relay;
    FlatMap<VoteName, std::size_t> relay_places;

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
    };
    std::deque<Held> held;  ///< own votes and blocks that wait for the disk
    bool sync_wanted = false;
    bool resume_wanted = false;   ///< there is more to do
    bool resume_pending = false;  ///< and the host knows
    BatchId last_batch{};
    /// Of parked messages; and, of votes, which place in the message each job is about.
    std::map<BatchId, std::pair<std::vector<SignatureJob>, std::vector<std::size_t>>> jobs_of;
    Time asked_wake{};
    /// How long after the tip this node may seal: asked once for each tip.
    mutable std::optional<milliseconds> turn_wait{};

    std::vector<Effect> effects;

    // ---- handlers/start.cpp ----------------------------------------------------------------------------------------
    Result<void, ledger::Reject> restore(const Start& start);

    // ---- handlers/blocks.cpp: blocks that come in
    // --------------------------------------------------------------------
    /// `KeepLater`: of a way that is caught up with, known to be whole. Most become the tip in the same step and are
    /// written once; `keep_rest` writes the others.
    enum class Keeping : std::uint8_t { KeepNow, KeepLater };
    void take_block(PeerId from, const SharedBlock& block, Keeping keeping = Keeping::KeepNow);
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
    [[nodiscard]] SharedMessage compact_for(PeerState& peer, const SharedBlock& block, const ledger::BlockHash& hash);
    void note_claims(const HeaderNode* node, const ledger::Block& block, const consensus::MemberKey& proposer,
                     PeerId from);

    // ---- handlers/catch_up.cpp: what is far behind
    // -------------------------------------------------------------------
    /// So far ahead that it is followed headers first.
    [[nodiscard]] bool is_far(ledger::Height height) const;
    void begin_catch_up(PeerId guide);
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

    // ---- handlers/chain.cpp: which chain is followed
    // -----------------------------------------------------------------
    /// Up to where a chain is final by its only voter's seals alone.
    [[nodiscard]] ledger::Height sealed_final_of(const HeaderNode* node, const BlockFacts& known) const;
    [[nodiscard]] consensus::ChainRank rank_of(const HeaderNode* node) const;
    [[nodiscard]] bool is_better(const HeaderNode* left, const HeaderNode* right) const;
    [[nodiscard]] bool may_follow(const HeaderNode* node) const;
    [[nodiscard]] const HeaderNode* best_tip() const;
    /// The state is on its way between branches: nothing that needs it may happen.
    [[nodiscard]] bool is_moving() const { return mover != nullptr || at != settled; }
    /// Goes on towards the best chain, some blocks at a time; settles when it is there.
    void follow_best();
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
    std::optional<consensus::Ballot> ballot_for(consensus::Epoch epoch) const;
    [[nodiscard]] consensus::Checkpoint justified_on(const HeaderNode* node, consensus::Epoch before) const;
    [[nodiscard]] std::optional<Time> next_vote() const;
    void relay(const consensus::Vote& vote, std::vector<PeerId> known_to);
    void note_known_to(PeerId peer, const VoteName& name);
    void flush_votes();
    /// Whether an epoch has so many votes that only their names go round.
    [[nodiscard]] bool is_crowded(consensus::Epoch epoch) const;

    // ---- handlers/sealing.cpp
    // ----------------------------------------------------------------------------------------
    void seal_if_due();
    /// What this node would seal on the tip; nothing when it may not, or when there is no reason to.
    std::optional<Candidate> make_candidate(Time time);
    /// Signs it and makes it the tip.
    void put_on_tip(Candidate candidate);
    void mined(const Mined& event);
    /// The tip is another, or this node may not seal: nobody need look for a nonce any more.
    void stop_mining();
    [[nodiscard]] std::optional<Time> next_seal() const;
    void seal(Time time);

    // ---- handlers/transactions.cpp: pool and clients
    // -----------------------------------------------------------------
    void heard(PeerId from, const Transactions& message);
    void heard(PeerId from, const HaveTxs& message);
    void heard(PeerId from, const WantTxs& message);
    void take_txs(PeerId from, std::span<const ledger::SharedTx> txs);
    /// In messages of bounded size.
    void send_txs(PeerId to, std::span<const ledger::SharedTx> txs);
    void submit(const Submit& event);
    void forget(ClientId client);
    /// The block of the chain that has it; null when none has, or it was too long ago.
    [[nodiscard]] const HeaderNode* place_of(const ledger::TxId& id) const;
    /// Whole: what nobody else has yet. Named: what may be there already; who lacks it asks.
    enum class Telling : std::uint8_t { Whole, Named };
    void announce(std::span<const ledger::SharedTx> txs, PeerId except, Telling telling);
    void announce_again();
    void tell(const ledger::TxId& id, Awaited& awaited_tx, Stage stage, const ledger::BlockHash& block,
              std::optional<ledger::Reject> refused = {});
    void note_included(const ledger::Block& block, const ledger::BlockHash& hash);
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
    void check_clock();

    // ---- handlers/disk.cpp
    // -------------------------------------------------------------------------------------------
    Ticket persist(Write what);
    void request_sync();
    /// Whether a block of its own still waits for the disk: until then it leaves for nobody, and is not final.
    [[nodiscard]] bool is_held(const ledger::BlockHash& hash) const;
    void stored_up_to(Ticket ticket);
    void record_own_votes();

    // ---- handlers/tick.cpp
    // -------------------------------------------------------------------------------------------
    void set_clock(Time time);
    void tick();
    void set_wake();
    void finish_step();
    void set_condition(Condition condition, bool holds);
    [[nodiscard]] bool may_act() const;  ///< seal and vote

    // ---- consensus::BlockLore
    // ----------------------------------------------------------------------------------------
    [[nodiscard]] const consensus::Electorate* electorate_of(const ledger::BlockHash& block) const override;
    [[nodiscard]] ledger::Trust trust() const override { return state.parameters().trust; }

    [[nodiscard]] const ledger::Parameters& parameters() const { return state.parameters(); }
    [[nodiscard]] bool is_member(const consensus::MemberKey& key) const;
};

}  // namespace rhizome::core
