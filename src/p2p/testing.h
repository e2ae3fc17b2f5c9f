// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "crypto/hash.h"
#include "p2p/peer_manager.h"

/// What the tests of the peer manager share.
namespace rhizome::p2p::testing {

inline const Time kStart = Time::from_unix_seconds(1'800'000'000);
inline const ledger::ChainId kChain{crypto::sha256(as_bytes("chain")).view()};

inline ledger::MemberKey key(unsigned number) {
    ledger::MemberKey identity{2};
    identity[1] = static_cast<std::uint8_t>(number >> 8);
    identity[2] = static_cast<std::uint8_t>(number);
    return identity;
}
inline Address world(unsigned number) {
    return Address::v4(static_cast<std::uint8_t>(20 + number / 250), static_cast<std::uint8_t>(number % 250), 0, 1,
                       7700);
}
inline Address lan(unsigned number) { return Address::v4(10, 0, 0, static_cast<std::uint8_t>(number), 7700); }

/// One manager whose world is the test. It is woken when it wants to be.
struct Host {
    explicit Host(PeerConfig config = {}, std::uint64_t seed = 1, AddrBook book = AddrBook{{7}})
        : config_used(fill(config)), manager(config_used, std::move(book), seed) {}

    static PeerConfig fill(PeerConfig config) {
        config.chain = kChain;
        config.self = key(500);
        config.port = 7700;
        return config;
    }

    std::vector<Effect> tell(EventKind kind) {
        auto effects = manager.step({now, std::move(kind)});
        for (const Effect& effect : effects) {
            if (const auto* wake = std::get_if<Wake>(&effect)) wake_at = wake->at;
            if (const auto* one = std::get_if<Dial>(&effect)) dials.push_back(*one);
            if (const auto* one = std::get_if<Up>(&effect)) up.insert(one->link);
            if (const auto* one = std::get_if<Down>(&effect)) up.erase(one->link);
            if (const auto* one = std::get_if<Close>(&effect)) closed[one->link] = one->reason;
            if (std::holds_alternative<Save>(effect)) ++saves;
            if (const auto* one = std::get_if<Send>(&effect)) {
                const auto message = decode_link_message(one->payload).value();
                said[one->to].push_back(message);
                // Peers of this world answer pings.
                if (const auto* ping = std::get_if<Ping>(&message); ping != nullptr && answers)
                    pongs.emplace_back(one->to, *ping);
            }
        }
        for (auto& [link, ping] : std::exchange(pongs, {})) tell(Heard{link, Pong{ping.nonce, now + seconds{3}}});
        return effects;
    }
    void run(microseconds duration) {
        const Time end = now + duration;
        while (wake_at <= end) {
            now = std::max(now, wake_at);
            wake_at = end + seconds{1};
            tell(Tick{});
        }
        now = end;
    }
    Hello hello() const {
        return {.lowest = kVersionLowest,
                .highest = kVersionHighest,
                .chain = kChain,
                .port = 7700,
                .nonce = 5,
                .clock = now};
    }
    LinkId link(Direction direction, Address remote, unsigned who) {
        const LinkId id{++links};
        tell(Linked{id, direction, remote, key(who)});
        return id;
    }
    /// With its Hello.
    LinkId join(Direction direction, Address remote, unsigned who) {
        const LinkId id = link(direction, remote, who);
        tell(Heard{id, hello()});
        return id;
    }
    /// Answers every dial as the node `number` that listens at world(number) or lan(number) does.
    void answer_dials(unsigned base = 0) {
        for (const Dial& dial : std::exchange(dials, {})) {
            const unsigned number = dial.address.scope() == Scope::Lan
                                        ? dial.address.ip[15]
                                        : (dial.address.ip[12] - 20u) * 250 + dial.address.ip[13];
            join(Direction::Out, dial.address, base + number);
        }
    }
    [[nodiscard]] std::size_t count(Direction direction) const {
        std::size_t total = 0;
        for (const PeerStatus& peer : manager.peers()) total += peer.up && peer.direction == direction ? 1 : 0;
        return total;
    }
    template <class Message>
    [[nodiscard]] std::size_t said_of(LinkId link) const {
        std::size_t total = 0;
        if (const auto at = said.find(link); at != said.end())
            for (const LinkMessage& message : at->second) total += std::holds_alternative<Message>(message) ? 1 : 0;
        return total;
    }

    PeerConfig config_used;
    PeerManager manager;
    Time now = kStart;
    Time wake_at = kStart;
    std::uint64_t links = 0;
    bool answers = true;
    int saves = 0;
    std::vector<Dial> dials;
    std::set<LinkId> up;
    std::map<LinkId, ByeReason> closed;
    std::map<LinkId, std::vector<LinkMessage>> said;
    std::vector<std::pair<LinkId, Ping>> pongs;
};

}  // namespace rhizome::p2p::testing
