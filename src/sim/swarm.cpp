// SPDX-License-Identifier: Apache-2.0
#include "sim/swarm.h"

#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "consensus/electorate.h"
#include "sim/liars.h"
#include "sim/passing_layer.h"
#include "sim/peer_layer.h"

namespace rhizome::sim {
namespace {

using consensus::Epoch;
using std::chrono::seconds;

/// Longer than any of the weather lasts.
constexpr microseconds kHeldFor = seconds{30};

/// One history: draws its weather, lets it rage, heals everything, and waits for the cluster to agree.
class History {
public:
    History(std::uint64_t seed, const SwarmOptions& options)
        : options_(options), random_(Random{seed}.fork("weather")), sim_(draw_setup(seed)) {
        verdict_.seed = seed;
        verdict_.machines = sim_.size();
        sim_.watch = options.watch;
        // Drawn apart, too.
        // Not where all clocks are set back by more than a stamp may be ahead: what a machine forgets then others keep.
        if (Random{seed ^ 0x70'61'73'73}.chance(1, 6) && !future_) passing_.emplace(sim_);
        passing_random_ = Random{seed}.fork("passing");
        recovery_random_ = Random{seed}.fork("recoveries");
        if (!peered_) return;
        Random peers{seed ^ 0x70'65'65'72};
        const bool addresses = peers.chance(2, 3);
        peers_.emplace(sim_, addresses ? PeerLayer::Told::Addresses : PeerLayer::Told::Keys);
        if (peers.chance(1, 2)) call_strangers(peers);
        say(fmt::format("links by the peer layer, the chain tells {}, {} strangers knock",
                        addresses ? "addresses" : "keys", strangers_.size()));
    }

    [[nodiscard]] Sim& sim() { return sim_; }
    /// The chain that it ended on: the first honest machine's.
    [[nodiscard]] ledger::BlockHash tip() const { return sim_.node(honest().front()).tip_hash(); }

    Verdict run() {
        draw_faults();
        warm_up();
        rage();
        calm_down();
        if (moves_) give_word();
        if (limps_ && !works_ && !future_ && sim_.checks().clean()) limp();
        if (compares_ && sim_.checks().clean()) compare_clocks();
        converge();
        if (idles_ && sim_.checks().clean()) idle();
        return finish();
    }

private:
    Setup draw_setup(std::uint64_t seed) {
        Setup setup{.seed = seed};
        // Small clusters are torn apart in more ways in the same time.
        const std::size_t span = options_.machines_max - options_.machines_min;
        setup.machines = options_.machines_min +
                         static_cast<std::size_t>(random_.below((random_.chance(1, 2) ? span / 4 : span) + 1));
        byzantine_ = options_.liars && random_.chance(1, 3);
        // Drawn apart, so that the other histories are the same with and without it.
        works_ = Random{seed ^ 0x77'6f'72'6b}.chance(1, 8);
        late_votes_ = Random{seed ^ 0x6c'61'74'65}.chance(1, 6);
        exoduses_ = Random{seed ^ 0x65'78'6f'64}.chance(1, 6);
        recoveries_ = Random{seed ^ 0x72'65'63'6f}.chance(1, 5);
        leave_ = Random{seed ^ 0x6c'65'61'76}.chance(1, 2);
        idles_ = Random{seed ^ 0x69'64'6c'65}.chance(1, 4);
        clock_random_ = Random{seed ^ 0x63'6c'6f'63};
        future_ = clock_random_.chance(1, 8);
        compares_ = clock_random_.chance(1, 4);
        setup.spec = fmt::format(R"({{"trust":"{}"{}}})", byzantine_ ? "byzantine" : "crash",
                                 works_ ? fmt::format(R"(,"consensus":"work","work":{{"hashRate":{},"blockTime":"1s",)"
                                                      R"("period":16}})",
                                                      setup.hash_rate * setup.machines)
                                        : "");
        peered_ = Random{seed ^ 0x6c'69'6e'6b}.chance(1, 5);
        const std::int64_t delays[] = {200, 1'000, 5'000, 20'000, 80'000};
        setup.link.delay = microseconds{delays[random_.below(5)]};
        setup.link.jitter = setup.link.delay * static_cast<std::int64_t>(random_.below(4));
        calm_ = setup.link;
        if (random_.chance(1, 2)) setup.link.loss = static_cast<std::uint32_t>(random_.below(100));
        if (random_.chance(1, 2)) setup.link.duplicate = static_cast<std::uint32_t>(random_.below(100));
        setup.sync_max = microseconds{random_.chance(1, 4) ? 30'000 : 600};
        setup.config.verify_alone_max = random_.chance(1, 2) ? 8 : 0;
        setup.config.recent_changes = 1 + static_cast<std::size_t>(random_.below(64));
        setup.config.blocks_per_slice = 1 + static_cast<std::size_t>(random_.below(32));
        if (random_.chance(1, 4)) setup.neighbours = 3;
        if (peered_) setup.neighbours = 0;
        setup.links_by_hand = peered_;
        // Votes go along trees, as in clusters of hundreds; drawn apart, too.
        if (Random{seed ^ 0x74'72'65'65}.chance(1, 4)) setup.config.tree_from = 2;
        // Drawn apart as well: how soon a gap is a long one, a block a large one, and how much is asked for at once.
        Random sync{seed ^ 0x73'79'6e'63};
        setup.config.catch_up_from = 1 + static_cast<std::size_t>(sync.below(64));
        setup.config.compact_txs_min = 1 + static_cast<std::size_t>(sync.below(4));
        setup.config.ask_bodies_max = 1 + static_cast<std::size_t>(sync.below(32));
        setup.config.answer_headers_max = 1 + static_cast<std::size_t>(sync.below(128));
        say(fmt::format("{} machines, {}, {} trust, links of {} us and up to {} more, {}/1000 lost, {}/1000 twice",
                        setup.machines, works_ ? "work" : "authority", byzantine_ ? "byzantine" : "crash",
                        setup.link.delay.count(), setup.link.jitter.count(), setup.link.loss, setup.link.duplicate));
        return setup;
    }

    /// An attacker with some networks, whose machines all name each other to whoever asks.
    void call_strangers(Random& draw) {
        std::vector<p2p::Address> addresses;
        for (std::uint8_t network = 0; network < 4; ++network)
            for (std::uint8_t i = 0; i < 8; ++i) addresses.push_back(p2p::Address::v4(66, network, 1, i, 9'000));
        for (const p2p::Address& address : addresses)
            if (draw.chance(2, 3)) strangers_.push_back(peers_->add_phantom(address, addresses));
    }

    void say(std::string what) { verdict_.weather.push_back(std::move(what)); }

    /// Which kinds of faults this history has: few at a time find more than all at once.
    void draw_faults() {
        splits_ = random_.chance(1, 2);
        crashes_ = random_.chance(1, 2);
        pauses_ = random_.chance(1, 3);
        clocks_ = random_.chance(1, 3);
        disks_ = random_.chance(1, 3);
        joins_ = random_.chance(1, 4);
        one_way_ = random_.chance(1, 4);
        flaps_ = random_.chance(1, 4);
        clogs_ = random_.chance(1, 4);
        storms_ = random_.chance(1, 3) || late_votes_;
        if (byzantine_) {
            // Just under a third may lie.
            const std::size_t most = (sim_.size() - 1) / 3;
            liars_ = most == 0 ? 0 : static_cast<std::size_t>(random_.below(most + 1));
        }
        load_ = random_.chance(1, 8) ? 0 : 1 + random_.below(30);
        // Who lies may keep its turn and say nothing, which is no fault of the others.
        limps_ = random_.chance(1, 4) && liars_ == 0 && !joins_;
        // Where some lie, or have lost what they signed, those who stay may be too few to decide anything.
        exoduses_ = exoduses_ && liars_ == 0 && !disks_ && !byzantine_;
        recoveries_ = recoveries_ && liars_ == 0 && !disks_;
        // The peer layer dials when it thinks that it should.
        idles_ = idles_ && liars_ == 0 && !peered_;
        // The same of those whose clocks are wrong.
        compares_ =
            compares_ && liars_ == 0 && !disks_ && !byzantine_ && !joins_ && !exoduses_ && !works_ && !recoveries_;
        // Drawn apart. What else becomes of disks needs others that have their records.
        moves_random_ = Random{verdict_.seed}.fork("moves");
        moves_ = liars_ == 0 && !exoduses_ && !recoveries_ && !future_ && moves_random_.chance(1, 5);
        if (moves_) {
            disks_ = false;
            // Who does not know what it signed may be out of lease, or one of too few.
            idles_ = compares_ = false;
            say("directories are moved, copied and put back, also all at once");
        }
        say(
            fmt::format("splits {}, crashes {}, pauses {}, clocks {}, disks {}, joins {}, one way {}, flapping {}, "
                        "clogged {}, storms {}, late votes {}, exoduses {}, recoveries {}, {} liars, {} orders/s, some "
                        "stay dead {}, all clocks ahead {}, then wrong clocks {}, a cut while nobody writes {}",
                        splits_, crashes_, pauses_, clocks_, disks_, joins_, one_way_, flaps_, clogs_, storms_,
                        late_votes_, exoduses_, recoveries_, liars_, load_, limps_, future_, compares_, idles_));
        if (future_) {
            // From the beginning until the weather calms down: the chain is ahead of all clocks then.
            ahead_ = microseconds{clock_random_.between(5'000'000, 3'600'000'000)};
            sim_.checks().allow_lease_leap(sim_.node(0).state().parameters().lease_step_max());
            for (std::size_t i = 0; i < sim_.size(); ++i) sim_.set_clock(i, ahead_);
        }
    }

    /// Fewer than half of the clocks are wrong at any time.
    [[nodiscard]] std::size_t wrong_most() const { return (sim_.size() - 1) / 2; }
    /// A little, or by hours, or right.
    microseconds draw_clock(Random& random) {
        switch (random.below(4)) {
            case 0: return microseconds{0};
            case 1: return microseconds{random.between(-3'600'000'000, 3'600'000'000)};
            default: return microseconds{random.between(-3'000'000, 3'000'000)};
        }
    }

    std::vector<std::size_t> everybody() const {
        std::vector<std::size_t> all(sim_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        return all;
    }
    std::vector<std::size_t> honest() const {
        std::vector<std::size_t> all;
        for (std::size_t i = 0; i < sim_.size(); ++i)
            if (sim_.is_honest(i)) all.push_back(i);
        return all;
    }

    /// Until all members vote: faults are more interesting in a cluster than in its founder alone.
    void warm_up() {
        const auto all_vote = [this] {
            for (std::size_t i = 0; i < sim_.size(); ++i) {
                const auto& state = sim_.node(i).state();
                const auto electorate = consensus::Electorate::of(state.view(), state.parameters());
                if (electorate.voters.size() != sim_.size() || !electorate.next.empty()) return false;
            }
            return true;
        };
        // Faults may begin in the middle of it, too.
        const bool whole = random_.chance(3, 4);
        sim_.run_until(all_vote, whole ? microseconds{seconds{40}} : microseconds{seconds{random_.between(0, 20)}});
    }

    void rage() {
        for (std::size_t i = 0; i < liars_; ++i) {
            const auto lie = static_cast<Lie>(random_.below(kLies));
            const std::size_t who = sim_.size() - 1 - i;
            sim_.corrupt(who, make_liar(lie, random_.next()));
            liar_act(who);
        }
        if (late_votes_ || exoduses_)
            sim_.hold_up = [this](std::size_t from, std::size_t to, const core::Message& message) {
                return held_up(from, to, message);
            };
        if (load_ > 0) sim_.load(load_, honest());
        sim_.let_leave(leave_);
        const Time end = sim_.now() + options_.faults_for;
        while (sim_.now() < end && sim_.checks().clean()) {
            sim_.run(microseconds{random_.between(50'000, 3'000'000)});
            one_fault();
        }
    }

    /// What this weather adds to the way of a message.
    microseconds held_up(std::size_t from, std::size_t to, const core::Message& message) {
        const auto* votes = std::get_if<core::Votes>(&message);
        if (votes == nullptr || votes->groups.empty())
            return votes_only_.contains({from, to}) ? kHeldFor : microseconds{};
        if (!late_votes_) return {};
        // The votes of an epoch reach each machine at once, or one to four epochs late: who knows what to be justified
        // when it signs the next one comes in every combination, while blocks go round as ever.
        Epoch newest{};
        for (const consensus::VoteGroup& group : votes->groups) newest = std::max(newest, group.ballot.target.epoch);
        Random draw{verdict_.seed ^ (newest.number() * 64 + to)};
        return draw.chance(1, 2) ? microseconds{} : microseconds{draw.between(200'000, 1'000'000)};
    }

    void liar_act(std::size_t who) {
        sim_.after(seconds{1}, [this, who] {
            if (!raging_) return;
            sim_.let_lie(who);
            liar_act(who);
        });
    }

    /// One to all machines lose power, and go on with copies of their directories: made just now, or some time ago.
    void move_directories() {
        auto who = everybody();
        moves_random_.shuffle(who);
        if (moves_random_.chance(1, 2)) {
            for (const std::size_t machine : who)
                if (many_vote(machine)) {
                    sim_.back_up(machine);
                    copied_.insert(machine);
                }
            return;
        }
        // Of a few that vote alone nobody else knows what they made final.
        if (!std::all_of(who.begin(), who.end(), [this](std::size_t i) { return !sim_.is_up(i) || many_vote(i); }))
            return;
        // An older copy may be of a time before its machine sealed: alone for a lease it would do so again. So all go
        // back at once, or those who do hear the others.
        const bool cut = splits_ || one_way_ || flaps_ || storms_ || clogs_;
        const bool all_old = copied_.size() == who.size() && moves_random_.chance(1, 3);
        if (!all_old) who.resize(1 + static_cast<std::size_t>(moves_random_.below(who.size())));
        for (const std::size_t machine : who) sim_.crash(machine, moves_random_.below(1'001));
        for (const std::size_t machine : who) {
            const bool old = all_old || (!cut && copied_.contains(machine) && who.size() * 2 < sim_.size() &&
                                         moves_random_.chance(1, 3));
            if (old) {
                (void)sim_.restore_copy(machine);
            } else {
                sim_.move_disk(machine);
            }
        }
        if (all_old) sim_.forget_lost_blocks();
    }

    [[nodiscard]] bool many_vote(std::size_t machine) const {
        if (!sim_.is_up(machine)) return false;
        const auto& state = sim_.node(machine).state();
        const auto electorate = consensus::Electorate::of(state.view(), state.parameters());
        return electorate.voters.size() >= 3 && (electorate.next.empty() || electorate.next.size() >= 3);
    }

    /// All run and hear each other. Where nothing becomes final because too few voters know what they signed, the owner
    /// says that these directories are the only ones, at one machine after the other, since none hears of all; who has
    /// heard its own key is started again.
    void give_word() {
        for (std::size_t times = 0; times < 2 * sim_.size() && sim_.checks().clean(); ++times) {
            bool any_waits = false;
            for (std::size_t i = 0; i < sim_.size(); ++i) {
                if (sim_.is_up(i) && sim_.node(i).has(core::Condition::CopyRuns)) sim_.crash(i, 1'000);
                sim_.start(i);
                if (!sim_.is_up(i)) return;  // it does not start: said by the checks
                any_waits |= sim_.node(i).has(core::Condition::VotesLost);
            }
            if (!any_waits) return;
            const std::size_t at = times % sim_.size();
            const auto before = sim_.node(at).final_height();
            const auto is_better = [&] { return sim_.node(at).final_height() > before; };
            if (sim_.run_until(is_better, seconds{30})) {
                sim_.run(seconds{10});
                continue;
            }
            const core::Node& node = sim_.node(at);
            if (node.records_begun().empty()) continue;
            say(fmt::format("{} says which {} directories are the only ones", name_of(at),
                            node.records_begun().size()));
            const auto electorate = consensus::Electorate::of(node.state().view(), node.state().parameters());
            sim_.submit(at, recover(node.state(), electorate.generation + 1, everybody(), node.records_begun()));
        }
    }

    std::size_t anybody() { return static_cast<std::size_t>(random_.below(sim_.size())); }

    void one_fault() {
        const std::size_t who = anybody();
        for (const std::size_t stranger : strangers_)
            if (random_.chance(1, 4)) peers_->knock(stranger, anybody());
        if (passing_) write_passing();
        if (exoduses_ && random_.chance(1, 8)) exodus();
        if (recoveries_ && recovery_random_.chance(1, 6)) recover_some();
        if (moves_ && moves_random_.chance(1, 8)) move_directories();
        if (storms_ && random_.chance(1, 3)) storm(static_cast<int>(random_.between(3, 20)));
        switch (random_.below(9)) {
            case 0:
                if (splits_) split();
                break;
            case 1:
                if (splits_ && random_.chance(1, 2)) sim_.heal();
                break;
            case 2:
                if (!crashes_ || !sim_.is_up(who)) break;
                if (random_.chance(1, 2)) {
                    sim_.crash(who, random_.below(1'001));
                } else {
                    sim_.crash_when_it_speaks(who, microseconds{random_.between(1'000, 300'000)});
                }
                break;
            case 3: come_back(); break;
            case 4:
                if (pauses_) sim_.pause(who, microseconds{random_.between(100'000, 8'000'000)});
                break;
            case 5:
                if (clocks_ && who < wrong_most()) sim_.set_clock(who, ahead_ + draw_clock(clock_random_));
                break;
            case 6:
                if (disks_) trouble_disk(who);
                break;
            case 7:
                if (flaps_) flap(who, anybody_but(who), static_cast<int>(random_.between(4, 20)));
                if (clogs_) clog_link(who, anybody_but(who));
                break;
            default:
                if (one_way_) sim_.block(who, anybody_but(who), random_.chance(2, 3));
                if (joins_ && random_.chance(1, 3)) leave_or_join(who);
                break;
        }
    }

    /// Events that several machines write and delete at the same time, under few names.
    void write_passing() {
        for (int i = 0; i < 8; ++i) {
            const auto who = static_cast<std::size_t>(passing_random_.below(sim_.size()));
            const std::string name = fmt::format("e{}", passing_random_.below(20));
            if (passing_random_.chance(1, 5)) {
                passing_->erase(who, name);
            } else {
                passing_->write(who, name, fmt::format("{} by {}", ++passing_writes_, who));
            }
        }
    }

    std::size_t anybody_but(std::size_t who) {
        const std::size_t other = static_cast<std::size_t>(random_.below(sim_.size() - 1));
        return other >= who ? other + 1 : other;
    }

    /// A link that comes and goes, faster than anybody gives it up.
    void flap(std::size_t left, std::size_t right, int times) {
        sim_.block(left, right, times % 2 == 0);
        sim_.block(right, left, times % 2 == 0);
        if (times == 0) return;
        sim_.after(microseconds{random_.between(20'000, 1'500'000)}, [this, left, right, times] {
            if (raging_) flap(left, right, times - 1);
        });
    }

    /// Every direction of every link is open or closed, and all others some hundred milliseconds later: votes reach
    /// some and not others, in every combination.
    void storm(int gusts) {
        std::set<std::pair<std::size_t, std::size_t>> closed;
        const std::uint64_t density = 2 + random_.below(7);
        for (std::size_t from = 0; from < sim_.size(); ++from)
            for (std::size_t to = 0; to < sim_.size(); ++to)
                if (from != to && gusts > 0 && random_.below(10) < density) closed.emplace(from, to);
        sim_.block_only(std::move(closed));
        if (gusts == 0) return;
        sim_.after(microseconds{random_.between(50'000, 700'000)}, [this, gusts] {
            if (raging_) storm(gusts - 1);
        });
    }

    /// Everything arrives, seconds late.
    void clog_link(std::size_t from, std::size_t to) {
        LinkQuality slow = calm_;
        if (random_.chance(2, 3)) slow.delay = microseconds{random_.between(300'000, 4'000'000)};
        sim_.set_link(from, to, slow);
    }

    void split() {
        auto all = everybody();
        random_.shuffle(all);
        const std::size_t groups = 2 + static_cast<std::size_t>(random_.below(2));
        std::vector<std::vector<std::size_t>> parts(groups);
        for (std::size_t i = 0; i < all.size(); ++i)
            parts[i < groups ? i : static_cast<std::size_t>(random_.below(groups))].push_back(all[i]);
        sim_.split(parts);
    }

    void come_back() {
        for (std::size_t i = 0; i < sim_.size(); ++i) {
            if (sim_.is_up(i) || !random_.chance(1, 2)) continue;
            if (disks_ && random_.chance(1, 10) && may_lose_votes(i)) sim_.replace_disk(i);
            if (disks_ && random_.chance(1, 10) && may_lose_votes(i)) (void)sim_.restore_backup(i);
            sim_.start(i);
        }
    }

    /// Who has no vote record votes again when the others have justified something: they must be enough for that. A
    /// cluster that loses the records of more than that many needs a recovery, which is no matter of this swarm.
    bool may_lose_votes(std::size_t who) {
        std::set<consensus::MemberKey> lost{sim_.key(who)};
        for (std::size_t i = 0; i < sim_.size(); ++i) {
            if (sim_.is_up(i) && !sim_.node(i).has(core::Condition::VotesLost) && !sim_.has_damage(i)) lost_.erase(i);
            if (lost_.contains(i)) lost.insert(sim_.key(i));
        }
        // All may be voters soon.
        const auto trust = byzantine_ ? ledger::Trust::Byzantine : ledger::Trust::Crash;
        if (sim_.size() - liars_ < lost.size() + consensus::quorum_of(sim_.size(), trust)) return false;
        for (std::size_t i = 0; i < sim_.size(); ++i) {
            if (!sim_.is_up(i) || !sim_.is_honest(i)) continue;
            const auto& state = sim_.node(i).state();
            const auto electorate = consensus::Electorate::of(state.view(), state.parameters());
            for (const auto* voters : {&electorate.voters, &electorate.next}) {
                std::size_t left = liars_ > voters->size() ? 0 : voters->size() - liars_;
                for (const auto& voter : *voters) left -= lost.contains(voter) && left > 0 ? 1 : 0;
                if (!voters->empty() && left < consensus::quorum_of(voters->size(), state.parameters().trust))
                    return false;
            }
        }
        lost_.insert(who);
        return true;
    }

    void trouble_disk(std::size_t who) {
        switch (random_.below(4)) {
            case 0: sim_.back_up(who); break;
            case 2:
                if (may_lose_votes(who)) (void)sim_.misdirect(who);
                break;
            case 1: sim_.clog(who, microseconds{1'000}, microseconds{random_.between(2'000, 400'000)}); break;
            default:
                if (random_.chance(1, 2)) {
                    sim_.set_disk_full(who, random_.chance(1, 2));
                } else {
                    sim_.set_disk_low(who, random_.chance(1, 2));
                }
                break;
        }
    }

    void leave_or_join(std::size_t who) {
        // Machine 0's people take a Node away, or write it again.
        const std::size_t at = anybody();
        if (!sim_.is_up(at) || !sim_.is_honest(at)) return;
        const auto& state = sim_.node(at).state();
        auto tx = remove_machine(state, who);
        if (tx && !can_spare(who, state)) return;
        if (!tx) tx = register_machine(state, who, sim_.chain(), sim_.now());
        sim_.submit(at, tx);
    }

    /// Whether the honest that stay are a quorum without the liars: three voters of whom one lies decide nothing.
    bool can_spare(std::size_t who, const ledger::LedgerState& state) const {
        if (liars_ == 0 || !sim_.is_honest(who)) return true;  // there are liars only where nodes may lie
        std::size_t members = 0;
        std::size_t honest = 0;
        for (std::size_t i = 0; i < sim_.size(); ++i) {
            if (i == who || !remove_machine(state, i)) continue;
            ++members;
            honest += sim_.is_honest(i) ? 1 : 0;
        }
        return honest >= consensus::quorum_of(members, ledger::Trust::Byzantine);
    }

    /// As many are taken away as those who stay can decide, and come back at once: a quorum of the few voters there are
    /// then and one of the many to come need not meet. While the voters change most of the few no longer hear the
    /// others, who hear them for a while.
    void exodus() {
        auto few = everybody();
        random_.shuffle(few);
        const std::size_t at = few.front();
        if (!sim_.is_up(at)) return;
        const auto middle = few.begin() + static_cast<std::ptrdiff_t>(few.size() / 2 + 1);
        const std::vector<std::size_t> leaving(middle, few.end());
        few.erase(middle, few.end());
        for (const std::size_t who : leaving)
            if (auto tx = remove_machine(sim_.node(at).state(), who)) sim_.submit(at, tx);
        const auto later = [this](std::int64_t least, std::int64_t most, std::function<void()> what) {
            sim_.after(microseconds{random_.between(least, most)}, [this, what = std::move(what)] {
                if (raging_) what();
            });
        };
        later(3'000'000, 6'000'000, [this, later, at, few, leaving] {
            if (!sim_.is_up(at)) return;
            const auto& state = sim_.node(at).state();
            for (const std::size_t who : leaving)
                if (!remove_machine(state, who))
                    sim_.submit(at, register_machine(state, who, sim_.chain(), sim_.now()));
            later(50'000, 800'000, [this, later, few, leaving] {
                const std::size_t quorum = few.size() / 2 + 1;
                std::vector<std::size_t> others{leaving};
                others.insert(others.end(), few.begin() + static_cast<std::ptrdiff_t>(quorum), few.end());
                std::set<std::pair<std::size_t, std::size_t>> closed;
                for (std::size_t i = 0; i < quorum; ++i)
                    for (const std::size_t other : others) {
                        closed.emplace(other, few[i]);
                        votes_only_.emplace(few[i], other);
                    }
                sim_.block_only(std::move(closed));
                later(2'000'000, 5'000'000, [this] {
                    votes_only_.clear();
                    sim_.heal();
                });
            });
        });
    }

    /// The owner names new voters, among those that one machine is linked with: on a side of a cut that is what is
    /// meant, else a mistake that is no harm. The chain there may be shorter than what others make final meanwhile, or
    /// longer. Never two recoveries with one number: of those neither takes the other back.
    void recover_some() {
        const auto at = static_cast<std::size_t>(recovery_random_.below(sim_.size()));
        if (!sim_.is_up(at)) return;
        const auto& state = sim_.node(at).state();
        std::vector<std::size_t> voters;
        for (std::size_t i = 0; i < sim_.size(); ++i)
            if ((i == at || sim_.linked(at).contains(i)) && remove_machine(state, i)) voters.push_back(i);
        if (voters.empty()) return;
        if (recovery_random_.chance(1, 2)) {
            recovery_random_.shuffle(voters);
            voters.resize(1 + static_cast<std::size_t>(recovery_random_.below(voters.size())));
        }
        sim_.submit(at, recover(state, ++recoveries_begun_, voters));
    }

    void calm_down() {
        raging_ = false;
        sim_.let_leave(false);
        sim_.hold_up = nullptr;
        sim_.heal();
        sim_.set_links(calm_);
        sim_.load(0, {});
        for (std::size_t i = 0; i < sim_.size(); ++i) {
            sim_.pause(i, microseconds{0});
            sim_.set_clock(i, microseconds{0});
            sim_.set_disk_low(i, false);
            sim_.set_disk_full(i, false);
            sim_.clog(i, microseconds{100}, microseconds{400});
        }
    }

    /// Up to half of the machines stay dead. After a while the others no longer wait for them: an order is not slower
    /// than in a whole cluster.
    void limp() {
        const std::size_t dead = 1 + static_cast<std::size_t>(random_.below(sim_.size() / 2));
        for (std::size_t i = 0; i < sim_.size(); ++i) {
            if (i < sim_.size() - dead) {
                sim_.start(i);
            } else {
                sim_.crash(i, 1'000);
            }
        }
        say(fmt::format("{} machines stay dead", dead));
        // A lease is long over by then, and what the weather held back has come: an old status among it, by whose clock
        // a machine would take its own for wrong and seal nothing.
        sim_.run(kHeldFor + seconds{5});
        const microseconds there = calm_.delay + calm_.jitter;
        if (there > milliseconds{6}) return;
        constexpr std::size_t kOrders = 12;
        const milliseconds rank_delay = sim_.node(0).state().parameters().rank_delay;
        std::size_t slow = 0;
        for (std::size_t i = 0; i < kOrders && sim_.checks().clean(); ++i) {
            const std::size_t order =
                sim_.submit_new(static_cast<std::size_t>(random_.below(sim_.size() - dead)), fmt::format("limp{}", i));
            const auto included = [&] { return sim_.orders()[order].included.has_value(); };
            if (!sim_.run_until(included, rank_delay / 3 + 10 * there)) ++slow;
            sim_.run_until(included, seconds{10});
            sim_.run(microseconds{random_.between(200'000, 900'000)});
        }
        if (slow > kOrders / 4)
            sim_.checks().fault(
                fmt::format("{} of {} orders waited for turns of machines that are long dead", slow, kOrders));
    }

    /// Whoever's clock is right notices nothing of the others': constant, jumping, set right.
    void compare_clocks() {
        for (std::size_t i = 0; i < sim_.size(); ++i) sim_.start(i);
        sim_.run(kHeldFor + seconds{10});
        const microseconds most = seconds{10} + 40 * (calm_.delay + calm_.jitter);
        for (int round = 0; round < 4 && sim_.checks().clean(); ++round) {
            std::string clocks;
            for (std::size_t i = 0; i < wrong_most(); ++i) {
                const microseconds ahead = draw_clock(clock_random_);
                sim_.set_clock(i, ahead);
                clocks += fmt::format(" {}", rhizome::to_text(ahead));
            }
            sim_.run(microseconds{clock_random_.between(0, 6'000'000)});
            const auto at = wrong_most() + static_cast<std::size_t>(clock_random_.below(sim_.size() - wrong_most()));
            const std::size_t order = sim_.submit_new(at, fmt::format("compare{}", round));
            if (!sim_.run_until([&] { return sim_.orders()[order].stage == core::Stage::Final; }, most)) {
                sim_.checks().fault(fmt::format("wrong clocks of{} stop an order at {} for {}", clocks, name_of(at),
                                                rhizome::to_text(most)));
                describe_ends();
            }
        }
        for (std::size_t i = 0; i < wrong_most(); ++i) sim_.set_clock(i, microseconds{0});
    }

    void converge() {
        for (std::size_t i = 0; i < sim_.size(); ++i) sim_.start(i);
        const Time healed = sim_.now();
        // Somebody writes once more: the cluster must still take orders, and the order must become final.
        std::size_t last = SIZE_MAX;
        sim_.after(seconds{10}, [this, &last] {
            const auto all = honest();
            const std::size_t at = all[random_.below(all.size())];
            last = sim_.submit(at, create_map(sim_.node(at).state(), "last", "order", sim_.now()));
        });
        const auto agreed = [&] {
            if (!sim_.checks().clean()) return true;
            return last != SIZE_MAX && sim_.open_orders() == 0 && sim_.distinct_tips() == 1 && all_settled();
        };
        if (!sim_.run_until(agreed, options_.converge_within)) {
            sim_.checks().fault(fmt::format("{} s after the heal: {} tips, {} orders open, {}, final heights from {}",
                                            std::chrono::duration_cast<seconds>(options_.converge_within).count(),
                                            sim_.distinct_tips(), sim_.open_orders(),
                                            all_settled() ? "all settled" : "some machine still keeps accepted ones",
                                            sim_.lowest_final()));
            describe_ends();
        } else if (last != SIZE_MAX && sim_.checks().clean() && sim_.orders()[last].stage != core::Stage::Final) {
            sim_.checks().fault("the last order was refused: " + to_text(*sim_.orders()[last].refused));
        }
        verdict_.converged_after = sim_.now() - healed;
        if (passing_ && sim_.checks().clean() && !sim_.run_until([this] { return passing_->all_equal(); }, seconds{30}))
            sim_.checks().fault("documents off the chain are not the same everywhere");
    }

    /// Whatever an honest machine has accepted is final, or told to be lost.
    bool all_settled() const {
        for (std::size_t i = 0; i < sim_.size(); ++i)
            if (sim_.is_honest(i) && sim_.is_up(i) && sim_.node(i).usage().accepted > 0) return false;
        return true;
    }

    /// Whom the chain of a machine that is up takes for gone although it is up too: the first of them.
    [[nodiscard]] std::optional<std::pair<std::size_t, std::size_t>> anybody_gone() const {
        for (std::size_t at = 0; at < sim_.size(); ++at)
            for (const std::size_t who : sim_.ended_leases(at))
                if (sim_.is_up(who)) return std::pair{at, who};
        return std::nullopt;
    }

    /// Minutes in which nobody writes anything, with a cut in them. Linked again, all are ready within two heartbeats,
    /// and nobody is taken for gone any more.
    void idle() {
        Random draw{verdict_.seed ^ 0x63'75'74'73};
        sim_.run(microseconds{draw.between(0, 60'000'000)});
        auto all = everybody();
        draw.shuffle(all);
        const auto few = static_cast<std::ptrdiff_t>(1 + draw.below((sim_.size() + 1) / 2));
        sim_.split({{all.begin(), all.begin() + few}, {all.begin() + few, all.end()}});
        const microseconds length{draw.between(5'000'000, 120'000'000)};
        sim_.run(length);
        sim_.heal();
        say(fmt::format("nobody writes any more; {} were cut off for {} ms", few, length.count() / 1'000));
        sim_.run_until([this] { return sim_.all_linked(); }, seconds{10});
        const milliseconds heartbeat = sim_.node(0).state().parameters().heartbeat;
        const auto fault = [&](std::string_view when) {
            const auto gone = anybody_gone();
            if (!gone || !sim_.checks().clean()) return;
            sim_.checks().fault(
                fmt::format("{} takes {} for gone {}", name_of(gone->first), name_of(gone->second), when));
            describe_ends();
        };
        sim_.run_until([&] { return !anybody_gone() && sim_.distinct_tips() == 1; }, 2 * heartbeat);
        fault("two heartbeats after all were linked again");
        for (int quiet = 0; quiet < 30; ++quiet) {
            sim_.run(seconds{2});
            fault("although nothing happens");
        }
        sim_.run_until([&] { return sim_.distinct_tips() == 1; }, 2 * heartbeat);
        if (sim_.distinct_tips() > 1) sim_.checks().fault("after an idle cut there are several tips");
    }

    static std::string describe(const core::Node::Usage& usage) {
        return fmt::format("{} headers, {} orphans, {} future, {} parked, {} votes, {} peers, {} tips", usage.headers,
                           usage.orphans, usage.future, usage.parked, usage.votes, usage.peers, usage.tips);
    }

    /// Where everybody stands when they should agree and do not.
    void describe_ends() {
        for (std::size_t i = 0; i < sim_.size(); ++i) {
            const core::Node& node = sim_.node(i);
            std::string conditions;
            for (const core::Condition one : core::kConditions)
                if (node.has(one)) conditions += fmt::format(" {}", static_cast<int>(one));
            const auto rank = node.rank();
            say(fmt::format("{}{}: tip {} at {}, final {}, justified epoch {}, weight {}, {} pending, conditions{}; {}",
                            name_of(i), sim_.is_honest(i) ? "" : " (liar)", node.tip_hash().hex().substr(0, 8),
                            node.tip().height, node.final_height(), rank.justified_epoch, rank.weight.low64(),
                            node.pending(), conditions.empty() ? " none" : conditions, describe(node.usage())));
        }
        std::size_t shown = 0;
        for (std::size_t i = 0; i < sim_.orders().size() && shown < 5; ++i) {
            const Order& order = sim_.orders()[i];
            if (!order.open) continue;
            ++shown;
            say(fmt::format("order {} at {}: stage {}, asked {} ms after the start", i, name_of(order.machine),
                            static_cast<int>(order.stage), (order.asked - sim_.setup().start).count() / 1'000));
        }
    }

    Verdict finish() {
        const auto all = honest();
        const core::Node& node = sim_.node(all.front());
        if (sim_.checks().clean()) sim_.check_left(node.tip_hash(), node.final_generation() > 0);
        if (sim_.checks().clean()) sim_.checks().replay(ledger::BlockHash{sim_.chain().view()}, node.tip_hash());
        verdict_.faults = sim_.checks().faults();
        verdict_.trace = sim_.trace();
        verdict_.events = sim_.events();
        verdict_.simulated = sim_.elapsed();
        verdict_.orders = sim_.orders().size();
        for (const Order& order : sim_.orders()) verdict_.refused += order.refused ? 1 : 0;
        verdict_.height = node.tip().height.number();
        verdict_.final_height = node.final_height().number();
        return std::move(verdict_);
    }

    SwarmOptions options_;
    Random random_;
    Verdict verdict_;
    bool byzantine_ = false;
    bool works_ = false;       ///< proof of work instead of turns
    bool late_votes_ = false;  ///< some learn late what is justified
    bool leave_ = false;       ///< clients do not wait for the end
    bool exoduses_ = false;    ///< many leave at once, and come back
    bool idles_ = false;       ///< a cut at the end, while nobody writes
    bool recoveries_ = false;  ///< the owner names new voters, again and again
    Random recovery_random_{0};
    std::uint64_t recoveries_begun_ = 0;
    std::set<std::pair<std::size_t, std::size_t>> votes_only_;  ///< directions that carry nothing else in time
    LinkQuality calm_{};
    bool future_ = false;    ///< all clocks are ahead, until they are set right
    bool compares_ = false;  ///< some clocks are wrong in calm weather
    microseconds ahead_{0};
    Random clock_random_{0};
    bool peered_ = false;  ///< links by the daemon's peer layer instead of drawn ones
    Sim sim_;
    std::optional<PeerLayer> peers_;      ///< goes before the world that it borrows
    std::vector<std::size_t> strangers_;  ///< its phantoms
    std::optional<PassingLayer> passing_;
    Random passing_random_{0};
    std::uint64_t passing_writes_ = 0;
    bool splits_ = false, crashes_ = false, pauses_ = false, clocks_ = false, disks_ = false, joins_ = false,
         one_way_ = false, flaps_ = false, clogs_ = false, storms_ = false, limps_ = false;
    std::size_t liars_ = 0;
    bool moves_ = false;  ///< directories are copied, and the copies used
    Random moves_random_{0};
    std::set<std::size_t> copied_;  ///< machines of whose directories there are older copies
    std::set<std::size_t> lost_;    ///< machines whose vote records are gone
    std::uint64_t load_ = 0;
    bool raging_ = true;
};

}  // namespace

std::string Verdict::replay_line() const { return fmt::format("rhizome sim replay {}", seed); }

Verdict run_seed(std::uint64_t seed, const SwarmOptions& options) { return History{seed, options}.run(); }

Recorded record_seed(std::uint64_t seed, const SwarmOptions& options) {
    History history{seed, options};
    Recorded recorded{.timeline = Timeline{history.sim().size(), history.sim().setup().start}};
    history.sim().watch = [&](const Seen& seen) {
        recorded.timeline.note(seen);
        if (options.watch) options.watch(seen);
    };
    recorded.verdict = history.run();
    recorded.timeline.settle(history.sim().now(), history.tip());
    return recorded;
}

}  // namespace rhizome::sim
