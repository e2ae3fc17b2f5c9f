// SPDX-License-Identifier: Apache-2.0
#include "node/host.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/bounded.h"
#include "base/ensure.h"
#include "consensus/consensus_rules.h"
#include "consensus/judge.h"
#include "node/mining.h"
#include "node/room.h"
#include "node/state_shelf.h"
#include "node/status.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"
#include "runtime/thread_pool.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

/// Headers below the newest final block that a starting node has in memory; older ones are looked up.
constexpr std::uint64_t kHeadersBelowFinal = 1'024;
constexpr seconds kDiskLook{5};
/// While there is too little room: people wait for it.
constexpr seconds kDiskLookSoon{1};
/// Between two looks of a node that has much to do.
constexpr milliseconds kRoomLook{250};
/// Below twice what the store keeps free for itself nothing is taken, and then until there are two segments of the log
/// more: the next one gets its room at once.
constexpr std::uint64_t kDiskLow = 2 * store::Options{}.reserve_bytes;
static_assert(kDiskRoomy == kDiskLow + 2 * store::Options{}.segment_bytes);
/// Refusals that are remembered for those who ask later: about a megabyte.
constexpr std::size_t kRefusalsMax = 4'096;
/// For so long what was undone may come back before it is shown to be gone: two heartbeats.
constexpr seconds kReturnsWithin{10};
constexpr std::string_view kNotes = "node";
constexpr std::string_view kNonce = "nonce";

/// What the store knows of the past.
class StoreHistory final : public core::History {
public:
    explicit StoreHistory(const store::Store& store) : store_(store) {}

    [[nodiscard]] std::vector<ledger::BlockHash> blocks_with(const ledger::TxId& id) const override {
        const auto place = store_.find_tx(id);
        return place ? std::vector{place->block.hash} : std::vector<ledger::BlockHash>{};
    }
    [[nodiscard]] std::optional<ledger::Height> height_of(const ledger::BlockHash& hash) const override {
        const auto info = store_.info(hash);
        if (!info || !store_.on_chain(*info)) return std::nullopt;
        return info->height();
    }
    [[nodiscard]] std::optional<ledger::BlockHash> hash_at(ledger::Height height) const override {
        const auto info = store_.info_at(height);
        if (!info) return std::nullopt;
        return info->hash;
    }
    [[nodiscard]] std::optional<core::SealedHeader> sealed_header(const ledger::BlockHash& hash) const override {
        const auto info = store_.info(hash);
        if (!info || !info->has_body) return std::nullopt;
        auto seal = store_.seal(hash);
        if (!seal) return std::nullopt;
        return core::SealedHeader{info->header, info->signature, *std::move(seal)};
    }

private:
    const store::Store& store_;
};

/// Does the newest of what it is asked on a thread of its own: a sync that runs serves all that was asked before it
/// began.
template <class Job>
class Worker {
public:
    explicit Worker(std::function<void(Job)> work) : work_(std::move(work)), thread_([this] { run(); }) {}
    ~Worker() { stop(); }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void ask(Job job, bool instead_of_waiting) {
        {
            const std::lock_guard hold{mutex_};
            if (instead_of_waiting) waiting_.clear();
            waiting_.push_back(std::move(job));
        }
        changed_.notify_one();
    }
    void stop() {
        {
            const std::lock_guard hold{mutex_};
            stopping_ = true;
        }
        changed_.notify_one();
        if (thread_.joinable()) thread_.join();
    }

private:
    void run() {
        std::unique_lock hold{mutex_};
        for (;;) {
            changed_.wait(hold, [&] { return stopping_ || !waiting_.empty(); });
            if (stopping_) return;
            Job job = std::move(waiting_.front());
            waiting_.pop_front();
            hold.unlock();
            work_(std::move(job));
            hold.lock();
        }
    }

    std::function<void(Job)> work_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Job> waiting_;
    bool stopping_ = false;
    std::thread thread_;
};

/// Whether a token was written that newcomers may come with: they ask for the state after that block.
bool has_new_token(const state::Delta& change) {
    const auto tokens = state::Prefix::join_tokens();
    return std::any_of(change.changes().begin(), change.changes().end(),
                       [&](const state::Change& one) { return !one.before && one.after && tokens.covers(one.key()); });
}

/// Writes that wait for room on the disk, in their order, and the disk as the node reads it: with what waits.
class WaitingWrites final : public ledger::BlockSource {
public:
    explicit WaitingWrites(const store::Store& store) : store_(store) {}

    [[nodiscard]] Result<ledger::Block> block(const ledger::BlockHash& hash) const override {
        for (const core::Persist& one : waiting) {
            const core::SharedBlock block = block_of(one.what);
            if (block && hash_of(block->header) == hash) return *block;
        }
        return store_.block(hash);
    }
    [[nodiscard]] Result<state::Delta> change(const ledger::BlockHash& hash) const override {
        for (const core::Persist& one : waiting) {
            if (const auto* append = std::get_if<core::AppendBlock>(&one.what))
                if (hash_of(append->block->header) == hash) return append->commit.delta;
            if (const auto* move = std::get_if<core::MoveTip>(&one.what))
                for (const core::MoveTip::Adopted& adopted : move->branch)
                    if (adopted.hash == hash) return adopted.change;
        }
        return store_.change(hash);
    }

    std::deque<core::Persist> waiting{};

private:
    static core::SharedBlock block_of(const core::Write& what) {
        if (const auto* append = std::get_if<core::AppendBlock>(&what)) return append->block;
        if (const auto* keep = std::get_if<core::KeepBlock>(&what)) return keep->block;
        return nullptr;
    }

    const store::Store& store_;
};

/// What the core starts from.
Result<core::Start> start_of(const store::Chain& chain, const store::AcceptedLog& accepted) {
    const store::Store& store = chain.store();
    core::Start start{.chain = store.chain(), .tip_view = chain.state().view()};
    const auto final_block = store.final_block();
    start.final_block = final_block.hash;
    const std::uint64_t lowest = store.base().height().number();
    const std::uint64_t wanted = final_block.height().number();
    const std::uint64_t root = std::max(lowest, wanted > kHeadersBelowFinal ? wanted - kHeadersBelowFinal : 0);
    TRY(const auto first, store.info_at(ledger::Height{root}));
    start.root = first.header;
    for (std::uint64_t height = root + 1; height <= chain.tip().height.number(); ++height) {
        TRY(const auto info, store.info_at(ledger::Height{height}));
        start.chain_headers.push_back(info.header);
    }
    const store::VoteMemory votes = store.votes();
    start.vote_record = votes.record;
    start.votes_complete = votes.complete;
    for (store::AcceptedLog::Kept& one : accepted.kept()) start.accepted.push_back({std::move(one.tx), one.time});
    start.vote_record_id = votes.id;
    std::array<std::uint8_t, 8> seed{};
    runtime::fill_with_entropy(seed);
    std::memcpy(&start.seed, seed.data(), seed.size());
    return start;
}

}  // namespace

struct Host::Inside {
    Inside(stream::IoContext& io, HostOptions given, const crypto::NodeKeys& keys)
        : options(std::move(given)), log(options.log), signer(keys), strand(io.make_strand()) {}

    HostOptions options;
    Log log;
    consensus::KeySigner signer;
    stream::Strand strand;
    ledger::Rules kinds{};
    consensus::CurveSignatures signatures{};
    consensus::ConsensusRules rules{signatures, kinds};
    consensus::Judge judge{signatures};
    runtime::ThreadPool pool{runtime::ThreadPool::host_width()};
    std::unique_ptr<store::Chain> chain{};
    std::unique_ptr<store::AcceptedLog> accepted{};
    bool accepted_fails = false;  ///< said once
    std::unique_ptr<StoreHistory> history{};
    std::unique_ptr<WaitingWrites> writes{};
    core::Ticket written{};      ///< up to this nothing waits for room
    core::Ticket sync_wanted{};  ///< beyond that: synced when it is written
    bool disk_low = false;       ///< as the node was told
    Time room_seen{};            ///< when it was looked at last
    std::unique_ptr<core::Node> node{};

    std::unique_ptr<stream::Timer> wake{};
    std::unique_ptr<stream::Timer> disk_look{};
    std::unique_ptr<Worker<core::Ticket>> syncer{};
    std::unique_ptr<Worker<core::Verify>> verifier{};
    std::unique_ptr<MiningWorker> miner{};
    /// For newcomers, on the librarian's thread alone.
    std::unique_ptr<StateShelf> shelf{};
    std::unique_ptr<Worker<std::function<void()>>> librarian{};
    PeerPort* peers = nullptr;

    std::atomic<std::shared_ptr<const NodeView>> view{};
    std::set<core::Condition> conditions{};
    UsualFollower usual{log.area("usual")};
    std::map<core::ClientId, std::function<void(const core::Answer&)>> clients{};
    std::vector<core::Answer> answers{};  ///< of the step that is being carried out
    /// Transactions whose block was undone and that wait for another, and until when that is waited for.
    std::map<ledger::TxId, std::pair<ledger::SharedTx, Time>> returning{};
    std::atomic<std::uint64_t> last_client = 0;
    LruCache<ledger::TxId, ledger::Reject> refusals{kRefusalsMax};
    using Watcher = std::function<void(const core::Notice&, const NodeView&)>;
    std::vector<std::weak_ptr<Watcher>> watchers{};
    using LostWatcher = std::function<void(const store::LostTx&)>;
    std::vector<std::weak_ptr<LostWatcher>> lost_watchers{};
    std::vector<store::LostTx> now_lost{};  ///< of the step that is being carried out
    std::function<bool(const ledger::TxId& lost, Host::Remade told)> remake{};
    std::uint64_t lost_count = 0;
    std::uint64_t remade_count = 0;
    std::atomic<bool> has_failed = false;
    std::deque<core::EventKind> events{};
    bool is_stepping = false;
    bool stopped = false;  ///< on the strand: no more steps

    void fail_with(const Error& error) {
        if (has_failed.exchange(true)) return;
        log.error("the node cannot go on", {{"why", error}});
        if (options.failed) options.failed(error);
    }

    void post(core::EventKind event) {
        strand.post([this, event = std::move(event)]() mutable { step(std::move(event)); });
    }

    /// The effects of one step are carried out before the next begins: what comes up meanwhile waits.
    void step(core::EventKind event) {
        events.push_back(std::move(event));
        if (is_stepping) return;
        is_stepping = true;
        while (!events.empty() && !stopped && !has_failed) {
            look_for_room(std::holds_alternative<core::Submit>(events.front()));
            const core::EventKind next = std::move(events.front());
            events.pop_front();
            std::vector<core::Notice> notices;
            for (core::Effect& effect : node->step({runtime::now(), next, runtime::since_boot()}))
                perform(effect, notices);
            publish(notices);
            // After the view: whoever was told that something is final finds it so.
            for (const core::Answer& answer : std::exchange(answers, {})) tell(answer);
            for (const store::LostTx& lost : std::exchange(now_lost, {})) {
                const auto told = [this, lost](std::optional<ledger::TxId> made_again) {
                    strand.post([this, lost, made_again] { tell_lost(lost, made_again); });
                };
                if (!remake || !remake(lost.tx->id, told)) tell_lost(lost, std::nullopt);
            }
        }
        events.clear();
        is_stepping = false;
    }

    void perform(core::Effect& effect, std::vector<core::Notice>& notices);
    Result<void> write(const core::Write& what);
    void note_accepted(const Result<void>& noted);
    void persist(core::Persist what);
    void write_waiting();
    void sync(core::Ticket up_to);
    void look_for_room(bool now);
    void tell(const core::Answer& answer);
    void tell_lost(store::LostTx lost, std::optional<ledger::TxId> made_again);
    void publish(const std::vector<core::Notice>& notices);
    void follow_usual(const core::TipMoved& moved);
    /// What of that is still so.
    std::shared_ptr<const std::set<std::string, std::less<>>> follow_returning(
        const std::vector<core::Notice>& notices);
    void look_at_disk();
    void begin();
};

Result<void> Host::Inside::write(const core::Write& what) {
    store::Store& store = chain->store();
    if (const auto* append = std::get_if<core::AppendBlock>(&what)) {
        TRY(store.append(*append->block, append->ids, append->commit,
                         append->far_behind ? store::KeepChange::UntilFinal : store::KeepChange::ForAWhile));
    } else if (const auto* keep = std::get_if<core::KeepBlock>(&what)) {
        TRY(store.keep(*keep->block));
    } else if (const auto* move = std::get_if<core::MoveTip>(&what)) {
        std::vector<store::Store::Adopted> branch;
        for (const auto& one : move->branch) branch.push_back({one.hash, one.change});
        TRY(store.move_tip(move->tip, branch, move->view,
                           move->takes_back ? store::Store::Finals::TakenBack : store::Store::Finals::Stay));
    } else if (const auto* votes = std::get_if<core::RecordVotes>(&what)) {
        if (store.votes().complete) {
            TRY(store.record_vote(votes->record));
        } else {
            TRY(store.complete_votes(votes->record));
        }
    } else if (std::holds_alternative<core::LoseVotes>(what)) {
        TRY(store.lose_votes());
    } else if (const auto* final_block = std::get_if<core::MarkFinal>(&what)) {
        TRY(store.mark_final(final_block->block));
    } else if (const auto* keep_tx = std::get_if<core::KeepAccepted>(&what)) {
        note_accepted(accepted->keep(keep_tx->tx, keep_tx->time));
    } else if (const auto* settled = std::get_if<core::ForgetAccepted>(&what)) {
        note_accepted(accepted->settle(settled->tx));
    }
    return ok();
}

/// The chain does not depend on it: a node whose disk is full goes on, and says what it can no longer promise.
void Host::Inside::note_accepted(const Result<void>& noted) {
    if (noted.has_value() != accepted_fails) return;
    accepted_fails = !noted;
    if (noted) {
        log.info("what is accepted of clients is written down again");
    } else {
        log.warn("what is accepted of clients is not written down: if this node ends, nobody is told of what is lost",
                 {{"why", noted.error()}});
    }
}

void Host::Inside::persist(core::Persist what) {
    const bool is_first = writes->waiting.empty();
    writes->waiting.push_back(std::move(what));
    if (is_first) write_waiting();
    if (writes->waiting.empty() || disk_low) return;
    // Somebody filled the disk between two looks: the node hears of it before anything else.
    disk_low = true;
    events.emplace_front(core::DiskLow{true});
}

/// To the disk with what waits, as far as there is room.
void Host::Inside::write_waiting() {
    while (!writes->waiting.empty()) {
        const core::Persist& first = writes->waiting.front();
        const auto done = write(first.what);
        if (!done && done.error().kind != ErrorKind::Exhausted) return fail_with(done.error());
        if (!done) {
            if (!disk_low) log.warn("the disk has no room", {{"why", done.error()}});
            return;
        }
        written = first.ticket;
        writes->waiting.pop_front();
    }
    if (sync_wanted > core::Ticket{}) sync(std::exchange(sync_wanted, {}));
}

/// What waits is told as stored when it is: the rest of the question is asked again then.
void Host::Inside::sync(core::Ticket up_to) {
    if (writes->waiting.empty() || up_to <= written) return syncer->ask(up_to, true);
    sync_wanted = std::max(sync_wanted, up_to);
    syncer->ask(written, true);
}

/// Tells the node whether there is room, before what comes next: `now` when that is somebody's order, who is told at
/// once instead of waiting for what nobody can write.
void Host::Inside::look_for_room(bool now) {
    const Time time = runtime::now();
    if (!now && time >= room_seen && time < room_seen + kRoomLook) return;
    room_seen = time;
    const auto usage = chain->store().usage();
    if (!usage) return;
    const std::uint64_t free = usage->free_bytes;
    if (!writes->waiting.empty()) write_waiting();
    const bool low = !writes->waiting.empty() || free < (disk_low ? kDiskRoomy : kDiskLow);
    if (low == disk_low) return;
    disk_low = low;
    if (low) {
        log.warn("the disk is nearly full: nothing is taken until there is room",
                 {{"freeMiB", free >> 20}, {"neededMiB", kDiskRoomy >> 20}});
    } else {
        log.info("the disk has room again", {{"freeMiB", free >> 20}});
    }
    events.emplace_front(core::DiskLow{low});
}

void Host::Inside::perform(core::Effect& effect, std::vector<core::Notice>& notices) {
    if (const auto* send = std::get_if<core::Send>(&effect)) {
        if (peers != nullptr) peers->send(send->to, send->message);
    } else if (auto* persist = std::get_if<core::Persist>(&effect)) {
        this->persist(std::move(*persist));
    } else if (const auto* asked_sync = std::get_if<core::Sync>(&effect)) {
        sync(asked_sync->up_to);
    } else if (const auto* wanted = std::get_if<core::Wake>(&effect)) {
        wake->set(stream::after(wanted->at - runtime::now()));
    } else if (std::holds_alternative<core::Continue>(effect)) {
        post(core::Resume{});
    } else if (auto* verify = std::get_if<core::Verify>(&effect)) {
        verifier->ask(std::move(*verify), false);
    } else if (const auto* mine = std::get_if<core::Mine>(&effect)) {
        if (miner) miner->look_for(*mine);
    } else if (const auto* asked = std::get_if<core::LookUpState>(&effect)) {
        librarian->ask(
            [this, order = *asked] {
                post(core::StateFound{order.to, std::make_shared<const core::Message>(shelf->answer(order.wanted))});
            },
            false);
    } else if (const auto* answer = std::get_if<core::Answer>(&effect)) {
        if (answer->refused) refusals.put(answer->tx, *answer->refused);
        answers.push_back(*answer);
    } else if (const auto* lost = std::get_if<core::Lost>(&effect)) {
        now_lost.push_back({.tx = lost->tx,
                            .why = lost->why,
                            .accepted = lost->accepted,
                            .lost = runtime::now(),
                            .was_included = lost->was_included});
        note_accepted(accepted->lose(now_lost.back()));
    } else if (const auto* blame = std::get_if<core::Blame>(&effect)) {
        log.debug("a peer sent what no honest one sends", {{"peer", blame->peer}, {"why", to_text(blame->why)}});
        if (peers != nullptr) peers->blame(blame->peer, blame->why);
    } else if (const auto* praise = std::get_if<core::Praise>(&effect)) {
        if (peers != nullptr) peers->praise(praise->peer);
    } else if (auto* notice = std::get_if<core::Publish>(&effect)) {
        if (const auto* changed = std::get_if<core::ConditionChanged>(&notice->notice)) {
            if (changed->holds) {
                conditions.insert(changed->condition);
                log.warn("something keeps this node from its usual part; rhizome status says what to do",
                         {{"condition", name(changed->condition)}});
            } else if (conditions.erase(changed->condition) > 0) {
                log.info("that is over", {{"condition", name(changed->condition)}});
            }
            log.warn(changed->holds ? "a condition keeps this node from doing its part" : "a condition has passed",
                     {{"condition", std::string{name(changed->condition)}}});
        } else if (const auto* back = std::get_if<core::FinalsTakenBack>(&notice->notice)) {
            log.warn("a recovery took back what was final",
                     {{"from", back->from}, {"to", back->to}, {"generation", back->generation}});
        }
        notices.push_back(std::move(notice->notice));
    }
}

void Host::Inside::tell(const core::Answer& answer) {
    const auto client = clients.find(answer.client);
    if (client == clients.end()) return;
    const auto told = client->second;
    if (answer.stage == core::Stage::Final || answer.stage == core::Stage::Refused) clients.erase(client);
    told(answer);
}

void Host::Inside::tell_lost(store::LostTx lost, std::optional<ledger::TxId> made_again) {
    if (stopped) return;  // it is told after the start
    lost.made_again = made_again;
    std::string about;
    for (const ledger::NamedOutput& output : lost.tx->outputs)
        if (output.wish != ledger::Wish::Nothing)
            about += (about.empty() ? "" : ", ") + std::string{output.resource.path.text()};
    if (made_again) {
        ++remade_count;
        note_accepted(accepted->lose(lost));
        log.info("an accepted write was taken back and is made again on what stands now",
                 {{"txid", lost.tx->id.hex()}, {"again", made_again->hex()}, {"about", about}});
    } else {
        ++lost_count;
        log.warn("an accepted write is lost: the chain that others made final leaves no place for it",
                 {{"txid", lost.tx->id.hex()}, {"about", about}, {"why", to_text(lost.why)}});
    }
    publish({});
    std::erase_if(lost_watchers, [](const auto& one) { return one.expired(); });
    for (const auto& one : lost_watchers)
        if (const auto watcher = one.lock()) (*watcher)(lost);
}

void Host::Inside::publish(const std::vector<core::Notice>& notices) {
    const auto before = view.load();
    const auto tip = node->tip_hash();
    if (before && notices.empty() && before->tip_hash == tip && before->pending == node->pending() &&
        before->final_block == node->final_block() && before->generation_heard == node->generation_heard() &&
        before->lost + before->made_again == lost_count + remade_count &&
        before->records_begun == node->records_begun())
        return;
    auto now = std::make_shared<NodeView>();
    now->chain = chain->store().chain();
    now->tip = node->tip();
    now->tip_hash = tip;
    now->state = node->state().view();
    now->final_block = node->final_block();
    now->final_height = node->final_height();
    now->final_time = before && before->final_block == now->final_block ? before->final_time : Time{};
    if (now->final_time == Time{})
        if (const auto info = chain->store().info(now->final_block)) now->final_time = info->header.time;
    now->justified = node->justified();
    now->generation_heard = node->generation_heard();
    now->chain_ahead = node->chain_ahead();
    now->pending = node->pending();
    now->conditions = conditions;
    now->records_begun = node->records_begun();
    now->usage = node->usage();
    now->traffic = node->traffic();
    now->lost = lost_count;
    now->made_again = remade_count;
    for (const core::Notice& notice : notices)
        if (const auto* moved = std::get_if<core::TipMoved>(&notice)) follow_usual(*moved);
    now->unusual = usual.seen();
    now->returning = follow_returning(notices);
    view.store(now);
    for (const core::Notice& notice : notices)
        if (const auto* moved = std::get_if<core::TipMoved>(&notice); moved != nullptr && has_new_token(moved->change))
            librarian->ask([this, block = moved->to] { shelf->keep(block); }, false);
    std::erase_if(watchers, [](const auto& one) { return one.expired(); });
    for (const core::Notice& notice : notices)
        for (const auto& one : watchers)
            if (const auto watcher = one.lock()) (*watcher)(notice, *now);
}

std::shared_ptr<const std::set<std::string, std::less<>>> Host::Inside::follow_returning(
    const std::vector<core::Notice>& notices) {
    const Time time = runtime::now();
    for (const core::Notice& notice : notices)
        if (const auto* moved = std::get_if<core::TipMoved>(&notice))
            for (const ledger::TxId& id : moved->returned)
                if (auto tx = node->pending_tx(id)) returning.try_emplace(id, std::move(tx), time + kReturnsWithin);
    std::erase_if(returning,
                  [&](const auto& one) { return one.second.second < time || node->pending_tx(one.first) == nullptr; });
    if (returning.empty()) return nullptr;
    auto keys = std::make_shared<std::set<std::string, std::less<>>>();
    for (const auto& [id, one] : returning)
        for (const ledger::NamedOutput& output : one.first->outputs)
            if (output.wish != ledger::Wish::Nothing) keys->insert(output.resource.path.key());
    return keys;
}

void Host::Inside::follow_usual(const core::TipMoved& moved) {
    std::vector<ledger::Header> headers;
    // The tip's is at hand. Of others only chains that work need them: their nonces.
    const bool works = node->state().parameters().consensus == ledger::ConsensusId::Work;
    for (const ledger::BlockHash& hash : moved.applied) {
        if (hash == node->tip_hash()) {
            headers.push_back(node->tip());
        } else if (works) {
            if (const auto info = chain->store().info(hash)) headers.push_back(info->header);
        }
    }
    usual.follow(moved, headers, node->state(), runtime::now());
}

void Host::Inside::look_at_disk() {
    if (stopped) return;
    room_seen = {};
    step(core::Tick{});
    if (miner) {
        Writer out;
        out.u64(miner->nonce());
        (void)chain->store().put_note(kNotes, kNonce, out.view());
    }
    librarian->ask([this] { shelf->tidy(); }, false);
    disk_look->set(stream::after(disk_low ? kDiskLookSoon : kDiskLook));
}

void Host::Inside::begin() {
    wake = std::make_unique<stream::Timer>(strand, [this] { step(core::Tick{}); });
    disk_look = std::make_unique<stream::Timer>(strand, [this] { look_at_disk(); });
    syncer = std::make_unique<Worker<core::Ticket>>([this](core::Ticket up_to) {
        if (const auto synced = accepted->sync(); !synced) return fail_with(synced.error());
        if (const auto synced = chain->store().sync(); !synced) return fail_with(synced.error());
        post(core::Stored{up_to});
    });
    verifier = std::make_unique<Worker<core::Verify>>([this](core::Verify batch) {
        // One byte for each: neighbours in a vector<bool> share theirs.
        std::vector<std::uint8_t> good(batch.jobs.size());
        pool.for_ranges(batch.jobs.size(), [&](std::size_t first, std::size_t end) {
            for (std::size_t i = first; i < end; ++i)
                good[i] = signatures.is_good(batch.jobs[i].key, batch.jobs[i].digest, batch.jobs[i].signature);
        });
        post(core::Verified{batch.batch, std::vector<bool>(good.begin(), good.end())});
    });
    shelf = std::make_unique<StateShelf>(chain->store(), [this] { return view.load(); });
    librarian = std::make_unique<Worker<std::function<void()>>>([](const std::function<void()>& work) { work(); });
    if (chain->state().parameters().consensus == ledger::ConsensusId::Work && options.mining_percent > 0 &&
        options.takes_part) {
        std::uint64_t nonce = 0;
        const auto note = chain->store().note(kNotes, kNonce);
        if (note && note->size() == sizeof nonce) {
            std::memcpy(&nonce, note->data(), sizeof nonce);
        } else {
            // Nodes that begin alike would try the same numbers for ever.
            std::array<std::uint8_t, sizeof nonce> bytes{};
            runtime::fill_with_entropy(bytes);
            std::memcpy(&nonce, bytes.data(), sizeof nonce);
        }
        miner = std::make_unique<MiningWorker>(options.mining_percent, nonce,
                                               [this](const core::Mined& mined) { post(mined); });
    }
}

Host::Host(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Host::~Host() { (void)stop(); }

Result<std::unique_ptr<Host>> Host::start(stream::IoContext& io, HostOptions options, const crypto::NodeKeys& keys) {
    auto inside = std::make_unique<Inside>(io, std::move(options), keys);
    Inside& in = *inside;
    TRY(in.chain, store::Chain::open(in.options.folder, {in.rules, in.judge}, in.pool, {}, in.options.opening));
    for (const store::Finding& finding : in.chain->store().findings())
        in.log.warn("the store mended something", {{"what", finding.what}, {"file", finding.file.native()}});
    TRY(in.accepted, store::AcceptedLog::open(in.options.folder, in.chain->store().chain(), {}));
    if (!in.accepted->finding().empty())
        in.log.warn("the list of accepted transactions is not whole", {{"what", in.accepted->finding()}});
    TRY(const auto start, start_of(*in.chain, *in.accepted));
    in.history = std::make_unique<StoreHistory>(in.chain->store());
    in.writes = std::make_unique<WaitingWrites>(in.chain->store());
    auto node = core::Node::start(in.options.core, start,
                                  {.blocks = *in.writes,
                                   .history = *in.history,
                                   .rules = in.rules,
                                   .signatures = in.signatures,
                                   .signer = in.options.takes_part ? &in.signer : nullptr,
                                   .cache = in.chain->cache(),
                                   .parallel = in.pool},
                                  runtime::now());
    if (!node) return fail(ErrorKind::Corrupt, "what is on the disk does not fit together: " + to_text(node.error()));
    in.node = *std::move(node);
    in.begin();
    for (const core::Condition condition : core::kConditions)
        if (in.node->has(condition)) in.conditions.insert(condition);
    in.publish({});
    in.librarian->ask([&in] { in.shelf->keep_for_open_tokens(); }, false);
    in.strand.post([&in] { in.look_at_disk(); });
    return std::unique_ptr<Host>{new Host{std::move(inside)}};
}

Result<void> Host::stop() {
    Inside& in = *inside_;
    if (!in.chain) return ok();
    in.miner.reset();
    // Nothing steps any more once this has run; what threads still post finds the flag.
    stream::run_on(in.strand, [&] {
        in.stopped = true;
        in.wake.reset();
        in.disk_look.reset();
        in.peers = nullptr;
    });
    in.librarian->stop();
    in.verifier->stop();
    in.syncer->stop();
    in.node.reset();
    auto closed = in.has_failed ? Result<void>{} : in.accepted->sync();
    if (auto chain_closed = in.has_failed ? Result<void>{} : in.chain->close(); !chain_closed || closed)
        closed = std::move(chain_closed);
    if (!closed && closed.error().kind == ErrorKind::Exhausted) {
        // All that anybody was told of is in the log; the next start reads from there what the index lacks.
        in.log.warn("the disk is full: the next start takes longer", {{"why", closed.error()}});
        closed = ok();
    }
    in.chain.reset();
    return closed;
}

std::shared_ptr<const NodeView> Host::view() const { return inside_->view.load(); }
const store::Store& Host::store() const { return inside_->chain->store(); }
const ledger::Rules& Host::rules() const { return inside_->rules; }
const consensus::MemberKey& Host::key() const { return inside_->signer.key(); }
const stream::Strand& Host::strand() const { return inside_->strand; }

core::ClientId Host::submit(ledger::SharedTx tx, std::function<void(const core::Answer&)> told,
                            core::Remember remember) {
    const core::ClientId client{++inside_->last_client};
    inside_->strand.post([in = inside_.get(), client, tx = std::move(tx), told = std::move(told), remember]() mutable {
        if (in->stopped) return;
        in->clients.emplace(client, std::move(told));
        in->step(core::Submit{client, std::move(tx), remember});
    });
    return client;
}

void Host::forget(core::ClientId client) {
    inside_->strand.post([in = inside_.get(), client] {
        if (in->clients.erase(client) > 0) in->step(core::Forget{client});
    });
}

void Host::inspect(std::function<void(const core::Node*)> look) {
    inside_->strand.post(
        [in = inside_.get(), look = std::move(look)] { look(in->stopped ? nullptr : in->node.get()); });
}

void Host::fate_of(const ledger::TxId& id, std::function<void(const Fate&)> told) {
    inside_->strand.post([in = inside_.get(), id, told = std::move(told)] {
        Fate fate;
        if (!in->stopped) fate.pending = in->node->pending_tx(id);
        if (const ledger::Reject* why = in->refusals.get(id); why != nullptr && !fate.pending) fate.refused = *why;
        if (!in->stopped && !fate.pending && !fate.refused)
            if (auto lost = in->accepted->lost(id)) fate.refused = std::move(lost->why);
        told(fate);
    });
}

std::shared_ptr<void> Host::watch(std::function<void(const core::Notice&, const NodeView&)> told) {
    auto watcher = std::make_shared<Inside::Watcher>(std::move(told));
    inside_->strand.post([in = inside_.get(), weak = std::weak_ptr{watcher}] { in->watchers.push_back(weak); });
    return watcher;
}

void Host::set_remaker(std::function<bool(const ledger::TxId& lost, Remade told)> remake) {
    stream::run_on(inside_->strand, [&] { inside_->remake = std::move(remake); });
}

std::shared_ptr<void> Host::watch_lost(std::function<void(const store::LostTx&)> told) {
    auto watcher = std::make_shared<Inside::LostWatcher>(std::move(told));
    inside_->strand.post([in = inside_.get(), weak = std::weak_ptr{watcher}] { in->lost_watchers.push_back(weak); });
    return watcher;
}

std::vector<store::LostTx> Host::lost() const { return inside_->accepted->lost(); }

core::Node::Reach Host::reach() const { return inside_->node ? inside_->node->reach() : core::Node::Reach{}; }
void Host::set_peers(PeerPort* peers) { inside_->peers = peers; }
void Host::step(core::EventKind event) { inside_->step(std::move(event)); }
Result<void> Host::put_note(std::string_view table, std::string_view name, ByteView bytes) {
    return inside_->chain->store().put_note(table, name, bytes);
}

}  // namespace rhizome::node
