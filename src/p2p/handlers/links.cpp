// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "p2p/detail/inside.h"

/// Links come and go: who gets in, who is let go, who is banned.
namespace rhizome::p2p {
namespace {

constexpr std::size_t kOwnMax = 16;

}  // namespace

Link* PeerManager::Inside::find(LinkId id) {
    const auto at = links.find(id);
    return at == links.end() ? nullptr : &at->second;
}

Link PeerManager::Inside::remove(LinkId id) {
    const Link link = links.at(id);
    links.erase(id);
    if (link.up) effects.emplace_back(Down{id});
    if (link.up && link.stays_out()) {
        book.note_unlinked(link.remote);
        changed = true;
    }
    return link;
}

void PeerManager::Inside::drop(LinkId id, ByeReason reason, std::string why) {
    if (find(id) != nullptr) remove(id);
    effects.emplace_back(Close{id, reason, std::move(why)});
}

void PeerManager::Inside::end(LinkId id, ByeReason reason, std::string text) {
    if (find(id) != nullptr) remove(id);  // the core's peer is gone before anybody is told why
    send(id, Bye{reason, text});
    effects.emplace_back(Close{id, reason, std::move(text)});
}

std::optional<std::string> PeerManager::Inside::refuse_inbound(const ledger::MemberKey& identity) {
    std::size_t inbound = 0;
    std::vector<Evictable> strangers;
    for (const auto& [id, link] : links) {
        if (link.direction != Direction::In) continue;
        ++inbound;
        if (!is_member(link.identity))
            strangers.push_back({id, link.remote.group(), link.since, link.active, link.ping});
    }
    const bool room = inbound < config.inbound_max;
    const bool member = is_member(identity);
    // A node that knows no member yet cannot tell who is one, and whoever helps it is welcome.
    const std::size_t strangers_max = members.empty() ? config.inbound_max : config.inbound_strangers_max;
    if (room && (member || strangers.size() < strangers_max)) return std::nullopt;
    auto victim = choose_eviction(strangers);
    if (!victim && member && !strangers.empty())
        victim = std::max_element(strangers.begin(), strangers.end(), [](const auto& left, const auto& right) {
                     return std::tie(left.since, left.link) < std::tie(right.since, right.link);
                 })->link;
    if (!victim) return member ? "no room for another member" : "no room for another non-member";
    end(*victim, ByeReason::Full, "the place is needed for another");
    return std::nullopt;
}

void PeerManager::Inside::handle(const Linked& event) {
    if (find(event.link) != nullptr) return;
    Link link{.id = event.link, .direction = event.direction, .remote = event.remote, .identity = event.identity};
    const bool out = event.direction == Direction::Out;
    std::optional<ledger::MemberKey> expected;
    if (const auto at = dialling.find(event.remote); out && at != dialling.end()) {
        link.purpose = at->second.purpose;
        expected = at->second.expected;
        dialling.erase(at);
    }
    if (event.identity == config.self) {
        if (out) {
            if (own.size() < kOwnMax) own.insert(event.remote);
            book.forget(event.remote);
            std::erase(seeds, event.remote);
        }
        return end(event.link, ByeReason::Self, "this is myself");
    }
    if (expected && *expected != event.identity) {
        note_failed(event.remote);
        return end(event.link, ByeReason::WrongOwner, "another node was expected here");
    }
    if (conduct.is_banned(event.identity, now)) {
        if (out) note_failed(event.remote);
        return end(event.link, ByeReason::Banned, "banned for what it sent before");
    }
    if (link.stays_out() && outbound() >= config.outbound_max)
        return end(event.link, ByeReason::Full, "enough links of my own");
    if (!out) {
        // One identity may not take up room by beginning again and again.
        std::vector<LinkId> begun;
        for (const auto& [id, other] : links)
            if (other.direction == Direction::In && other.identity == event.identity && !other.up) begun.push_back(id);
        for (const LinkId id : begun) end(id, ByeReason::Duplicate, "a newer link");
        if (auto why = refuse_inbound(event.identity)) return end(event.link, ByeReason::Full, *std::move(why));
    }
    link.since = now;
    link.hello_by = now + config.hello_timeout;
    link.window = now;
    if (out) link.listens = event.remote;
    send_hello(links.emplace(event.link, link).first->second);
}

void PeerManager::Inside::handle(const LinkFailed& event) {
    if (dialling.erase(event.address) > 0) note_failed(event.address);
}

void PeerManager::Inside::handle(const Closed& event) {
    if (find(event.link) == nullptr) return;
    const Link link = remove(event.link);
    if (link.direction == Direction::Out) note_failed(link.remote);
}

bool PeerManager::Inside::blame(const ledger::MemberKey& identity, std::uint32_t cost, const std::string& why) {
    if (!conduct.blame(identity, cost, why, now)) return false;
    changed = true;
    save_at = std::min(save_at, now);  // a crash must not forgive it
    std::vector<LinkId> all;
    for (const auto& [id, link] : links)
        if (link.identity == identity) all.push_back(id);
    for (const LinkId id : all) {
        if (links.at(id).direction == Direction::Out) note_failed(links.at(id).remote);
        end(id, ByeReason::Misbehaved, why);
    }
    return true;
}

void PeerManager::Inside::handle(const Misbehaved& event) {
    const Link* link = find(event.link);
    if (link == nullptr) return;
    const ledger::MemberKey identity = link->identity;
    const bool unreadable =
        event.why.code == ledger::RejectCode::BadEncoding || event.why.code == ledger::RejectCode::TooLarge;
    if (blame(identity, cost_of(event.why.code), ledger::to_text(event.why))) return;
    // After bytes that could not be read nobody knows where to read on.
    if (unreadable) end(event.link, ByeReason::Misbehaved, ledger::to_text(event.why));
}

void PeerManager::Inside::handle(const Leave&) {
    leaving = true;
    std::vector<LinkId> all;
    for (const auto& [id, link] : links) all.push_back(id);
    for (const LinkId id : all) end(id, ByeReason::Leaving, "this node stops");
}

void PeerManager::Inside::handle(const WasActive& event) {
    if (Link* link = find(event.link)) link->active = now;
}

}  // namespace rhizome::p2p
