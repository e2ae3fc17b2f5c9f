// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "p2p/testing.h"
#include "support/seed.h"

namespace rhizome::p2p {
namespace {

using testing::key;
using testing::kStart;
using testing::lan;
using testing::world;

PeerConfig small_config() {
    PeerConfig config = testing::Host::fill({});
    config.outbound_max = 4;
    config.inbound_max = 8;
    config.inbound_strangers_max = 4;
    return config;
}

/// Events in any order, as a host that is wrong about everything would tell them.
class Chaos {
public:
    explicit Chaos(std::uint64_t seed) : random_(seed) {}

    Event next() {
        now_ += random_.chance(1, 500) ? microseconds{random_.between(-86'400'000'000, 86'400'000'000)}
                                       : microseconds{random_.between(0, 400'000)};
        return {now_, kind()};
    }
    /// Answers to dials are likelier than surprises.
    void note(const std::vector<Effect>& effects) {
        for (const Effect& effect : effects)
            if (const auto* dial = std::get_if<Dial>(&effect)) dials_.push_back(dial->address);
    }

private:
    LinkId some_link() { return LinkId{random_.between(0, 3) == 0 ? random_.below(links_ + 2) : recent()}; }
    std::uint64_t recent() { return links_ - random_.below(std::min<std::uint64_t>(links_, 12) + 1); }
    unsigned somebody() { return static_cast<unsigned>(random_.chance(1, 50) ? 500 : random_.below(20)); }
    Address somewhere() {
        const auto number = static_cast<unsigned>(random_.below(30));
        return random_.chance(1, 2) ? world(number) : lan(number);
    }
    LinkMessage message() {
        switch (random_.below(9)) {
            case 0: return Ping{random_.next(), now_};
            case 1: return Pong{random_.next(), now_};
            case 2: return GetPeers{};
            case 3: return Peers{{somewhere(), somewhere()}};
            case 4: return Bye{static_cast<ByeReason>(random_.below(14)), "chaos"};
            default:
                return Hello{.lowest = static_cast<std::uint16_t>(kVersionLowest + (random_.chance(1, 20) ? 1 : 0)),
                             .highest = kVersionHighest + 1,
                             .chain = random_.chance(1, 20) ? ledger::ChainId{} : testing::kChain,
                             .purpose = random_.chance(1, 5) ? Purpose::Test : Purpose::Stay,
                             .port = static_cast<std::uint16_t>(random_.below(2) * 7700),
                             .nonce = random_.next(),
                             .clock = now_};
        }
    }
    EventKind kind() {
        switch (random_.below(16)) {
            case 0: return Tick{};
            case 1: return Closed{some_link()};
            case 2: return Misbehaved{some_link(), {.code = ledger::RejectCode::FutureBlock, .why = "chaos"}};
            case 3: {
                MembersChanged members;
                for (auto i = random_.below(6); i > 0; --i) members.members.push_back({key(somebody()), somewhere()});
                return members;
            }
            case 4: return AddSeeds{{somewhere()}};
            case 5: return WasActive{some_link()};
            case 6: return LinkFailed{somewhere(), "chaos"};
            case 7:
            case 8:
            case 9: {
                if (dials_.empty()) return Linked{LinkId{++links_}, Direction::In, somewhere(), key(somebody())};
                const Address dialled = dials_.back();
                dials_.pop_back();
                if (random_.chance(1, 4)) return LinkFailed{dialled, "chaos"};
                return Linked{LinkId{++links_}, Direction::Out, dialled, key(somebody())};
            }
            default: return Heard{some_link(), message()};
        }
    }

    Random random_;
    Time now_ = kStart;
    std::uint64_t links_ = 0;
    std::vector<Address> dials_;
};

/// What holds after every step, whatever came.
class Promises {
public:
    explicit Promises(const PeerConfig& config) : config_(config) {}

    void check(const Event& event, const std::vector<Effect>& effects, const PeerManager& manager) {
        if (const auto* linked = std::get_if<Linked>(&event.kind)) open_.insert(linked->link);
        if (const auto* closed = std::get_if<Closed>(&event.kind)) open_.erase(closed->link);
        std::size_t wakes = 0;
        for (const Effect& effect : effects) {
            if (const auto* up = std::get_if<Up>(&effect)) {
                ASSERT_TRUE(open_.contains(up->link) && up_.insert(up->link).second) << "up once, and only links";
            } else if (const auto* down = std::get_if<Down>(&effect)) {
                ASSERT_EQ(up_.erase(down->link), 1u) << "down after up";
            } else if (const auto* close = std::get_if<Close>(&effect)) {
                ASSERT_EQ(open_.erase(close->link), 1u) << "closed once";
                ASSERT_FALSE(up_.contains(close->link)) << "down before";
            } else if (const auto* send = std::get_if<Send>(&effect)) {
                ASSERT_TRUE(open_.contains(send->to)) << "nothing is said on a link that is gone";
                ASSERT_TRUE(decode_link_message(send->payload));
            } else if (const auto* wake = std::get_if<Wake>(&effect)) {
                ASSERT_GT(wake->at, event.now);
                ASSERT_LE(++wakes, 1u);
            }
        }
        std::size_t in = 0;
        std::size_t out = 0;
        std::set<LinkId> all;
        std::set<LinkId> up;
        std::set<ledger::MemberKey> identities;
        for (const PeerStatus& peer : manager.peers()) {
            ++(peer.direction == Direction::In ? in : out);
            all.insert(peer.link);
            if (!peer.up) continue;
            up.insert(peer.link);
            ASSERT_TRUE(identities.insert(peer.identity).second) << "one link for each identity";
            ASSERT_NE(peer.identity, config_.self);
            for (const Ban& ban : manager.bans()) ASSERT_NE(peer.identity, ban.identity);
        }
        ASSERT_EQ(up, up_);
        ASSERT_EQ(all, open_) << "the manager and its host know the same links";
        ASSERT_LE(in, config_.inbound_max);
        ASSERT_LE(out, config_.outbound_max + config_.feelers_max);
    }

private:
    PeerConfig config_;
    std::set<LinkId> open_;
    std::set<LinkId> up_;
};

TEST(PeerManagerProperty, WhateverComesItKeepsItsPromises) {
    for (std::uint64_t usual = 1; usual <= 40; ++usual) {
        const std::uint64_t seed = test::seed_for(usual);
        Chaos chaos{seed};
        PeerManager manager{small_config(), AddrBook{{1}}, seed};
        PeerManager twin{small_config(), AddrBook{{1}}, seed};
        Promises promises{small_config()};
        std::size_t ups = 0;
        for (int i = 0; i < 2'000; ++i) {
            const Event event = chaos.next();
            const auto effects = manager.step(event);
            chaos.note(effects);
            promises.check(event, effects, manager);
            ASSERT_FALSE(HasFatalFailure()) << "seed " << seed << ", event " << i << " of kind " << event.kind.index();
            ASSERT_EQ(twin.step(event).size(), effects.size()) << "seed " << seed << ", event " << i;
            for (const Effect& effect : effects) ups += std::holds_alternative<Up>(effect) ? 1 : 0;
        }
        EXPECT_GE(ups, 15u) << "seed " << seed;
        EXPECT_EQ(manager.book().encode(), twin.book().encode());
    }
}

}  // namespace
}  // namespace rhizome::p2p
