// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "p2p/detail/inside.h"

/// What peers say on a link.
namespace rhizome::p2p {
namespace {

constexpr seconds kWindow{10};
constexpr hours kGoodAgain{1};

}  // namespace

void PeerManager::Inside::send(LinkId to, const LinkMessage& message) {
    effects.emplace_back(Send{to, encode(message)});
}

void PeerManager::Inside::send_hello(const Link& link) {
    send(link.id, Hello{.lowest = config.version_lowest,
                        .highest = config.version_highest,
                        .chain = config.chain,
                        .purpose = link.purpose,
                        .port = config.port,
                        .nonce = nonce,
                        .clock = now});
}

void PeerManager::Inside::fault(const Link& link, LinkFault fault, std::string_view what) {
    const LinkId id = link.id;
    const ledger::MemberKey identity = link.identity;  // the link may be gone before this ends
    const std::string why = fmt::format("{}: {}", what, name(fault));
    if (!blame(identity, cost_of(fault), why)) end(id, ByeReason::Misbehaved, why);
}

void PeerManager::Inside::handle(const Heard& event) {
    Link* link = find(event.from);
    if (link == nullptr) return;
    if (now - link->window >= kWindow) {
        link->window = now;
        link->window_messages = 0;
    }
    const auto type = static_cast<LinkType>(kFirstLinkType + event.message.index());
    if (++link->window_messages > config.link_messages_max) return fault(*link, LinkFault::Flood, name(type));
    const bool first = !link->greeted;
    const bool may_come = type == LinkType::Bye || first == (type == LinkType::Hello);
    // A link that only tests has nothing to say after its Hello.
    if (!may_come || (!first && !link->up && type != LinkType::Bye))
        return fault(*link, LinkFault::OutOfOrder, name(type));
    std::visit([&](const auto& message) { hear(*link, message); }, event.message);
}

void PeerManager::Inside::hear(Link& link, const Hello& hello) {
    const LinkId id = link.id;
    const bool out = link.direction == Direction::Out;
    const auto misfit = [&](ByeReason reason, std::string text) {
        if (out) note_failed(link.remote);
        end(id, reason, std::move(text));
    };
    const std::uint16_t version = std::min(config.version_highest, hello.highest);
    if (version < config.version_lowest || version < hello.lowest)
        return misfit(ByeReason::WrongVersion,
                      fmt::format("I speak versions {} to {}, you {} to {}", config.version_lowest,
                                  config.version_highest, hello.lowest, hello.highest));
    if (hello.chain != config.chain)
        return misfit(ByeReason::WrongChain,
                      fmt::format("my chain is {}, yours is {}", config.chain.hex(), hello.chain.hex()));
    if (hello.nonce == nonce) return misfit(ByeReason::Self, "this is myself");
    link.greeted = true;
    link.version = version;
    if (!out) {
        link.purpose = hello.purpose;
        if (hello.port != 0) {
            link.listens = Address{link.remote.ip, hello.port};
            if (book.add(*link.listens, link.remote, now)) changed = true;
        }
        if (hello.purpose == Purpose::Test) {
            link.hello_by = now + config.hello_timeout;  // the other is to leave by itself
            return;
        }
    } else {
        note_good(link.remote, link.identity);
        if (link.purpose == Purpose::Test) return end(id, ByeReason::Tested, "");
    }
    // Whoever dialled with the smaller key: both sides see the same two keys and keep the same link. But nobody dials
    // whom it is linked to: where the older did not begin at the same time as this one, the other side has lost it.
    const auto other = std::find_if(links.begin(), links.end(), [&](const auto& entry) {
        return entry.second.up && entry.second.identity == link.identity;
    });
    if (other != links.end()) {
        const bool ours_smaller = config.self < link.identity;
        const bool crossed = !other->second.silent && now - other->second.since < config.hello_timeout;
        const bool newer_stays = !crossed || other->second.direction == link.direction || out == ours_smaller;
        if (!newer_stays) return end(id, ByeReason::Duplicate, "another link stands");
        end(other->first, ByeReason::Duplicate, "another link stands");
    }
    bring_up(link);
}

void PeerManager::Inside::bring_up(Link& link) {
    link.up = true;
    link.ping_at = now;
    if (link.stays_out()) {
        book.note_linked(link.remote);
        changed = true;
        link.ask_peers_at = now + config.peers_first;
        const auto standing = static_cast<std::size_t>(std::count_if(
            links.begin(), links.end(), [](const auto& entry) { return entry.second.up && entry.second.stays_out(); }));
        if (standing >= config.outbound_max) book.forget_last_run();
    }
    effects.emplace_back(Up{link.id, link.identity, link.version});
}

void PeerManager::Inside::hear(Link& link, const Ping& ping) { send(link.id, Pong{ping.nonce, now}); }

void PeerManager::Inside::hear(Link& link, const Pong& pong) {
    if (!link.ping_sent || pong.nonce != link.ping_nonce) return;
    link.ping = std::max(microseconds{0}, now - *link.ping_sent);
    link.clock_offset = pong.clock - (*link.ping_sent + *link.ping / 2);
    link.ping_at = *link.ping_sent + (is_member(link.identity) ? config.member_ping_every : config.ping_every);
    link.ping_sent.reset();
    if (link.up) effects.emplace_back(Measured{link.id, *link.ping});
    // Its place may be taken meanwhile.
    if (std::exchange(link.silent, false) && link.stays_out() && outbound() > config.outbound_max)
        return end(link.id, ByeReason::Full, "enough links of my own");
    // A link that has stood for days shows every few seconds that its address is good.
    if (!link.stays_out()) return;
    const KnownAddress* known = book.find(link.remote);
    if (known == nullptr || !known->good || now - *known->good >= kGoodAgain) note_good(link.remote, link.identity);
}

void PeerManager::Inside::hear(Link& link, const GetPeers&) {
    // Asked too often is no fault: the asker's clock may run faster.
    if (link.peers_answered && now - *link.peers_answered < config.peers_answer_every) return;
    link.peers_answered = now;
    send(link.id, Peers{book.sample(random, kPeersMax, link.listens.value_or(link.remote), now)});
}

void PeerManager::Inside::hear(Link& link, const Peers& peers) {
    if (!link.peers_asked) return fault(link, LinkFault::NotAsked, name(LinkType::Peers));
    link.peers_asked = false;
    for (const Address& address : peers.addresses)
        if (!own.contains(address) && book.add(address, link.remote, now)) changed = true;
}

void PeerManager::Inside::hear(Link& link, const Bye& bye) {
    const bool quiet = bye.reason == ByeReason::Duplicate || bye.reason == ByeReason::Tested;
    if (link.direction == Direction::Out && !quiet) note_failed(link.remote);
    drop(link.id, bye.reason, fmt::format("the peer says: {}", bye.text));
}

}  // namespace rhizome::p2p
