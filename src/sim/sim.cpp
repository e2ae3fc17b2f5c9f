// SPDX-License-Identifier: Apache-2.0
#include "sim/sim.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/judge.h"
#include "consensus/miner.h"

namespace rhizome::sim {
namespace {

/// A link that carries nothing is noticed after a while, one that carries again soon.
constexpr milliseconds kLinkDownMax{8'000};
constexpr milliseconds kLinkUpMax{400};
constexpr milliseconds kAskAgain{1'000};
/// A part of a state is looked up and written out.
constexpr milliseconds kLookUp{2};
/// A chain is executed again from where it begins on the disk.
constexpr milliseconds kExecuteAgain{500};
/// Disks that take longer are called slow by those who watch.
constexpr milliseconds kQuickSyncMax{1};

}  // namespace

Sim::Sim(const Setup& setup)
    : setup_(setup),
      random_(setup.seed),
      founding_(found(setup.machines, setup.spec, setup.start)),
      checks_(archive_),
      now_(setup.start + seconds{2}) {
    const auto genesis = std::make_shared<const ledger::Block>(founding_.genesis.block);
    archive_.put(genesis);
    archive_.put(founding_.members);
    const auto first = hash_of(genesis->header);
    const auto second = hash_of(founding_.members->header);
    const FirstStates states = first_states(founding_);
    archive_.keep(first, states.genesis);
    archive_.keep(second, states.members);
    machines_.reserve(setup.machines);
    for (std::size_t i = 0; i < setup.machines; ++i) {
        Machine& machine = machines_.emplace_back(archive_, setup.disk);
        const auto keys = keys_of(i).public_keys();
        std::array<std::uint8_t, 32> vrf{};
        std::copy(keys.vrf.view().begin(), keys.vrf.view().end(), vrf.begin());
        machine.signer = std::make_unique<FastSigner>(keys.chain.bytes(), vrf);
        machine.disk.begin(first, second);
        machine.sync_min = setup.sync_min;
        machine.sync_max = setup.sync_max;
        machine.hash_rate = setup.hash_rate;
        machine.nonce = std::uint64_t{i} << 32;
        checks_.note_honest(machine.signer->key(), true);
    }
    for (const auto& [left, right] : setup.links) {
        machines_[left].neighbours.insert(right);
        machines_[right].neighbours.insert(left);
    }
    for (std::size_t i = 0; i < setup.machines && setup.links.empty() && !setup.links_by_hand; ++i) {
        if (setup.neighbours == 0 || setup.machines <= setup.neighbours + 1) {
            for (std::size_t j = 0; j < setup.machines; ++j)
                if (j != i) machines_[i].neighbours.insert(j);
            continue;
        }
        // A ring, so that all hang together, and others at random.
        const auto link = [&](std::size_t other) {
            machines_[i].neighbours.insert(other);
            machines_[other].neighbours.insert(i);
        };
        link((i + 1) % setup.machines);
        while (machines_[i].neighbours.size() < setup.neighbours) {
            const std::size_t other = random_.below(setup.machines);
            if (other != i) link(other);
        }
    }
    for (std::size_t i = 0; i < std::min(setup.running, setup.machines); ++i) start(i);
}

Sim::~Sim() = default;

void Sim::at(Time when, std::function<void()> what) {
    queue_.push_back({.when = std::max(when, now_), .number = ++numbers_, .what = std::move(what)});
    std::push_heap(queue_.begin(), queue_.end(), Later{});
}

void Sim::do_next() {
    std::pop_heap(queue_.begin(), queue_.end(), Later{});
    const Pending next = std::move(queue_.back());
    queue_.pop_back();
    now_ = next.when;
    next.what();
}

Sim& Sim::run(microseconds duration) {
    const Time end = now_ + duration;
    while (!queue_.empty() && queue_.front().when <= end) do_next();
    now_ = end;
    return *this;
}

bool Sim::run_until(const std::function<bool()>& done, microseconds most) {
    const Time end = now_ + most;
    if (done()) return true;
    while (!queue_.empty() && queue_.front().when <= end) {
        do_next();
        if (done()) return true;
    }
    now_ = end;
    return done();
}

// ---- machines
// ----------------------------------------------------------------------------------------------------------

void Sim::start(std::size_t index) {
    Machine& machine = machines_[index];
    if (machine.node) return;
    ++machine.life;
    if (machine.disk.is_damaged()) {
        if (watch) see(index, DiskChanged{DiskState::New});
        machine.disk.replace();
        if (disk_replaced) disk_replaced(index);
    }
    const core::Ports ports{.blocks = machine.disk,
                            .history = machine.disk,
                            .rules = rules_,
                            .signatures = signatures_,
                            .signer = machine.signer.get(),
                            .cache = cache_,
                            .parallel = inline_,
                            .memory = &archive_,
                            .orders = &archive_};
    auto node = core::Node::start(setup_.config, machine.disk.start(founding_.chain, random_.next()), ports,
                                  now_ + machine.clock_ahead);
    if (!node) return checks_.fault(fmt::format("machine {} does not start: {}", index, to_text(node.error())));
    machine.node = *std::move(node);
    checks_.started(index);
    machine.wake = {};
    machine.disk_free = now_;
    if (watch) see(index, Started{});
    if (power_changed) power_changed(index, true);
    update_links();
    step(index, core::Tick{});
    if (machine.disk_low) step(index, core::DiskLow{true});
    for (std::size_t order = 0; order < orders_.size(); ++order)
        if (orders_[order].open && orders_[order].machine == index)
            after(kAskAgain, [this, order] { ask_again(order); });
}

void Sim::crash(std::size_t index, std::uint64_t keep) {
    Machine& machine = machines_[index];
    if (!is_running(index)) return;
    if (watch) see(index, PowerLost{});
    machine.node.reset();
    machine.fetch.reset();
    ++machine.life;
    machine.disk.lose(keep);
    machine.paused_until = {};
    machine.inbox.clear();
    for (const std::size_t other : std::set<std::size_t>{machine.linked}) disconnect(index, other);
    if (power_changed) power_changed(index, false);
    for (std::size_t order = 0; order < orders_.size(); ++order)
        if (orders_[order].open && orders_[order].machine == index)
            after(kAskAgain, [this, order] { ask_again(order); });
}

void Sim::crash_when_it_speaks(std::size_t index, microseconds back_after) {
    machines_[index].dies_speaking = back_after;
}

void Sim::note_own_words(std::size_t index, const core::Message& message) {
    Machine& machine = machines_[index];
    bool own = false;
    if (const auto* votes = std::get_if<core::Votes>(&message)) {
        for (const consensus::VoteGroup& group : votes->groups) {
            const auto& key = machine.signer->key();
            const auto found = std::lower_bound(
                group.votes.begin(), group.votes.end(), key,
                [](const auto& one, const auto& wanted) { return consensus::MemberLess{}(one.voter, wanted); });
            if (found == group.votes.end() || found->voter != key) continue;
            checks_.vote_sent({key, group.ballot, found->signature});
            own = true;
        }
    }
    const auto note_block = [&](const ledger::Block& block) {
        checks_.block_sent(block);
        const auto proposer = consensus::proposer_in(block.seal);
        own |= proposer && *proposer == machine.signer->key();
    };
    if (const auto* news = std::get_if<core::NewBlock>(&message)) note_block(*news->block);
    if (const auto* answer = std::get_if<core::Blocks>(&message))
        for (const core::SharedBlock& block : answer->blocks) note_block(*block);
    const auto note_sealed = [&](const core::SealedHeader& one) {
        note_block({.header = one.header, .signature = one.signature, .txs = {}, .seal = one.seal});
    };
    if (const auto* compact = std::get_if<core::CompactBlock>(&message)) note_sealed(compact->sealed);
    if (const auto* headers = std::get_if<core::Headers>(&message))
        for (const core::SealedHeader& one : headers->headers) note_sealed(one);
    if (!own || !machine.dies_speaking) return;
    const microseconds back_after = *machine.dies_speaking;
    machine.dies_speaking.reset();
    const std::uint64_t life = machine.life;
    // The rest of what this step says still leaves, in the same moment.
    at(now_, [this, index, life, back_after] {
        if (machines_[index].life != life) return;
        crash(index, 0);
        after(back_after, [this, index] { start(index); });
    });
}

void Sim::replace_disk(std::size_t index) {
    ensure(!machines_[index].node, "a disk is replaced while the machine is off");
    machines_[index].disk.replace();
    if (disk_replaced) disk_replaced(index);
    if (watch) see(index, DiskChanged{DiskState::New});
}

void Sim::install_snapshot(std::size_t index, std::size_t from) {
    ensure(!machines_[index].node, "a snapshot is installed while the machine is off");
    machines_[index].disk.install(machines_[from].node->final_block());
}

void Sim::fetch_state(std::size_t index, const ledger::BlockHash& trusted) {
    Machine& machine = machines_[index];
    ensure(!is_running(index), "a state is fetched by a machine that has none");
    ++machine.life;
    machine.fetch = std::make_unique<core::StateFetch>(setup_.config, core::TrustedBlock{founding_.chain, trusted},
                                                       signatures_, inline_);
    machine.trusted = trusted;
    update_links();
}

void Sim::take_fetched(std::size_t index) {
    Machine& machine = machines_[index];
    const auto fetched = machine.fetch->take();
    const state::StateView* right = archive_.view(machine.trusted);
    if (!fetched || right == nullptr || fetched->view.root() != right->root())
        return checks_.fault(fmt::format("machine {} has fetched another state than it asked for", index));
    machine.fetch.reset();
    for (const std::size_t other : std::set<std::size_t>{machine.linked}) disconnect(index, other);
    machine.disk.install(machine.trusted);
    start(index);
}

core::Message Sim::look_up(std::size_t index, const core::LookUpState& order) {
    const Machine& machine = machines_[index];
    const auto* part = std::get_if<core::WantPart>(&order.wanted);
    const auto hash = part != nullptr ? part->block : std::get<core::WantManifest>(order.wanted).block;
    const auto block = machine.disk.block(hash);
    const state::StateView* view = archive_.view(hash);
    const bool has_it = block && view != nullptr && block->header.height <= machine.node->final_height();
    const ledger::SnapshotManifest* manifest = nullptr;
    if (has_it) {
        auto& known = manifests_[hash];
        if (known.partition.parts.empty())
            known = ledger::make_manifest(founding_.chain, *block, *view, {}, setup_.state_part_bytes).value();
        manifest = &known;
    }
    if (part == nullptr) return core::StateManifest{hash, manifest == nullptr ? Bytes{} : ledger::encode(*manifest)};
    core::StatePart answer{.block = hash, .part = part->part};
    if (manifest != nullptr && part->part < manifest->partition.parts.size())
        answer.bytes = ledger::encode_part(*view, *manifest, part->part);
    return answer;
}

bool Sim::restore_backup(std::size_t index) {
    ensure(!machines_[index].node, "a backup is restored while the machine is off");
    const bool restored = machines_[index].disk.restore();
    if (watch && restored) see(index, DiskChanged{DiskState::Restored});
    return restored;
}

bool Sim::misdirect(std::size_t index) {
    const bool damaged = machines_[index].disk.misdirect(random_);
    if (watch && damaged) see(index, DiskChanged{DiskState::Damaged});
    return damaged;
}

void Sim::back_up(std::size_t index) {
    machines_[index].disk.back_up();
    if (watch) see(index, DiskChanged{DiskState::Copied});
}

void Sim::pause(std::size_t index, microseconds duration) {
    Machine& machine = machines_[index];
    const Time until = now_ + duration;
    if (watch && (until > now_ || machine.paused_until > now_)) see(index, Paused{duration});
    machine.paused_until = until;
    if (until <= now_ && !machine.inbox.empty()) drain_inbox(index);
}
void Sim::set_clock(std::size_t index, microseconds ahead) {
    if (watch && machines_[index].clock_ahead != ahead) see(index, ClockSet{ahead});
    machines_[index].clock_ahead = ahead;
    if (machines_[index].node) step(index, core::Tick{});
}

void Sim::set_disk_low(std::size_t index, bool low) {
    if (watch && machines_[index].disk_low != low) see(index, DiskChanged{low ? DiskState::Low : DiskState::Roomy});
    machines_[index].disk_low = low;
    if (machines_[index].node) step(index, core::DiskLow{low});
}

void Sim::clog(std::size_t index, microseconds sync_min, microseconds sync_max) {
    const bool slow = sync_max > kQuickSyncMax;
    if (watch && slow != (machines_[index].sync_max > kQuickSyncMax))
        see(index, DiskChanged{slow ? DiskState::Slow : DiskState::Quick});
    machines_[index].sync_min = sync_min;
    machines_[index].sync_max = sync_max;
}

void Sim::corrupt(std::size_t index, std::unique_ptr<Byzantine> liar) {
    checks_.note_honest(machines_[index].signer->key(), false);
    if (watch) see(index, BeganToLie{liar->describe()});
    machines_[index].liar = std::move(liar);
}

void Sim::let_lie(std::size_t index) {
    if (machines_[index].node && machines_[index].liar) machines_[index].liar->act(*this, index);
}

void Sim::see_write(std::size_t index, const core::Write& what) {
    const auto* append = std::get_if<core::AppendBlock>(&what);
    const auto* keep = std::get_if<core::KeepBlock>(&what);
    if (append == nullptr && keep == nullptr) return;
    const ledger::Block& block = append != nullptr ? *append->block : *keep->block;
    const auto proposer = consensus::proposer_in(block.seal);
    std::size_t who = kNobody;
    for (std::size_t i = 0; i < machines_.size() && proposer && who == kNobody; ++i)
        if (machines_[i].signer->key() == *proposer) who = i;
    see(index, BlockKept{.hash = hash_of(block.header),
                         .parent = block.header.previous,
                         .height = block.header.height.number(),
                         .proposer = who,
                         .transactions = block.txs.size()});
}

void Sim::drain_inbox(std::size_t index) {
    Machine& machine = machines_[index];
    if (now_ < machine.paused_until) {
        const std::uint64_t life = machine.life;
        at(machine.paused_until, [this, index, life] {
            if (machines_[index].life == life) drain_inbox(index);
        });
        return;
    }
    const std::uint64_t life = machine.life;
    auto waiting = std::exchange(machine.inbox, {});
    for (core::EventKind& kind : waiting) {
        if (machine.life != life) return;
        step(index, std::move(kind));
    }
}

void Sim::step(std::size_t index, core::EventKind kind) {
    Machine& machine = machines_[index];
    if (!is_running(index)) return;
    if (now_ < machine.paused_until || !machine.inbox.empty()) {
        // In the order it came, however often it is paused again.
        machine.inbox.push_back(std::move(kind));
        if (machine.inbox.size() == 1) drain_inbox(index);
        return;
    }
    ++events_;
    const std::size_t which = kind.index();
    const core::Event event{.now = now_ + machine.clock_ahead, .kind = std::move(kind)};
    auto effects = machine.node ? machine.node->step(event) : machine.fetch->step(event);
    const std::uint64_t life = machine.life;
    for (core::Effect& effect : effects) {
        perform(index, effect);
        if (machine.life != life) break;  // the test's own watcher has crashed it
    }
    const auto mix = [&](std::uint64_t word) { trace_ = (trace_ ^ word) * 0x100000001b3; };
    mix(static_cast<std::uint64_t>(now_.since_epoch().count()));
    mix(index * 16 + which);
    if (machine.node) mix(std::hash<ledger::BlockHash>{}(machine.node->tip_hash()));
    if (machine.life == life && machine.fetch && machine.fetch->is_done()) take_fetched(index);
}

/// The nonce is looked for at once, and found when the machine would have tried as many as that took.
void Sim::mine(std::size_t index, const core::Mine& order) {
    Machine& machine = machines_[index];
    machine.mining = order.id;
    if (!order.header || machine.hash_rate == 0) return;
    const std::uint64_t found = consensus::find_nonce(*order.header, machine.nonce);
    const std::uint64_t tried = found - machine.nonce + 1;
    const auto took = microseconds{static_cast<std::int64_t>(tried * 1'000'000 / machine.hash_rate)};
    const std::uint64_t life = machine.life;
    at(now_ + took, [this, index, life, found, id = order.id] {
        if (machines_[index].life != life || machines_[index].mining != id) return;
        machines_[index].nonce = found + 1;
        step(index, core::Mined{id, found});
    });
}

void Sim::set_hash_rate(std::size_t machine, std::uint64_t nonces_a_second) {
    machines_[machine].hash_rate = nonces_a_second;
}

void Sim::perform(std::size_t index, core::Effect& effect) {
    Machine& machine = machines_[index];
    const std::uint64_t life = machine.life;
    const auto later = [&](Time when, core::EventKind kind) {
        at(when, [this, index, life, kind = std::move(kind)]() mutable {
            if (machines_[index].life == life) step(index, std::move(kind));
        });
    };
    if (auto* send = std::get_if<core::Send>(&effect)) {
        const auto to = machine.peers.find(send->to);
        if (to == machine.peers.end()) return;
        core::SharedMessage message = std::move(send->message);
        if (machine.liar) {
            // Half of its neighbours get whole blocks to be lied about, the others compact ones.
            if (const auto* compact = std::get_if<core::CompactBlock>(message.get());
                compact != nullptr && to->second % 2 == 0)
                if (auto block = machine.disk.block(hash_of(compact->sealed.header)))
                    message = std::make_shared<const core::Message>(
                        core::NewBlock{std::make_shared<const ledger::Block>(*std::move(block))});
            message = machine.liar->outgoing(*this, index, to->second, std::move(message));
        }
        if (!message) return;
        if (!machine.liar) note_own_words(index, *message);
        send_as(index, to->second, message);
    } else if (auto* persist = std::get_if<core::Persist>(&effect)) {
        if (watch) see_write(index, persist->what);
        if (const auto broken = machine.disk.write(persist->ticket, persist->what); broken && !machine.liar)
            checks_.fault(fmt::format("machine {}'s store ends the process: {}", index, *broken));
    } else if (const auto* sync = std::get_if<core::Sync>(&effect)) {
        // One sync after the other, as on a real disk.
        const auto took = microseconds{random_.between(machine.sync_min.count(), machine.sync_max.count())};
        machine.disk_free = std::max(machine.disk_free, now_) + took;
        const core::Ticket up_to = sync->up_to;
        at(machine.disk_free, [this, index, life, up_to] {
            if (machines_[index].life != life) return;
            machines_[index].disk.sync(up_to);
            step(index, core::Stored{up_to});
        });
    } else if (const auto* wake = std::get_if<core::Wake>(&effect)) {
        const Time when = std::max(wake->at - machine.clock_ahead, now_);
        machine.wake = when;
        at(when, [this, index, life, when] {
            if (machines_[index].life == life && machines_[index].wake == when) step(index, core::Tick{});
        });
    } else if (std::holds_alternative<core::Continue>(effect)) {
        later(now_, core::Resume{});
    } else if (auto* verify = std::get_if<core::Verify>(&effect)) {
        core::Verified answer{.batch = verify->batch};
        for (const core::SignatureJob& job : verify->jobs)
            answer.good.push_back(signatures_.is_good(job.key, job.digest, job.signature));
        later(now_ + microseconds{static_cast<std::int64_t>(verify->jobs.size())}, std::move(answer));
    } else if (const auto* wanted = std::get_if<core::LookUpState>(&effect)) {
        later(now_ + kLookUp,
              core::StateFound{wanted->to, std::make_shared<const core::Message>(look_up(index, *wanted))});
    } else if (const auto* old = std::get_if<core::FindState>(&effect)) {
        later(now_ + kExecuteAgain, core::OldState{old->block, machine.disk.state_after(old->block)});
    } else if (const auto* order = std::get_if<core::Mine>(&effect)) {
        mine(index, *order);
    } else if (const auto* said = std::get_if<core::Answer>(&effect)) {
        answer(index, *said);
    } else if (const auto* publish = std::get_if<core::Publish>(&effect)) {
        if (const auto* moved = std::get_if<core::TipMoved>(&publish->notice)) {
            if (!machine.liar) checks_.tip_moved(index, *moved);
            if (watch)
                see(index, TipChanged{.from = moved->from,
                                      .to = moved->to,
                                      .height = machine.node->tip().height.number(),
                                      .undone = moved->undone.size(),
                                      .applied = moved->applied.size()});
        } else if (const auto* final_block = std::get_if<core::FinalMoved>(&publish->notice)) {
            if (!machine.liar) checks_.final_moved(index, final_block->block, machine.node->final_generation());
            if (watch) see(index, FinalAdvanced{final_block->block, final_block->height.number()});
        } else if (const auto* back = std::get_if<core::FinalsTakenBack>(&publish->notice)) {
            if (!machine.liar) checks_.finals_taken_back(index, back->generation);
        } else if (const auto* changed = std::get_if<core::ConditionChanged>(&publish->notice)) {
            if (watch) see(index, ConditionSeen{changed->condition, changed->holds});
        }
    } else if (const auto* praise = std::get_if<core::Praise>(&effect)) {
        const auto who = machine.peers.find(praise->peer);
        if (praised && who != machine.peers.end())
            at(now_, [this, index, other = who->second] {
                if (praised) praised(index, other);
            });
    } else if (const auto* blame = std::get_if<core::Blame>(&effect)) {
        const auto who = machine.peers.find(blame->peer);
        if (who != machine.peers.end() && !machine.liar && !machines_[who->second].liar)
            checks_.fault(
                fmt::format("machine {} blames honest machine {}: {}", index, who->second, to_text(blame->why)));
        if (blamed && who != machine.peers.end())
            at(now_, [this, index, other = who->second, why = blame->why] {
                if (blamed) blamed(index, other, why);
            });
        if (watch && who != machine.peers.end()) see(index, Blamed{who->second, std::string{name(blame->why.code)}});
    }
}

// ---- network
// -----------------------------------------------------------------------------------------------------------

bool Sim::can_hear(std::size_t from, std::size_t to) const { return !blocked_.contains({from, to}); }

template <class Arrive>
void Sim::carry_held(std::size_t from, std::size_t to, microseconds held, const Arrive& arrive) {
    const auto own = links_.find({from, to});
    const LinkQuality& link = own == links_.end() ? setup_.link : own->second;
    if (!can_hear(from, to) || random_.below(1'000) < link.loss) return;
    const int copies = link.duplicate > 0 && random_.below(1'000) < link.duplicate ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
        const auto jitter =
            link.jitter.count() > 0 ? microseconds{random_.between(0, link.jitter.count())} : microseconds{0};
        const std::uint64_t life = machines_[to].life;
        at(now_ + link.delay + jitter + held, [this, from, to, life, arrive] {
            if (machines_[to].life == life && can_hear(from, to)) arrive();
        });
    }
}

void Sim::carry(std::size_t from, std::size_t to, const std::function<void()>& arrive) {
    carry_held(from, to, microseconds{0}, arrive);
}

void Sim::send_as(std::size_t from, std::size_t to, const core::SharedMessage& message) {
    if (overhear) overhear(from, to, *message);
    carry_held(from, to, hold_up ? hold_up(from, to, *message) : microseconds{0},
               [this, from, to, message] { deliver(from, to, message); });
}

void Sim::deliver(std::size_t from, std::size_t to, const core::SharedMessage& message) {
    const auto peer = machines_[to].peer_of.find(from);
    if (peer == machines_[to].peer_of.end()) return;
    step(to, core::Heard{peer->second, message});
}

void Sim::connect(std::size_t left, std::size_t right) {
    for (const auto& [self, other] : {std::pair{left, right}, std::pair{right, left}}) {
        const core::PeerId id{++peer_numbers_};
        machines_[self].linked.insert(other);
        machines_[self].peers[id] = other;
        machines_[self].peer_of[other] = id;
    }
    step(left, core::PeerUp{machines_[left].peer_of[right]});
    step(right, core::PeerUp{machines_[right].peer_of[left]});
    if (!link_changed) return;
    link_changed(left, right, true);
    link_changed(right, left, true);
}

void Sim::disconnect(std::size_t left, std::size_t right) {
    for (const auto& [self, other] : {std::pair{left, right}, std::pair{right, left}}) {
        Machine& machine = machines_[self];
        if (!machine.linked.erase(other)) continue;
        const core::PeerId id = machine.peer_of[other];
        machine.peer_of.erase(other);
        machine.peers.erase(id);
        step(self, core::PeerDown{id});
        if (link_changed) link_changed(self, other, false);
    }
}

void Sim::link(std::size_t left, std::size_t right) {
    if (is_running(left) && is_running(right) && !machines_[left].linked.contains(right)) connect(left, right);
}

void Sim::unlink(std::size_t left, std::size_t right) { disconnect(left, right); }

void Sim::update_links() {
    for (std::size_t left = 0; left < machines_.size(); ++left)
        for (const std::size_t right : machines_[left].neighbours) {
            if (right < left) continue;
            const bool wanted = is_running(left) && is_running(right) && can_hear(left, right) && can_hear(right, left);
            const bool linked = machines_[left].linked.contains(right);
            if (wanted == linked) continue;
            const auto delay = microseconds{
                random_.between(0, wanted ? microseconds{kLinkUpMax}.count() : microseconds{kLinkDownMax}.count())};
            after(delay, [this, left, right, wanted] {
                const bool possible =
                    is_running(left) && is_running(right) && can_hear(left, right) && can_hear(right, left);
                if (possible != wanted || machines_[left].linked.contains(right) == wanted) return;
                if (wanted) {
                    connect(left, right);
                } else {
                    disconnect(left, right);
                }
            });
        }
}

Sim& Sim::split(const std::vector<std::vector<std::size_t>>& groups) {
    std::vector<std::size_t> group_of(machines_.size(), SIZE_MAX);
    for (std::size_t g = 0; g < groups.size(); ++g)
        for (const std::size_t machine : groups[g]) group_of[machine] = g;
    for (std::size_t left = 0; left < machines_.size(); ++left)
        for (std::size_t right = 0; right < machines_.size(); ++right) {
            if (left == right) continue;
            if (group_of[left] != group_of[right] || group_of[left] == SIZE_MAX) {
                blocked_.insert({left, right});
            } else {
                blocked_.erase({left, right});
            }
        }
    if (watch) see(kNobody, NetworkSplit{groups});
    update_links();
    return *this;
}

Sim& Sim::heal() {
    if (watch && !blocked_.empty()) see(kNobody, NetworkHealed{});
    blocked_.clear();
    update_links();
    return *this;
}

void Sim::block(std::size_t from, std::size_t to, bool blocked) {
    if (watch && blocked_.contains({from, to}) != blocked) see(from, OneWay{to, blocked});
    if (blocked) {
        blocked_.insert({from, to});
    } else {
        blocked_.erase({from, to});
    }
    update_links();
}

void Sim::block_only(std::set<std::pair<std::size_t, std::size_t>> directions) {
    if (watch && directions != blocked_)
        directions.empty() ? see(kNobody, NetworkHealed{})
                           : see(kNobody, NetworkStorm{directions.size(), machines_.size() * (machines_.size() - 1)});
    blocked_ = std::move(directions);
    update_links();
}

void Sim::set_link(std::size_t from, std::size_t to, const LinkQuality& quality) { links_[{from, to}] = quality; }
void Sim::set_links(const LinkQuality& quality) {
    links_.clear();
    setup_.link = quality;
}

// ---- people
// ------------------------------------------------------------------------------------------------------------

std::size_t Sim::submit(std::size_t machine, const ledger::SharedTx& tx) {
    const std::size_t index = orders_.size();
    orders_.push_back({.tx = tx, .machine = machine, .asked = now_});
    ++open_orders_;
    step(machine, core::Submit{core::ClientId{index + 1}, tx});
    if (!machines_[machine].node) after(kAskAgain, [this, index] { ask_again(index); });
    return index;
}

std::size_t Sim::submit_new(std::size_t machine, const std::string& name) {
    const std::size_t index = submit(machine, create_map(machines_[machine].node->state(), name, "new", now_));
    Order& order = orders_[index];
    order.is_new = true;
    check_refusal(index);
    return index;
}

void Sim::check_refusal(std::size_t index) {
    const Order& order = orders_[index];
    if (!order.is_new || !order.refused || order.refused->code == ledger::RejectCode::TooManyPending) return;
    checks_.fault(fmt::format("order {} creates what nobody else names and was refused by {}: {}", index,
                              name_of(order.machine), to_text(*order.refused)));
}

void Sim::ask_again(std::size_t index) {
    Order& order = orders_[index];
    if (!order.open) return;
    if (!is_up(order.machine)) {
        // Its machine is dead: another one will do, if there is any.
        std::vector<std::size_t> up;
        for (std::size_t i = 0; i < machines_.size(); ++i)
            if (is_up(i) && is_honest(i)) up.push_back(i);
        if (!up.empty()) order.machine = up[random_.below(up.size())];
    }
    if (is_up(order.machine)) {
        step(order.machine, core::Submit{core::ClientId{index + 1}, order.tx});
    } else {
        after(kAskAgain, [this, index] { ask_again(index); });
    }
}

bool Sim::is_maker(std::size_t machine, const ledger::BlockHash& hash) const {
    const core::SharedBlock block = archive_.block(hash);
    if (!block) return false;
    const auto proposer = consensus::proposer_in(block->seal);
    return proposer && *proposer == machines_[machine].signer->key();
}

void Sim::answer(std::size_t machine, const core::Answer& said) {
    const std::size_t index = said.client.number() - 1;
    Order& order = orders_[index];
    if (!order.open || order.machine != machine) return;
    order.stage = said.stage;
    if (watch)
        see(machine, OrderAnswered{index, said.stage, order.was_accepted, said.refused ? to_text(*said.refused) : ""});
    switch (said.stage) {
        case core::Stage::Accepted:
            order.was_accepted = true;
            if (!order.accepted) order.accepted = now_;
            break;
        case core::Stage::Included:
            order.was_accepted = true;
            if (!order.accepted) order.accepted = now_;
            if (!order.included) order.included = now_;
            if (is_honest(machine) && is_maker(machine, said.block) && !machines_[machine].disk.is_durable(said.block))
                checks_.fault(fmt::format("{} answered order {} as included, and its own block is not on its disk",
                                          name_of(machine), index));
            break;
        case core::Stage::Refused:
            order.refused = said.refused;
            order.refused_at_once = !order.was_accepted;
            if (!said.refused) checks_.fault(fmt::format("order {} was refused without a reason", index));
            check_refusal(index);
            [[fallthrough]];
        case core::Stage::Final:
            order.finished = now_;
            order.open = false;
            --open_orders_;
            break;
    }
}

void Sim::load(std::uint64_t per_second, const std::vector<std::size_t>& at_machines) {
    load_per_second_ = per_second;
    load_at_ = at_machines;
    ++load_life_;
    if (per_second > 0) one_load_event();
}

void Sim::one_load_event() {
    const std::uint64_t life = load_life_;
    const auto mean = static_cast<std::int64_t>(1'000'000 / load_per_second_);
    after(microseconds{random_.between(mean / 2, mean + mean / 2)}, [this, life] {
        if (life != load_life_) return;
        std::vector<std::size_t> up;
        for (const std::size_t machine : load_at_)
            if (is_up(machine)) up.push_back(machine);
        if (!up.empty()) {
            const std::size_t machine = up[random_.below(up.size())];
            const auto& state = machines_[machine].node->state();
            const std::uint64_t kind = random_.below(20);
            if (kind < 10) {
                submit_new(machine, fmt::format("new{}", load_number_++));
            } else {
                const std::string name = fmt::format("m{}", random_.below(load_number_ + 1));
                ledger::SharedTx tx;
                if (kind == 19) tx = relabel_namespace(state, fmt::format("v{}", random_.below(1'000)));
                if (kind == 17 || kind == 18) tx = update_map(state, name, fmt::format("v{}", random_.below(1'000)));
                if (kind == 15 || kind == 16) tx = delete_map(state, name);
                if (!tx) tx = create_map(state, name, "old", now_);
                submit(machine, tx);
            }
        }
        one_load_event();
    });
}

// ---- looking
// -----------------------------------------------------------------------------------------------------------

std::size_t Sim::distinct_tips() const {
    std::set<ledger::BlockHash> tips;
    for (const Machine& machine : machines_)
        if (machine.node && !machine.liar) tips.insert(machine.node->tip_hash());
    return tips.size();
}

ledger::Height Sim::lowest_final() const {
    ledger::Height lowest{UINT64_MAX};
    for (const Machine& machine : machines_)
        if (machine.node && !machine.liar) lowest = std::min(lowest, machine.node->final_height());
    return lowest;
}

}  // namespace rhizome::sim
