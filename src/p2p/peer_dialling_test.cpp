// SPDX-License-Identifier: Apache-2.0
#include "p2p/peer_manager.h"

#include <set>

#include <gtest/gtest.h>

#include "p2p/testing.h"

namespace rhizome::p2p {
namespace {

using testing::Host;
using testing::key;
using testing::kStart;
using testing::lan;
using testing::world;

TEST(PeerDialling, DialsUntilItHasEightAndThenTestsOthers) {
    Host host;
    std::vector<Address> seeds;
    for (unsigned i = 1; i <= 20; ++i) seeds.push_back(world(i));
    host.tell(AddSeeds{seeds});
    for (int i = 0; i < 20; ++i) {
        host.answer_dials();
        host.run(seconds{1});
    }
    EXPECT_EQ(host.count(Direction::Out), 8u);
    EXPECT_GE(host.saves, 1);
    host.dials.clear();
    host.run(minutes{10});
    EXPECT_TRUE(host.dials.empty()) << "nothing to test yet";

    LinkId teller{1};
    while (!host.up.contains(teller)) ++teller;
    host.tell(Heard{teller, Peers{{world(100), world(101)}}});
    host.run(minutes{10});
    ASSERT_GE(host.dials.size(), 2u);
    EXPECT_LE(host.dials.size(), 8u) << "about one in two minutes";
    const Address tested = host.dials[0].address;
    host.tell(LinkFailed{tested, "nobody"});
    host.dials.clear();
    for (int i = 0; i < 600 && host.dials.empty(); ++i) host.run(seconds{1});
    ASSERT_FALSE(host.dials.empty());
    const LinkId feeler = host.join(Direction::Out, host.dials.back().address, 100);
    EXPECT_EQ(host.closed.at(feeler), ByeReason::Tested);
    EXPECT_EQ(std::get<Hello>(host.said.at(feeler)[0]).purpose, Purpose::Test);
    EXPECT_EQ(host.count(Direction::Out), 8u);
    EXPECT_TRUE(host.manager.book().find(host.dials.back().address)->good);
}

TEST(PeerDialling, DialsBackOffAndGoOnForEver) {
    Host host;
    host.tell(AddSeeds{{world(1)}});
    std::vector<Time> when;
    for (int i = 0; i < 4 * 3'600; ++i) {
        for (const Dial& dial : std::exchange(host.dials, {})) {
            when.push_back(host.now);
            host.tell(LinkFailed{dial.address, "refused"});
        }
        host.run(seconds{1});
    }
    EXPECT_GE(when.size(), 4u * 60 / 5);
    EXPECT_LE(when.size(), 120u) << "not more than one in two and a half minutes, after the first";
    EXPECT_LT(when[1] - when[0], seconds{11});
    EXPECT_LT(when.back() - when[when.size() - 2], seconds{311});
    EXPECT_GT(host.now - when.back(), microseconds{-1});
}

TEST(PeerDialling, AMemberThatIsAwayIsDialledEveryFewSecondsForEver) {
    Host host;
    host.tell(MembersChanged{{{key(1), world(1)}}});
    std::vector<Time> when;
    for (int i = 0; i < 3'600; ++i) {
        for (const Dial& dial : std::exchange(host.dials, {})) {
            when.push_back(host.now);
            host.tell(LinkFailed{dial.address, "no answer"});
        }
        host.run(seconds{1});
    }
    ASSERT_GT(when.size(), 1'000u);
    for (std::size_t i = 1; i < when.size(); ++i) ASSERT_LE(when[i] - when[i - 1], seconds{4}) << i;
}

TEST(PeerDialling, AMemberOfWhichOnlyTheBookKnowsWhereItIsIsDialledAsOften) {
    Host host;
    host.tell(MembersChanged{{{key(1), std::nullopt}}});
    const LinkId link = host.join(Direction::Out, world(1), 1);
    host.run(seconds{30});
    host.dials.clear();
    host.tell(Closed{link});
    std::vector<Time> when{host.now};
    for (int i = 0; i < 300; ++i) {
        for (const Dial& dial : std::exchange(host.dials, {})) {
            when.push_back(host.now);
            host.tell(LinkFailed{dial.address, "no answer"});
        }
        host.run(seconds{1});
    }
    ASSERT_GT(when.size(), 70u);
    for (std::size_t i = 1; i < when.size(); ++i) ASSERT_LE(when[i] - when[i - 1], seconds{6}) << i;
}

TEST(PeerDialling, AMemberThatFallsSilentIsDialledAnewBesideItsLink) {
    Host host;
    host.tell(MembersChanged{{{key(1), lan(1)}, {key(2), lan(2)}}});
    const LinkId first = host.join(Direction::Out, lan(1), 1);
    const LinkId other = host.join(Direction::In, lan(2), 2);
    // Dials fail; those by which it is tested where the other listens are not meant.
    const auto dialled_within = [&](int duration) {
        std::set<Address> members;
        for (int i = 0; i < duration; ++i) {
            host.run(seconds{1});
            for (const Dial& dial : std::exchange(host.dials, {})) {
                if (dial.expected) members.insert(dial.address);
                host.tell(LinkFailed{dial.address, "no answer"});
            }
        }
        return members;
    };
    (void)dialled_within(30);
    EXPECT_TRUE(dialled_within(60).empty()) << "nobody is dialled who answers";

    host.answers = false;  // a cut: nothing comes any more
    EXPECT_EQ(dialled_within(8), (std::set{lan(1), lan(2)})) << "whoever dialled before";
    EXPECT_TRUE(host.up.contains(first) && host.up.contains(other)) << "and the links stand";

    host.answers = true;  // it is healed: the new link is there before the old one has said anything
    const LinkId second = host.join(Direction::Out, lan(1), 1);
    EXPECT_TRUE(host.up.contains(second));
    EXPECT_EQ(host.closed.at(first), ByeReason::Duplicate);
    EXPECT_FALSE(host.closed.contains(other));
}

TEST(PeerDialling, OfTwoLinksTheNewerStaysWhereTheOlderHasStoodWhoeverDialled) {
    for (const unsigned who : {1u, 900u}) {  // a smaller key than this node's, and a larger one
        for (const Direction older : {Direction::In, Direction::Out}) {
            Host host;
            host.tell(MembersChanged{{{key(who), lan(1)}}});
            const LinkId first = host.join(older, lan(1), who);
            host.run(seconds{30});
            const LinkId second = host.join(older == Direction::In ? Direction::Out : Direction::In, lan(1), who);
            EXPECT_TRUE(host.up.contains(second)) << who;
            EXPECT_EQ(host.closed.at(first), ByeReason::Duplicate) << who;
        }
    }
}

TEST(PeerDialling, WhoWasPausedItselfCallsNobodySilent) {
    Host host;
    host.tell(MembersChanged{{{key(1), lan(1)}}});
    const LinkId link = host.join(Direction::Out, lan(1), 1);
    host.run(seconds{7});
    host.answers = false;
    host.run(seconds{2});  // a ping is on its way
    host.dials.clear();
    host.now += seconds{8};  // and nothing was done for so long
    host.tell(Tick{});
    EXPECT_TRUE(host.dials.empty()) << "what came meanwhile is read first";
    const auto ping = std::get<Ping>(host.said.at(link).back());
    host.answers = true;
    host.tell(Heard{link, Pong{ping.nonce, host.now}});
    host.run(seconds{20});
    EXPECT_TRUE(host.dials.empty());
}

TEST(PeerDialling, AnOldLinkKeepsItsAddressGood) {
    Host host;
    host.join(Direction::Out, world(1), 1);
    const LinkId asker = host.join(Direction::In, world(2), 2);
    host.run(hours{100});
    host.tell(Heard{asker, GetPeers{}});
    EXPECT_EQ(std::get<Peers>(host.said.at(asker).back()).addresses, std::vector{world(1)});
}

TEST(PeerDialling, PrefersMembersAndExpectsThemWhereTheChainSays) {
    Host host;
    LinkId teller = host.join(Direction::Out, world(1), 1);
    host.tell(AddSeeds{{world(1)}});
    host.run(seconds{6});
    std::vector<Address> others;
    for (unsigned i = 50; i < 90; ++i) others.push_back(world(i));
    MembersChanged members;
    for (unsigned i = 2; i <= 5; ++i) members.members.push_back({key(i), lan(i)});
    members.members.push_back({key(500), lan(99)});
    host.dials.clear();
    host.tell(members);
    host.tell(Heard{teller, Peers{others}});
    ASSERT_GE(host.dials.size(), 4u);
    std::set<Address> first;
    for (std::size_t i = 0; i < 4; ++i) {
        first.insert(host.dials[i].address);
        EXPECT_TRUE(host.dials[i].expected) << to_text(host.dials[i].address);
    }
    EXPECT_EQ(first, (std::set{lan(2), lan(3), lan(4), lan(5)})) << "and not itself";
    const LinkId other = host.link(Direction::Out, lan(2), 77);
    EXPECT_EQ(host.closed.at(other), ByeReason::WrongOwner);
}

TEST(PeerDialling, GivesStrangersUpForMembers) {
    Host host;
    std::vector<Address> seeds;
    for (unsigned i = 1; i <= 8; ++i) seeds.push_back(world(i));
    host.tell(AddSeeds{seeds});
    for (int i = 0; i < 20; ++i) {
        host.answer_dials();
        host.run(seconds{1});
    }
    ASSERT_EQ(host.count(Direction::Out), 8u);
    MembersChanged members;
    for (unsigned i = 101; i <= 120; ++i) members.members.push_back({key(i), lan(i)});
    host.tell(members);
    for (int i = 0; i < 40; ++i) {
        host.run(seconds{30});
        host.answer_dials();
    }
    std::size_t of_members = 0;
    for (const PeerStatus& peer : host.manager.peers()) of_members += peer.up && peer.member ? 1 : 0;
    EXPECT_EQ(of_members, 6u) << "two others stay";
    EXPECT_EQ(host.count(Direction::Out), 8u);
}

TEST(PeerDialling, OneNetworkGetsTwoOutboundLinksHoweverManyAddressesItHas) {
    // The whole book is the attacker's: 66.66/16, told by everybody there is.
    AddrBook book{{7}};
    Random random{3};
    for (int i = 0; i < 10'000; ++i)
        book.add(Address::v4(66, 66, static_cast<std::uint8_t>(random.next()), static_cast<std::uint8_t>(random.next()),
                             7700),
                 world(static_cast<unsigned>(random.below(500))), kStart);
    Host host{{}, 1, std::move(book)};
    for (int i = 0; i < 60; ++i) {
        for (const Dial& dial : std::exchange(host.dials, {}))
            host.join(Direction::Out, dial.address, 1'000u + static_cast<unsigned>(host.links));
        host.run(seconds{1});
    }
    EXPECT_EQ(host.count(Direction::Out), 2u);
}

TEST(PeerDialling, AFloodOfPeersLeavesMostChoicesHonest) {
    // 100 honest addresses from four honest peers; four attackers in one network tell 64 addresses each minute, 10,000
    // in all. Of all outbound links made afterwards at least three quarters are honest.
    std::size_t honest = 0;
    std::size_t all = 0;
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        Host host{{}, seed};
        Random random{seed};
        std::vector<LinkId> tellers;
        for (unsigned i = 1; i <= 4; ++i) tellers.push_back(host.join(Direction::Out, world(i), i));
        std::vector<LinkId> liars;
        for (std::uint8_t i = 1; i <= 4; ++i)
            liars.push_back(host.join(Direction::Out, Address::v4(66, 66, 0, i, 7700), 400u + i));
        host.run(seconds{6});
        for (unsigned i = 0; i < 4; ++i) {
            Peers peers;
            for (unsigned j = 0; j < 25; ++j) peers.addresses.push_back(world(100 + i * 25 + j));
            host.tell(Heard{tellers[i], peers});
        }
        for (int round = 0; round < 40; ++round) {
            for (const LinkId liar : liars) {
                Peers peers;
                for (int j = 0; j < 64; ++j)
                    peers.addresses.push_back(Address::v4(66, 66, static_cast<std::uint8_t>(random.next()),
                                                          static_cast<std::uint8_t>(random.next()), 7700));
                host.tell(Heard{liar, peers});
            }
            // What is tested answers, the attackers' addresses too.
            for (int i = 0; i < 66; ++i) {
                for (const Dial& dial : std::exchange(host.dials, {}))
                    host.join(Direction::Out, dial.address, 1'000u + static_cast<unsigned>(host.links));
                host.run(seconds{10});
            }
        }
        for (const LinkId liar : liars) ASSERT_TRUE(host.up.contains(liar)) << "they were asked each time";
        EXPECT_LE(host.manager.book().size(), AddrBook::kSlots);
        for (const PeerStatus& peer : host.manager.peers()) host.tell(Closed{peer.link});
        host.dials.clear();
        for (int i = 0; i < 60; ++i) {
            for (const Dial& dial : std::exchange(host.dials, {}))
                host.join(Direction::Out, dial.address, 1'000u + static_cast<unsigned>(host.links));
            host.run(seconds{1});
        }
        for (const PeerStatus& peer : host.manager.peers())
            if (peer.direction == Direction::Out) {
                ++all;
                honest += peer.address.ip[12] != 66 ? 1 : 0;
            }
    }
    EXPECT_GE(all, 5u * 7);
    EXPECT_GE(4 * honest, 3 * all) << honest << " of " << all;
}

TEST(PeerDialling, ARestartKeepsTwoAnchorsAndMeetsOthers) {
    AddrBook book{{7}};
    for (unsigned i = 1; i <= 40; ++i) book.note_good(world(i), key(i), kStart);
    Host before{{}, 1, std::move(book)};
    for (int i = 0; i < 20; ++i) {
        before.answer_dials();
        before.run(seconds{1});
    }
    ASSERT_EQ(before.count(Direction::Out), 8u);
    std::set<Address> old;
    for (const PeerStatus& peer : before.manager.peers()) old.insert(peer.address);

    Host after{{}, 2, AddrBook::decode(before.manager.book().encode(), {7}).value()};
    const std::vector<Address> anchors = after.manager.book().anchors();
    ASSERT_EQ(anchors.size(), 2u);
    after.now = kStart + minutes{5};
    after.wake_at = after.now;
    for (int i = 0; i < 20; ++i) {
        after.run(seconds{1});
        after.answer_dials();
    }
    std::set<Address> kept;
    ASSERT_EQ(after.count(Direction::Out), 8u);
    for (const PeerStatus& peer : after.manager.peers())
        if (old.contains(peer.address)) kept.insert(peer.address);
    EXPECT_EQ(kept, std::set<Address>(anchors.begin(), anchors.end()));
}

TEST(PeerDialling, SameEventsSameEffects) {
    const auto history = [](std::uint64_t seed) {
        Host host{{}, seed};
        std::vector<Address> seeds;
        for (unsigned i = 1; i <= 30; ++i) seeds.push_back(world(i));
        host.tell(AddSeeds{seeds});
        std::vector<Address> order;
        for (int i = 0; i < 10; ++i) {
            for (const Dial& dial : host.dials) order.push_back(dial.address);
            host.answer_dials();
            host.run(seconds{1});
        }
        return order;
    };
    EXPECT_EQ(history(1), history(1));
    EXPECT_NE(history(1), history(2));
}

}  // namespace
}  // namespace rhizome::p2p
