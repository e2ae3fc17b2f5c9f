// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "consensus/consensus_rules.h"
#include "core/node.h"
#include "core/state_fetch.h"
#include "sim/checks.h"
#include "sim/disk.h"
#include "sim/founding.h"
#include "sim/timeline.h"

/// Many nodes in one process on virtual time: the same core as in the daemon, everything else drawn from one seed.
namespace rhizome::sim {

/// How messages travel between two machines.
struct LinkQuality {
    microseconds delay{200};
    microseconds jitter{0};       ///< up to so much more, evenly: messages overtake each other
    std::uint32_t loss = 0;       ///< of a thousand
    std::uint32_t duplicate = 0;  ///< of a thousand
};

struct Setup {
    std::uint64_t seed = 1;
    std::size_t machines = 4;
    std::size_t running = SIZE_MAX;  ///< so many are started; the others are only registered
    std::string spec = "{}";
    LinkQuality link{};
    std::size_t neighbours = 0;                                ///< each machine's links; 0: everybody with everybody
    std::vector<std::pair<std::size_t, std::size_t>> links{};  ///< these and no others, when there are any
    bool links_by_hand = false;                                ///< only what `link` says: for `PeerLayer`
    microseconds sync_min{100};
    microseconds sync_max{400};
    std::uint64_t state_part_bytes = 2'048;  ///< of parts that a state is fetched in: small, as states are here
    std::uint64_t hash_rate = 100;           ///< nonces that each machine tries in a second, on chains that work
    DiskLimits disk{};
    core::Config config{};
    Time start = Time::from_unix_seconds(1'800'000'000);
};

class Byzantine;

/// A person's transaction and what became of it.
struct Order {
    ledger::SharedTx tx{};
    std::size_t machine = 0;
    core::Stage stage = core::Stage::Refused;
    std::optional<ledger::Reject> refused{};
    Time asked{};
    std::optional<Time> accepted{};
    std::optional<Time> included{};
    std::optional<Time> finished{};
    bool open = true;  ///< neither final nor refused yet
    bool was_accepted = false;
    bool refused_at_once = false;
    bool is_new = false;  ///< creates what nobody else names: nothing but a full disk is a reason to refuse it
    /// Its client was told that it is included, and went away: from then on it is the machine's to tell when it is
    /// lost.
    bool left = false;
    bool told_lost = false;
    bool settled = false;  ///< it was told to be lost, or the machine knew it to be final
    bool excused = false;  ///< the machine has another disk since
};

class Sim {
public:
    explicit Sim(const Setup& setup);
    ~Sim();
    Sim(const Sim&) = delete;
    Sim& operator=(const Sim&) = delete;

    // ---- time
    // --------------------------------------------------------------------------------------------------------
    [[nodiscard]] Time now() const { return now_; }
    [[nodiscard]] microseconds elapsed() const { return now_ - setup_.start; }
    Sim& run(microseconds duration);
    /// Until `done` says so, asked after every event; false when that took longer than `most`.
    bool run_until(const std::function<bool()>& done, microseconds most);
    /// Something of the test's own at a given time.
    void at(Time when, std::function<void()> what);
    void after(microseconds delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

    // ---- the world
    // ---------------------------------------------------------------------------------------------------
    /// Machines of different groups do not hear each other; those in none hear nobody.
    Sim& split(const std::vector<std::vector<std::size_t>>& groups);
    Sim& heal();
    /// One direction only.
    void block(std::size_t from, std::size_t to, bool blocked);
    /// All directions that carry nothing from now on.
    void block_only(std::set<std::pair<std::size_t, std::size_t>> directions);
    /// Two machines have a connection from now on, or no longer, where links are made by hand.
    void link(std::size_t left, std::size_t right);
    void unlink(std::size_t left, std::size_t right);
    [[nodiscard]] bool can_hear(std::size_t from, std::size_t to) const;
    void set_link(std::size_t from, std::size_t to, const LinkQuality& quality);
    void set_links(const LinkQuality& quality);
    /// The power fails; `keep` thousandths of what was not synced survive.
    void crash(std::size_t machine, std::uint64_t keep = 0);
    /// The power fails at the worst moment: when the next vote or block of its own has just left, before anything else
    /// reaches the disk. It is back after a moment.
    void crash_when_it_speaks(std::size_t machine, microseconds back_after);
    void start(std::size_t machine);
    void replace_disk(std::size_t machine);
    /// A new disk with another machine's state after its newest final block, and nothing from before.
    void install_snapshot(std::size_t machine, std::size_t from);
    /// The machine, which is off, fetches the state after this block from its neighbours, and starts with it. What it
    /// had before it then no longer has. When the power fails meanwhile it has what it had.
    void fetch_state(std::size_t machine, const ledger::BlockHash& trusted);
    /// Null unless it fetches one now.
    [[nodiscard]] const core::StateFetch* fetching(std::size_t machine) const { return machines_[machine].fetch.get(); }
    void back_up(std::size_t machine);
    bool restore_backup(std::size_t machine);
    /// A machine that never ran is from now on a clone of another: its keys, and all that is on its disk.
    void clone(std::size_t machine, std::size_t of);
    /// The same of a copy of the whole directory that was made then.
    bool restore_copy(std::size_t machine);
    /// All went back to older copies at the same time: blocks that none of them has are gone, with who sealed them.
    void forget_lost_blocks();
    /// The machine, which is off, goes on with a copy of its directory that was made just now.
    void move_disk(std::size_t machine);
    /// A machine that never ran has another one's keys and a copy of its directory from now on.
    void make_copy(std::size_t machine, std::size_t of);
    /// Takes nothing in for so long; then everything at once.
    void pause(std::size_t machine, microseconds duration);
    void set_clock(std::size_t machine, microseconds ahead);
    /// One of its blocks can no longer be read. Whoever finds that at a start puts in a new disk.
    bool misdirect(std::size_t machine);
    [[nodiscard]] bool has_damage(std::size_t machine) const { return machines_[machine].disk.is_damaged(); }
    /// Its host has seen that the disk is nearly full, or has room again.
    void set_disk_low(std::size_t machine, bool low);
    /// Somebody has filled the disk at once: writes wait, and the host finds out by the first of them, by an order, or
    /// when it looks next.
    void set_disk_full(std::size_t machine, bool full);
    [[nodiscard]] std::size_t writes_waiting(std::size_t machine) const { return machines_[machine].disk.waiting(); }
    void clog(std::size_t machine, microseconds sync_min, microseconds sync_max);
    void set_hash_rate(std::size_t machine, std::uint64_t nonces_a_second);
    /// From now on the machine lies in this way.
    void corrupt(std::size_t machine, std::unique_ptr<Byzantine> liar);
    /// Gives a liar the occasion to do something of its own.
    void let_lie(std::size_t machine);

    // ---- people
    // ------------------------------------------------------------------------------------------------------
    /// Index of the order. Whoever waits at a machine that dies asks again, there or elsewhere.
    std::size_t submit(std::size_t machine, const ledger::SharedTx& tx);
    /// One that nothing may refuse once it was accepted.
    std::size_t submit_new(std::size_t machine, const std::string& name);
    [[nodiscard]] const std::vector<Order>& orders() const { return orders_; }
    [[nodiscard]] std::size_t open_orders() const { return open_orders_; }
    /// Whether those who ask from now on go away as soon as they are told that it is included, as most people do.
    void let_leave(bool leave) { leaving_ = leave; }
    /// On this chain every order whose client left stands, or its machine has told that it is lost: not both. After a
    /// recovery, which takes back what is final, that holds of those that were not settled before.
    void check_left(const ledger::BlockHash& tip, bool recovered);
    /// Writes `per_second` new documents at random machines of `at_machines` until told otherwise.
    void load(std::uint64_t per_second, const std::vector<std::size_t>& at_machines);

    // ---- looking
    // -----------------------------------------------------------------------------------------------------
    [[nodiscard]] std::size_t size() const { return machines_.size(); }
    [[nodiscard]] bool is_up(std::size_t machine) const { return machines_[machine].node != nullptr; }
    [[nodiscard]] bool is_honest(std::size_t machine) const { return machines_[machine].liar == nullptr; }
    [[nodiscard]] const core::Node& node(std::size_t machine) const { return *machines_[machine].node; }
    [[nodiscard]] std::size_t distinct_tips() const;  ///< among honest machines that are up
    [[nodiscard]] ledger::Height lowest_final() const;
    /// Machines that this one's chain takes for gone: members whose leases have ended by it.
    [[nodiscard]] std::set<std::size_t> ended_leases(std::size_t machine) const;
    /// Everybody who is up has a link to all neighbours that are up.
    [[nodiscard]] bool all_linked() const;
    [[nodiscard]] std::uint64_t events() const { return events_; }
    [[nodiscard]] std::uint64_t trace() const { return trace_; }
    [[nodiscard]] const ledger::ChainId& chain() const { return founding_.chain; }
    [[nodiscard]] const consensus::MemberKey& key(std::size_t machine) const {
        return machines_[machine].signer->key();
    }
    Checks& checks() { return checks_; }
    [[nodiscard]] Archive& archive() { return archive_; }
    [[nodiscard]] Random& random() { return random_; }
    [[nodiscard]] const Setup& setup() const { return setup_; }
    /// Told what happens, when somebody wants to watch. Changes nothing.
    std::function<void(const Seen&)> watch;
    /// Told every message as it leaves, also those that will be lost. Changes nothing.
    std::function<void(std::size_t from, std::size_t to, const core::Message&)> overhear;

    /// Told when a machine blames another.
    std::function<void(std::size_t machine, std::size_t other, const ledger::Reject& why)> blamed;

    /// Told when a machine praises another.
    std::function<void(std::size_t machine, std::size_t other)> praised;

    /// How much longer than the link takes a message is on its way: for networks that carry one kind of message worse
    /// than another.
    std::function<microseconds(std::size_t from, std::size_t to, const core::Message& message)> hold_up;

    /// Told when two machines have a link from now on, or no longer, once for each of them.
    std::function<void(std::size_t machine, std::size_t other, bool linked)> link_changed;

    /// Told when a machine's node has started, or its power has failed.
    std::function<void(std::size_t machine, bool up)> power_changed;
    /// Told when a machine has a disk with nothing on it that its host had written.
    std::function<void(std::size_t machine)> disk_replaced;

    /// Something of a host's own on the way between two machines, under the same weather as messages are: lost, late,
    /// twice. `arrive` is called when it gets there and the machine is still in the life it was meant for.
    void carry(std::size_t from, std::size_t to, const std::function<void()>& arrive);
    [[nodiscard]] const consensus::Signatures& signatures() const { return signatures_; }

    /// For liars: hands a message to the network as if this machine had sent it.
    void send_as(std::size_t from, std::size_t to, const core::SharedMessage& message);
    [[nodiscard]] const consensus::Signer& signer(std::size_t machine) const { return *machines_[machine].signer; }
    [[nodiscard]] microseconds clock_ahead(std::size_t machine) const { return machines_[machine].clock_ahead; }
    /// Machines that it has a link to now.
    [[nodiscard]] const std::set<std::size_t>& linked(std::size_t machine) const { return machines_[machine].linked; }
    [[nodiscard]] const std::set<std::size_t>& neighbours(std::size_t machine) const {
        return machines_[machine].neighbours;
    }

private:
    struct Machine {
        Machine(Archive& archive, const DiskLimits& limits) : disk(archive, limits) {}
        std::unique_ptr<FastSigner> signer{};
        std::unique_ptr<core::Node> node{};
        std::unique_ptr<core::StateFetch> fetch{};  ///< instead of a node, while it has no state
        ledger::BlockHash trusted{};                ///< whose state that is
        Disk disk;
        std::uint64_t life = 0;  ///< counts starts: what was meant for an earlier life is lost
        microseconds clock_ahead{0};
        Time paused_until{};
        std::deque<core::EventKind> inbox{};  ///< what came while it was paused
        Time wake{};
        std::set<std::size_t> neighbours{};
        std::set<std::size_t> linked{};  ///< neighbours it has a link to now
        std::map<core::PeerId, std::size_t> peers{};
        std::map<std::size_t, core::PeerId> peer_of{};
        microseconds sync_min{};
        microseconds sync_max{};
        Time disk_free{};
        std::unique_ptr<Byzantine> liar{};
        bool disk_low = false;
        bool disk_noticed = false;   ///< that it is full
        core::Ticket sync_wanted{};  ///< of what waits for room
        core::MiningId mining{};     ///< the newest it looks for
        std::uint64_t nonce = 0;     ///< where it goes on
        std::uint64_t hash_rate = 0;
        std::optional<microseconds> dies_speaking{};  ///< and is back after so long
    };
    struct Pending {
        Time when{};
        std::uint64_t number = 0;
        std::function<void()> what{};
    };
    struct Later {
        bool operator()(const Pending& left, const Pending& right) const {
            return std::tie(left.when, left.number) > std::tie(right.when, right.number);
        }
    };

    void see(std::size_t machine, Happening what) { watch({now_, machine, std::move(what)}); }
    void see_write(std::size_t machine, const core::Write& what);
    void step(std::size_t machine, core::EventKind kind);
    void drain_inbox(std::size_t machine);
    void perform(std::size_t machine, core::Effect& effect);
    void sync(std::size_t machine, core::Ticket up_to);
    void notice_full_disk(std::size_t machine);
    void mine(std::size_t machine, const core::Mine& order);
    /// Whether it speaks with others at all.
    [[nodiscard]] bool is_running(std::size_t machine) const { return is_up(machine) || fetching(machine) != nullptr; }
    void take_fetched(std::size_t machine);
    /// What this machine answers to somebody who wants a state.
    core::Message look_up(std::size_t machine, const core::LookUpState& order);
    template <class Arrive>
    void carry_held(std::size_t from, std::size_t to, microseconds held, const Arrive& arrive);
    /// Takes the next one out of the queue, and does it.
    void do_next();
    void deliver(std::size_t from, std::size_t to, const core::SharedMessage& message);
    void connect(std::size_t left, std::size_t right);
    void disconnect(std::size_t left, std::size_t right);
    /// Both hear how long their link takes there and back.
    void measure(std::size_t left, std::size_t right);
    void update_links();
    void ask_again(std::size_t order);
    void answer(std::size_t machine, const core::Answer& answer);
    void lose(std::size_t machine, const core::Lost& lost);
    void note_settled(std::size_t machine, const ledger::TxId& tx);
    void leave(std::size_t order);
    /// What a machine knew of accepted orders is gone with its disk.
    void excuse(std::size_t machine);
    void take_keys(std::size_t machine, std::size_t of);
    [[nodiscard]] bool is_maker(std::size_t machine, const ledger::BlockHash& block) const;
    void one_load_event();
    void check_refusal(std::size_t order);
    void check_leases(std::size_t machine, const ledger::BlockHash& block);
    /// What an honest machine says, as it leaves.
    void note_own_words(std::size_t machine, const core::Message& message);

    Setup setup_;
    Random random_;
    FastSignatures signatures_;
    ledger::Rules kinds_;
    consensus::ConsensusRules rules_{signatures_, kinds_};
    ledger::SignatureCache cache_;
    Inline inline_;
    Archive archive_;
    const Founding& founding_;
    Checks checks_;
    std::vector<Machine> machines_;
    std::map<ledger::BlockHash, ledger::SnapshotManifest> manifests_;  ///< of states that somebody asked for
    std::map<std::pair<std::size_t, std::size_t>, LinkQuality> links_;
    std::set<std::pair<std::size_t, std::size_t>> blocked_;
    std::vector<Pending> queue_;  ///< a heap, the next one first
    Time now_;
    std::uint64_t numbers_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t trace_ = 0xcbf29ce484222325;
    std::uint64_t peer_numbers_ = 0;
    std::vector<Order> orders_;
    std::size_t open_orders_ = 0;
    bool leaving_ = false;
    bool anybody_left_ = false;
    std::uint64_t load_per_second_ = 0;
    std::uint64_t load_number_ = 0;
    std::uint64_t load_life_ = 0;
    std::vector<std::size_t> load_at_;
};

/// How a machine lies: sees what its node would send, and what it does send instead.
class Byzantine {
public:
    virtual ~Byzantine() = default;
    /// The message to this neighbour; nothing keeps it back. May send others through `sim`.
    virtual core::SharedMessage outgoing(Sim& sim, std::size_t self, std::size_t to, core::SharedMessage message) = 0;
    /// Called now and then, for those who do not only answer.
    virtual void act(Sim&, std::size_t) {}
    [[nodiscard]] virtual std::string describe() const = 0;
};

}  // namespace rhizome::sim
