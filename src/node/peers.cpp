// SPDX-License-Identifier: Apache-2.0
#include "node/peers.h"

#include <array>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>

#include "base/bounded.h"
#include "core/passing_messages.h"
#include "core/wire.h"
#include "ledger/chain_records.h"
#include "ledger/special_kinds.h"
#include "node/gossip.h"
#include "node/status.h"
#include "p2p/peer_manager.h"
#include "runtime/clock.h"
#include "runtime/entropy.h"
#include "stream/timers.h"

namespace rhizome::node {
namespace {

constexpr std::string_view kNotes = "peers";
constexpr std::string_view kBook = "book";
constexpr std::string_view kBans = "bans";
/// For goodbyes to leave before the links are cut.
constexpr milliseconds kGoodbye{500};
constexpr seconds kResolveAgain{60};
constexpr std::size_t kOffendersTold = 256;

stream::Address to_stream(const p2p::Address& address) {
    const auto parsed = stream::Address::parse(p2p::to_text(address));
    return parsed ? *parsed : stream::Address{};
}
std::optional<p2p::Address> to_p2p(const stream::Address& address) {
    const auto parsed = p2p::Address::parse(address.text());
    if (!parsed) return std::nullopt;
    return *parsed;
}

/// Where a member says that it is reached: the first of its addresses that is a number.
std::optional<p2p::Address> reported_link(const std::string& node, const NodeView& view) {
    const auto path = state::Path::node_report(node);
    const state::Entry* entry = path ? view.state.get(*path) : nullptr;
    if (entry == nullptr) return std::nullopt;
    const json::Value report = ledger::parse_checked(entry->document());
    const json::Value* links = report.find_path({"status", "links"});
    if (links == nullptr || !links->is_array()) return std::nullopt;
    for (const json::Value& one : *links->if_array()) {
        const auto address =
            one.is_string() ? p2p::Address::parse(*one.if_string()) : Result<p2p::Address>{Fail{Error{}}};
        if (address && address->is_routable()) return *address;
    }
    return std::nullopt;
}

bool is_report(std::string_view key) {
    return state::Prefix::nodes().covers(key) &&
           state::Path::from_checked_key(key).shape() == state::Path::Shape::NodeReport;
}

std::uint64_t random_seed() {
    std::array<std::uint8_t, 8> bytes{};
    runtime::fill_with_entropy(bytes);
    std::uint64_t seed = 0;
    std::memcpy(&seed, bytes.data(), sizeof seed);
    return seed;
}

}  // namespace

struct Peers::Inside final : net::LinkOwner, PeerPort, Gossip::Carrier, std::enable_shared_from_this<Peers::Inside> {
    Inside(stream::IoContext& io_in, Host& host_in, PeerOptions options_in)
        : io(io_in), host(host_in), options(std::move(options_in)), strand(host_in.strand()) {}

    stream::IoContext& io;
    Host& host;
    const PeerOptions options;
    const stream::Strand strand;
    std::unique_ptr<net::Links> links{};
    std::unique_ptr<p2p::PeerManager> manager{};
    std::unique_ptr<stream::Timer> wake{};
    std::unique_ptr<stream::Timer> resolve{};
    std::shared_ptr<void> watching{};
    std::vector<stream::Address> addresses{};
    /// Dials by what the manager asked for: the answer names the same.
    std::map<stream::Address, p2p::Address> dialled{};
    std::set<p2p::LinkId> up{};
    std::set<ledger::MemberKey> refused{};                                   ///< no links with these
    std::map<net::LinkNumber, std::pair<net::ChainKey, std::string>> who{};  ///< at the other end, and where
    /// Whose misbehaviour was told: once for each, and of strangers not so many that they fill the log.
    LruCache<std::string, char> told{kOffendersTold};
    std::size_t strangers_told = 0;
    void tell_offender(net::LinkNumber link, const std::string& why);
    bool stopped = false;

    mutable std::mutex mutex{};
    json::Array shown{};
    std::set<net::LinkNumber> open{};
    std::condition_variable all_closed{};

    // ---- what links say --------------------------------------------------------------------------------------------
    void linked(net::LinkNumber link, bool out, const stream::Address& remote, const net::ChainKey& identity) override {
        auto address = to_p2p(remote);
        if (out)
            if (const auto asked = dialled.extract(remote); !asked.empty()) address = asked.mapped();
        {
            const std::lock_guard hold{mutex};
            open.insert(link);
        }
        if (!address) return links->close(link, "its address cannot be read");
        if (refused.contains(identity)) {
            if (out) step(p2p::LinkFailed{*address, "it is refused by hand"});
            return links->close(link, "it is refused by hand");
        }
        who.emplace(link, std::pair{identity, remote.text()});
        step(p2p::Linked{p2p::LinkId{link}, out ? p2p::Direction::Out : p2p::Direction::In, *address, identity});
    }
    void dial_failed(const stream::Address& remote, const Error& why) override {
        options.log.debug("nobody could be reached", {{"address", remote.text()}, {"why", why}});
        const auto asked = dialled.extract(remote);
        if (!asked.empty()) step(p2p::LinkFailed{asked.mapped(), why.message});
    }
    void heard(net::LinkNumber link, Bytes payload) override;
    void broke(net::LinkNumber link, const Error& why) override {
        step(p2p::Misbehaved{p2p::LinkId{link}, {.code = ledger::RejectCode::BadEncoding, .why = why.message}});
    }
    void closed(net::LinkNumber link, const std::string& why) override {
        options.log.debug("a link ended", {{"link", link}, {"why", why}});
        who.erase(link);
        step(p2p::Closed{p2p::LinkId{link}});
        const std::lock_guard hold{mutex};
        open.erase(link);
        all_closed.notify_all();
    }

    // ---- what the node says ----------------------------------------------------------------------------------------
    void send(core::PeerId to, const core::SharedMessage& message) override {
        // Most messages go to many: they are made into bytes once.
        if (last_message != message) {
            last_message = message;
            last_frame = std::make_shared<const Bytes>(p2p::frame_of(core::encode(*message)));
        }
        links->send(to.number(), last_frame);
    }
    void pass(core::PeerId to, const core::SharedPassing& message) override {
        links->send(to.number(), std::make_shared<const Bytes>(p2p::frame_of(core::encode(*message))));
    }
    void blame(core::PeerId peer, const ledger::Reject& why) override {
        step(p2p::Misbehaved{p2p::LinkId{peer.number()}, why});
    }
    void praise(core::PeerId peer) override { step(p2p::WasActive{p2p::LinkId{peer.number()}}); }
    core::SharedMessage last_message{};
    std::shared_ptr<const Bytes> last_frame{};

    /// What an effect leads to waits until the others of its step are carried out.
    void step(p2p::EventKind event) {
        events.push_back(std::move(event));
        if (is_stepping) return;
        is_stepping = true;
        while (!events.empty() && !stopped) {
            const p2p::EventKind next = std::move(events.front());
            events.pop_front();
            for (p2p::Effect& effect : manager->step({runtime::now(), next})) perform(effect);
        }
        events.clear();
        is_stepping = false;
        show();
    }
    std::deque<p2p::EventKind> events{};
    bool is_stepping = false;
    void perform(p2p::Effect& effect);
    void save() {
        (void)host.put_note(kNotes, kBook, manager->book().encode());
        (void)host.put_note(kNotes, kBans, manager->encode_bans());
    }
    void tell_members(const NodeView& view);
    void show();
    Result<void> begin(const crypto::NodeKeys& keys);
    static stream::Task<void> resolve_seeds(std::shared_ptr<Inside> self, std::vector<stream::Address> seeds);
};

void Peers::Inside::heard(net::LinkNumber link, Bytes payload) {
    const p2p::LinkId id{link};
    const bool is_passing = payload[0] >= core::kFirstPassingType;
    if (payload[0] >= p2p::kFirstLinkType && !is_passing) {
        auto message = p2p::decode_link_message(payload);
        if (!message) return step(p2p::Misbehaved{id, message.error()});
        return step(p2p::Heard{id, *std::move(message)});
    }
    if (!up.contains(id))
        return step(p2p::Misbehaved{id, {.code = ledger::RejectCode::BadEncoding, .why = "it spoke before its Hello"}});
    if (is_passing) {
        auto news = core::decode_passing(payload);
        if (!news) return step(p2p::Misbehaved{id, news.error()});
        if (options.gossip != nullptr) options.gossip->heard(core::PeerId{link}, *std::move(news));
        return;
    }
    auto message = core::decode_message(payload);
    if (!message) return step(p2p::Misbehaved{id, message.error()});
    host.step(core::Heard{core::PeerId{link}, std::make_shared<const core::Message>(*std::move(message))});
}

void Peers::Inside::perform(p2p::Effect& effect) {
    if (const auto* dial = std::get_if<p2p::Dial>(&effect)) {
        const auto address = to_stream(dial->address);
        dialled.emplace(address, dial->address);
        links->dial(address, dial->expected);
    } else if (const auto* message = std::get_if<p2p::Send>(&effect)) {
        links->send(message->to.number(), std::make_shared<const Bytes>(p2p::frame_of(message->payload)));
    } else if (const auto* met = std::get_if<p2p::Up>(&effect)) {
        const auto name = node_name_of(met->identity, *host.view());
        options.log.info("linked to a peer", {{"peer", name.empty() ? to_hex(met->identity).substr(0, 16) : name}});
        up.insert(met->link);
        host.step(core::PeerUp{core::PeerId{met->link.number()}, met->identity});
        if (options.gossip != nullptr) options.gossip->peer_up(core::PeerId{met->link.number()});
    } else if (const auto* down = std::get_if<p2p::Down>(&effect)) {
        up.erase(down->link);
        host.step(core::PeerDown{core::PeerId{down->link.number()}});
        if (options.gossip != nullptr) options.gossip->peer_down(core::PeerId{down->link.number()});
    } else if (const auto* measured = std::get_if<p2p::Measured>(&effect)) {
        host.step(core::RoundTrip{core::PeerId{measured->link.number()}, measured->round_trip});
    } else if (const auto* close = std::get_if<p2p::Close>(&effect)) {
        if (close->reason == p2p::ByeReason::Misbehaved) tell_offender(close->link.number(), close->why);
        links->close(close->link.number(), close->why);
    } else if (const auto* wanted = std::get_if<p2p::Wake>(&effect)) {
        wake->set(stream::after(wanted->at - runtime::now()));
    } else if (std::holds_alternative<p2p::Save>(effect)) {
        save();
    }
}

void Peers::Inside::tell_offender(net::LinkNumber link, const std::string& why) {
    const auto found = who.find(link);
    if (found == who.end()) return;
    const auto& [identity, address] = found->second;
    const std::string key = to_hex(identity);
    if (told.get(key) != nullptr) return;
    told.put(key, 0);
    const std::string name = node_name_of(identity, *host.view());
    // Anybody can make keys; members are few.
    if (name.empty() && ++strangers_told > kOffendersTold) return;
    options.log.warn("a peer was cut off for what it sent; from 100 points on it is banned",
                     {{"peer", name.empty() ? key : name}, {"address", address}, {"why", why}});
}

void Peers::Inside::tell_members(const NodeView& view) {
    p2p::MembersChanged event;
    for (const MemberStatus& one : members_of(view)) event.members.push_back({one.key, reported_link(one.node, view)});
    step(std::move(event));
}

void Peers::Inside::show() {
    const auto view = host.view();
    json::Array rows;
    for (const p2p::PeerStatus& peer : manager->peers()) {
        if (!peer.up) continue;
        json::Object row{{"key", to_hex(peer.identity)},
                         {"node", node_name_of(peer.identity, *view)},
                         {"address", p2p::to_text(peer.address)},
                         {"direction", peer.direction == p2p::Direction::Out ? "out" : "in"},
                         {"since", to_rfc3339(peer.since)},
                         {"score", peer.score}};
        if (peer.useful) row.set("useful", to_rfc3339(*peer.useful));
        if (peer.ping) row.set("pingMicros", peer.ping->count());
        if (peer.clock_offset) row.set("clockOffsetMicros", peer.clock_offset->count());
        rows.push_back(std::move(row));
    }
    const std::lock_guard hold{mutex};
    shown = std::move(rows);
}

stream::Task<void> Peers::Inside::resolve_seeds(std::shared_ptr<Inside> self, std::vector<stream::Address> seeds) {
    p2p::AddSeeds event;
    for (const stream::Address& seed : seeds) {
        const auto found = co_await stream::resolve(seed, stream::after(seconds{10}));
        if (!found) {
            self->options.log.warn("a seed cannot be resolved", {{"seed", seed.text()}, {"why", found.error()}});
            continue;
        }
        for (const stream::Address& one : *found)
            if (const auto address = to_p2p(one)) event.seeds.push_back(*address);
    }
    if (!self->stopped && !event.seeds.empty()) self->step(std::move(event));
}

/// Listens, and remembers what the run before knew.
Result<void> Peers::Inside::begin(const crypto::NodeKeys& keys) {
    TRY(links,
        net::Links::start(io, strand, {.listen = options.listen, .log = options.log}, keys, frame_bytes_max, *this));
    addresses = links->addresses();
    const p2p::PeerConfig rules{.chain = host.view()->chain,
                                .self = host.key(),
                                .port = addresses.empty() ? std::uint16_t{0} : addresses.front().port,
                                .outbound_max = options.outbound,
                                .inbound_max = options.inbound_max};
    // The book's key is the node's own secret, and the same after a restart.
    p2p::AddrBook::Key key{};
    const auto secret =
        crypto::tagged_hash(crypto::HashTag::Transport, as_bytes("address book"), keys.transport.reveal());
    std::copy(secret.view().begin(), secret.view().end(), key.begin());
    p2p::AddrBook book{key};
    if (const auto kept = host.store().note(kNotes, kBook); kept && !kept->empty())
        if (auto read = p2p::AddrBook::decode(*kept, key)) book = *std::move(read);
    p2p::Conduct conduct;
    if (const auto kept = host.store().note(kNotes, kBans); kept && !kept->empty())
        if (auto read = p2p::Conduct::decode(*kept)) conduct = *std::move(read);
    manager = std::make_unique<p2p::PeerManager>(rules, std::move(book), random_seed(), std::move(conduct));
    wake = std::make_unique<stream::Timer>(strand, [this] { step(p2p::Tick{}); });
    resolve = std::make_unique<stream::Timer>(strand, [this] {
        stream::spawn(strand, resolve_seeds(shared_from_this(), options.seeds));
        resolve->set(stream::after(kResolveAgain));
    });
    return ok();
}

std::size_t frame_bytes_max(std::uint8_t type) {
    if (type >= core::kFirstPassingType) return core::passing_bytes_max(type);
    if (type >= p2p::kFirstLinkType) return p2p::link_bytes_max(type);
    return core::bytes_max(static_cast<core::MessageType>(type));
}

Peers::Peers(std::shared_ptr<Inside> inside) : inside_(std::move(inside)) {}
Peers::~Peers() { stop(); }

Result<std::unique_ptr<Peers>> Peers::start(stream::IoContext& io, Host& host, const crypto::NodeKeys& keys,
                                            PeerOptions options) {
    auto inside = std::make_shared<Inside>(io, host, std::move(options));
    Inside& in = *inside;
    // On the strand, as all that links say: whoever dials in at once is heard of when there is somebody to hear it.
    auto begun = Result<void>{ok()};
    stream::run_on(in.strand, [&] { begun = in.begin(keys); });
    TRY(begun);
    std::unique_ptr<Peers> peers{new Peers{std::move(inside)}};
    in.strand.post([&in] {
        in.host.set_peers(&in);
        if (in.options.gossip != nullptr) in.options.gossip->set_carrier(&in);
        in.tell_members(*in.host.view());
        if (!in.options.seeds.empty()) in.resolve->set(stream::after(seconds{0}));
        in.step(p2p::Tick{});
    });
    in.watching = host.watch([&in](const core::Notice& notice, const NodeView& view) {
        const auto* moved = std::get_if<core::TipMoved>(&notice);
        if (moved == nullptr) return;
        const auto members = ledger::records::all_members();
        for (const state::Change& change : moved->change.changes())
            if (members.covers(change.key()) || is_report(change.key())) return in.tell_members(view);
    });
    return peers;
}

void Peers::stop() {
    if (!inside_) return;
    const auto in = std::move(inside_);
    stream::run_on(in->strand, [&] {
        in->save();  // while the links stand: the oldest are the next run's anchors
        in->step(p2p::Leave{});
    });
    {
        std::unique_lock hold{in->mutex};
        (void)in->all_closed.wait_for(hold, kGoodbye, [&] { return in->open.empty(); });
    }
    stream::run_on(in->strand, [&] {
        in->stopped = true;
        in->host.set_peers(nullptr);
        if (in->options.gossip != nullptr) in->options.gossip->set_carrier(nullptr);
        in->watching.reset();
        in->wake.reset();
        in->resolve.reset();
    });
    in->links->stop();
}

void Peers::add_seed(const stream::Address& address) {
    const auto seed = to_p2p(address);
    if (!inside_ || inside_->stopped || !seed) return;
    p2p::AddSeeds event;
    event.seeds.push_back(*seed);
    inside_->step(std::move(event));
}

void Peers::refuse(std::set<ledger::MemberKey> keys) {
    inside_->strand.post([in = inside_, keys = std::move(keys)]() mutable {
        if (in->stopped) return;
        in->refused = std::move(keys);
        for (const p2p::PeerStatus& peer : in->manager->peers()) {
            if (!in->refused.contains(peer.identity)) continue;
            in->links->close(peer.link.number(), "it is refused by hand");
            in->step(p2p::Closed{peer.link});
        }
    });
}

const std::vector<stream::Address>& Peers::addresses() const { return inside_->addresses; }

json::Array Peers::list() const {
    const std::lock_guard hold{inside_->mutex};
    return inside_->shown;
}

}  // namespace rhizome::node
