// SPDX-License-Identifier: Apache-2.0
#include "p2p/peer_manager.h"

#include <algorithm>

#include "p2p/detail/inside.h"

namespace rhizome::p2p {
namespace {

/// Longer than any time that this layer asks to be woken after: a larger step means that the host slept or its clock
/// was set, and nobody else is to blame for the silence.
constexpr seconds kStepMax{20};

/// A host that wakes this layer so much later than it asked for was not running.
constexpr seconds kAwake{1};

}  // namespace

void Link::shift(microseconds by) {
    since += by;
    hello_by += by;
    ping_at += by;
    ask_peers_at += by;
    window += by;
    if (ping_sent) *ping_sent += by;
    silent_at += by;
    if (peers_answered) *peers_answered += by;
    if (active > Time{}) active += by;
}

PeerManager::Inside::Inside(const PeerConfig& config_in, AddrBook book_in, std::uint64_t seed)
    : config(config_in),
      book(std::move(book_in)),
      random(seed),
      nonce(random.fork("nonce").next()),
      anchors(book.anchors()) {}

void PeerManager::Inside::set_time(Time time) {
    const microseconds step = time - now;
    if (!started) {
        dial_at = save_at = time;
        feeler_at = time + config.feeler_every;
        started = true;
    } else if (step < microseconds{0} || step > kStepMax) {
        for (auto& [id, link] : links) link.shift(step);
        for (auto& [address, one] : dialling) one.since += step;
        conduct.shift(step);
        dial_at += step;
        feeler_at += step;
        save_at += step;
        woken.reset();
    }
    now = time;
}

void PeerManager::Inside::handle(const Tick&) {}

void PeerManager::Inside::handle(const MembersChanged& event) {
    members.clear();
    for (const auto& member : event.members) {
        if (member.key == config.self) continue;
        const bool usable = member.address && member.address->is_routable();
        members[member.key] = usable ? member.address : std::nullopt;
    }
    std::set<Address> still{seeds.begin(), seeds.end()};
    for (const auto& [key, address] : members)
        if (address) still.insert(*address);
    std::erase_if(waiting, [&](const auto& entry) { return !still.contains(entry.first); });
    dial_at = std::min(dial_at, now);
}

void PeerManager::Inside::handle(const AddSeeds& event) {
    for (const Address& seed : event.seeds)
        if (seed.is_routable() && seeds.size() < kSeedsMax &&
            std::find(seeds.begin(), seeds.end(), seed) == seeds.end())
            seeds.push_back(seed);
    dial_at = std::min(dial_at, now);
}

void PeerManager::Inside::watch_links() {
    // Whoever was paused itself has to read first what came meanwhile.
    const bool overslept = due && now > *due + kAwake;
    std::vector<Address> unanswered;
    for (const auto& [address, one] : dialling)
        if (now >= one.since + config.dial_timeout) unanswered.push_back(address);
    for (const Address& address : unanswered) handle(LinkFailed{address, "no answer"});
    std::vector<LinkId> silent;
    for (auto& [id, link] : links) {
        if (!link.up) {
            if (now >= link.hello_by) silent.push_back(id);
            continue;
        }
        if (link.ping_sent) {
            if (now >= *link.ping_sent + config.ping_timeout) silent.push_back(id);
            if (overslept) link.silent_at = std::max(link.silent_at, now + kAwake);
            if (!link.silent && now >= link.silent_at && is_member(link.identity)) {
                link.silent = true;
                dial_at = std::min(dial_at, now);
            }
        } else if (now >= link.ping_at) {
            link.ping_nonce = random.next();
            link.ping_sent = now;
            link.silent_at = now + config.silent_after;
            send(id, Ping{link.ping_nonce, now});
        }
        if (link.stays_out() && now >= link.ask_peers_at) {
            link.peers_asked = true;
            link.ask_peers_at = now + (outbound() < config.outbound_max ? config.peers_again : config.peers_rarely);
            send(id, GetPeers{});
        }
    }
    for (const LinkId id : silent) {
        const Link& link = links.at(id);
        if (link.direction == Direction::Out) note_failed(link.remote);
        end(id, ByeReason::Silent, link.up ? "no answer to a ping" : "no hello in time");
    }
}

void PeerManager::Inside::wake() {
    Time next = outbound() < config.outbound_max ? dial_at : feeler_at;
    for (const auto& [address, one] : dialling) next = std::min(next, one.since + config.dial_timeout);
    for (const auto& [id, link] : links) {
        next = std::min(next, !link.up                                   ? link.hello_by
                              : !link.ping_sent                          ? link.ping_at
                              : link.silent || !is_member(link.identity) ? *link.ping_sent + config.ping_timeout
                                                                         : link.silent_at);
        if (link.up && link.stays_out()) next = std::min(next, link.ask_peers_at);
    }
    if (changed) next = std::min(next, save_at);
    next = std::max(next, now + milliseconds{1});  // what is due now was done now
    next = std::min(next, now + config.ping_every);
    if (woken && *woken == next) return;
    woken = next;
    effects.emplace_back(Wake{next});
}

PeerManager::PeerManager(const PeerConfig& config, AddrBook book, std::uint64_t seed, Conduct conduct)
    : inside_(std::make_unique<Inside>(config, std::move(book), seed)) {
    inside_->conduct = std::move(conduct);
}
PeerManager::PeerManager(PeerManager&&) noexcept = default;
PeerManager& PeerManager::operator=(PeerManager&&) noexcept = default;
PeerManager::~PeerManager() = default;

std::vector<Effect> PeerManager::step(const Event& event) {
    Inside& in = *inside_;
    in.set_time(event.now);
    in.due = in.woken;
    if (in.woken && *in.woken <= in.now) in.woken.reset();
    std::visit([&](const auto& kind) { in.handle(kind); }, event.kind);
    in.watch_links();
    if (!in.leaving) in.dial_more();
    if (in.changed && in.now >= in.save_at) {
        in.changed = false;
        in.save_at = in.now + in.config.save_every;
        in.effects.emplace_back(Save{});
    }
    in.wake();
    return std::exchange(in.effects, {});
}

const AddrBook& PeerManager::book() const { return inside_->book; }

std::vector<PeerStatus> PeerManager::peers() const {
    std::vector<PeerStatus> list;
    for (const auto& [id, link] : inside_->links)
        list.push_back({.link = id,
                        .identity = link.identity,
                        .address = link.listens.value_or(link.remote),
                        .direction = link.direction,
                        .up = link.up,
                        .member = inside_->is_member(link.identity),
                        .since = link.since,
                        .useful = link.active > Time{} ? std::optional{link.active} : std::nullopt,
                        .ping = link.ping,
                        .clock_offset = link.clock_offset,
                        .score = inside_->conduct.score(link.identity, inside_->now)});
    return list;
}

Bytes PeerManager::encode_bans() const { return inside_->conduct.encode(inside_->now); }
std::vector<Ban> PeerManager::bans() const { return inside_->conduct.bans(inside_->now); }
bool PeerManager::lift_ban(const ledger::MemberKey& identity) { return inside_->conduct.lift(identity, inside_->now); }

}  // namespace rhizome::p2p
