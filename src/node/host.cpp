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
#include "node/state_shelf.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"
#include "runtime/thread_pool.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

/// Headers below the newest final block that a starting node has in memory; older ones are looked up.
constexpr std::uint64_t kHeadersBelowFinal = 1'024;
constexpr seconds kDiskLook{5};
/// Below twice what the store keeps free for itself no new orders are taken.
constexpr std::uint64_t kDiskLow = 2 * store::Options{}.reserve_bytes;
/// Refusals that are remembered for those who ask later: about a megabyte.
constexpr std::size_t kRefusalsMax = 4'096;
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
    [[nodiscard]] std::optional<ledger::Header> header(const ledger::BlockHash& hash) const override {
        const auto info = store_.info(hash);
        if (!info) return std::nullopt;
        return info->header;
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

/// What the core starts from.
Result<core::Start> start_of(const store::Chain& chain) {
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
    std::unique_ptr<StoreHistory> history{};
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
    std::atomic<std::uint64_t> last_client = 0;
    LruCache<ledger::TxId, ledger::Reject> refusals{kRefusalsMax};
    using Watcher = std::function<void(const core::Notice&, const NodeView&)>;
    std::vector<std::weak_ptr<Watcher>> watchers{};
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
            const core::EventKind next = std::move(events.front());
            events.pop_front();
            std::vector<core::Notice> notices;
            for (core::Effect& effect : node->step({runtime::now(), next})) perform(effect, notices);
            publish(notices);
            // After the view: whoever was told that something is final finds it so.
            for (const core::Answer& answer : std::exchange(answers, {})) tell(answer);
        }
        events.clear();
        is_stepping = false;
    }

    void perform(core::Effect& effect, std::vector<core::Notice>& notices);
    Result<void> write(const core::Write& what);
    /// On the librarian's thread.
    core::OldState find_state(const ledger::BlockHash& block) const;
    void tell(const core::Answer& answer);
    void publish(const std::vector<core::Notice>& notices);
    void follow_usual(const core::TipMoved& moved);
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
        // While it is not known what was signed before, nothing new is signed that a later record would need.
        if (!votes->complete) return ok();
        if (store.votes().complete) {
            TRY(store.record_vote(votes->record));
        } else {
            TRY(store.complete_votes(votes->record));
        }
    } else if (const auto* final_block = std::get_if<core::MarkFinal>(&what)) {
        TRY(store.mark_final(final_block->block));
    }
    return ok();
}

void Host::Inside::perform(core::Effect& effect, std::vector<core::Notice>& notices) {
    if (const auto* send = std::get_if<core::Send>(&effect)) {
        if (peers != nullptr) peers->send(send->to, send->message);
    } else if (const auto* persist = std::get_if<core::Persist>(&effect)) {
        if (const auto written = write(persist->what); !written) fail_with(written.error());
    } else if (const auto* sync = std::get_if<core::Sync>(&effect)) {
        syncer->ask(sync->up_to, true);
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
    } else if (const auto* old = std::get_if<core::FindState>(&effect)) {
        log.info("a recovery parts from this chain far below: it is executed again up to there",
                 {{"block", old->block.hex()}});
        librarian->ask([this, block = old->block] { post(find_state(block)); }, false);
    } else if (const auto* answer = std::get_if<core::Answer>(&effect)) {
        if (answer->refused) refusals.put(answer->tx, *answer->refused);
        answers.push_back(*answer);
    } else if (const auto* blame = std::get_if<core::Blame>(&effect)) {
        log.debug("a peer sent what no honest one sends", {{"peer", blame->peer}, {"why", to_text(blame->why)}});
        if (peers != nullptr) peers->blame(blame->peer, blame->why);
    } else if (const auto* praise = std::get_if<core::Praise>(&effect)) {
        if (peers != nullptr) peers->praise(praise->peer);
    } else if (auto* notice = std::get_if<core::Publish>(&effect)) {
        if (const auto* changed = std::get_if<core::ConditionChanged>(&notice->notice)) {
            if (changed->holds) {
                conditions.insert(changed->condition);
            } else {
                conditions.erase(changed->condition);
            }
        } else if (const auto* back = std::get_if<core::FinalsTakenBack>(&notice->notice)) {
            log.warn("a recovery took back what was final",
                     {{"from", back->from}, {"to", back->to}, {"generation", back->generation}});
        }
        notices.push_back(std::move(notice->notice));
    }
}

core::OldState Host::Inside::find_state(const ledger::BlockHash& block) const {
    Inline one_core;  // the others have a chain to keep up with
    auto found = store::execute_again(chain->store(), block, chain->rules(), one_core);
    if (found) return {.block = block, .view = *std::move(found)};
    log.warn("an old state cannot be had here", {{"block", block.hex()}, {"why", found.error()}});
    return {.block = block};
}

void Host::Inside::tell(const core::Answer& answer) {
    const auto client = clients.find(answer.client);
    if (client == clients.end()) return;
    const auto told = client->second;
    if (answer.stage == core::Stage::Final || answer.stage == core::Stage::Refused) clients.erase(client);
    told(answer);
}

void Host::Inside::publish(const std::vector<core::Notice>& notices) {
    const auto before = view.load();
    const auto tip = node->tip_hash();
    if (before && notices.empty() && before->tip_hash == tip && before->pending == node->pending() &&
        before->final_block == node->final_block() && before->generation_heard == node->generation_heard())
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
    now->pending = node->pending();
    now->conditions = conditions;
    now->usage = node->usage();
    now->traffic = node->traffic();
    for (const core::Notice& notice : notices)
        if (const auto* moved = std::get_if<core::TipMoved>(&notice)) follow_usual(*moved);
    now->unusual = usual.seen();
    view.store(now);
    for (const core::Notice& notice : notices)
        if (const auto* moved = std::get_if<core::TipMoved>(&notice); moved != nullptr && has_new_token(moved->change))
            librarian->ask([this, block = moved->to] { shelf->keep(block); }, false);
    std::erase_if(watchers, [](const auto& one) { return one.expired(); });
    for (const core::Notice& notice : notices)
        for (const auto& one : watchers)
            if (const auto watcher = one.lock()) (*watcher)(notice, *now);
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
    if (const auto usage = chain->store().usage()) step(core::DiskLow{usage->free_bytes < kDiskLow});
    if (miner) {
        Writer out;
        out.u64(miner->nonce());
        (void)chain->store().put_note(kNotes, kNonce, out.view());
    }
    librarian->ask([this] { shelf->tidy(); }, false);
    disk_look->set(stream::after(kDiskLook));
}

void Host::Inside::begin() {
    wake = std::make_unique<stream::Timer>(strand, [this] { step(core::Tick{}); });
    disk_look = std::make_unique<stream::Timer>(strand, [this] { look_at_disk(); });
    syncer = std::make_unique<Worker<core::Ticket>>([this](core::Ticket up_to) {
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
    TRY(const auto start, start_of(*in.chain));
    in.history = std::make_unique<StoreHistory>(in.chain->store());
    auto node = core::Node::start(in.options.core, start,
                                  {.blocks = in.chain->store(),
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
    in.publish({});
    in.librarian->ask([&in] { in.shelf->keep_for_open_tokens(); }, false);
    in.strand.post([&in] {
        in.look_at_disk();
        in.step(core::Tick{});
    });
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
    auto closed = in.has_failed ? Result<void>{} : in.chain->close();
    in.chain.reset();
    return closed;
}

std::shared_ptr<const NodeView> Host::view() const { return inside_->view.load(); }
const store::Store& Host::store() const { return inside_->chain->store(); }
const ledger::Rules& Host::rules() const { return inside_->rules; }
const consensus::MemberKey& Host::key() const { return inside_->signer.key(); }
const stream::Strand& Host::strand() const { return inside_->strand; }

core::ClientId Host::submit(ledger::SharedTx tx, std::function<void(const core::Answer&)> told) {
    const core::ClientId client{++inside_->last_client};
    inside_->strand.post([in = inside_.get(), client, tx = std::move(tx), told = std::move(told)]() mutable {
        if (in->stopped) return;
        in->clients.emplace(client, std::move(told));
        in->step(core::Submit{client, std::move(tx)});
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
        told(fate);
    });
}

std::shared_ptr<void> Host::watch(std::function<void(const core::Notice&, const NodeView&)> told) {
    auto watcher = std::make_shared<Inside::Watcher>(std::move(told));
    inside_->strand.post([in = inside_.get(), weak = std::weak_ptr{watcher}] { in->watchers.push_back(weak); });
    return watcher;
}

void Host::set_peers(PeerPort* peers) { inside_->peers = peers; }
void Host::step(core::EventKind event) { inside_->step(std::move(event)); }
Result<void> Host::put_note(std::string_view table, std::string_view name, ByteView bytes) {
    return inside_->chain->store().put_note(table, name, bytes);
}

}  // namespace rhizome::node
