// SPDX-License-Identifier: Apache-2.0
#include "p2p/peer_manager.h"

#include <set>

#include <gtest/gtest.h>

#include "p2p/testing.h"

namespace rhizome::p2p {
namespace {

using ledger::RejectCode;
using testing::Host;
using testing::key;
using testing::lan;
using testing::world;

TEST(PeerManager, GreetsFirstAndIsUpWhenTheOtherHasGreeted) {
    Host host;
    const LinkId link = host.link(Direction::In, lan(1), 1);
    ASSERT_EQ(host.said_of<Hello>(link), 1u);
    EXPECT_TRUE(host.up.empty());
    host.tell(Heard{link, host.hello()});
    EXPECT_EQ(host.up, std::set{link});
    const auto peers = host.manager.peers();
    ASSERT_EQ(peers.size(), 1u);
    EXPECT_EQ(peers[0].identity, key(1));
    EXPECT_EQ(peers[0].address, lan(1));
    EXPECT_EQ(peers[0].clock_offset, microseconds{seconds{3}});
    host.tell(Closed{link});
    EXPECT_TRUE(host.up.empty());
    host.tell(Closed{link});
    host.tell(Heard{link, Ping{}});
    EXPECT_TRUE(host.manager.peers().empty()) << "what a link that is gone says is nobody's";
}

TEST(PeerManager, SaysWhyAHelloDoesNotFit) {
    const struct {
        const char* what;
        std::function<void(Hello&)> change;
        ByeReason reason;
    } rows[] = {
        {"chain", [](Hello& hello) { hello.chain = ledger::ChainId{}; }, ByeReason::WrongChain},
        {"newer", [](Hello& hello) { hello.lowest = hello.highest = 9; }, ByeReason::WrongVersion},
        {"older", [](Hello& hello) { hello.lowest = hello.highest = 0; }, ByeReason::WrongVersion},
    };
    for (const auto& row : rows) {
        Host host;
        const LinkId link = host.link(Direction::In, lan(1), 1);
        Hello hello = host.hello();
        row.change(hello);
        host.tell(Heard{link, hello});
        EXPECT_TRUE(host.up.empty()) << row.what;
        EXPECT_EQ(host.closed.at(link), row.reason) << row.what;
        const auto& bye = std::get<Bye>(host.said.at(link).back());
        EXPECT_EQ(bye.reason, row.reason) << row.what;
        EXPECT_FALSE(bye.text.empty()) << row.what;
        EXPECT_TRUE(host.manager.bans().empty()) << row.what;
    }
}

TEST(PeerManager, SpeaksTheHighestVersionOfBoth) {
    Host host{{.version_lowest = 2, .version_highest = 5}};
    const LinkId link = host.link(Direction::In, lan(1), 1);
    Hello hello = host.hello();
    hello.lowest = 1;
    hello.highest = 4;
    for (const Effect& effect : host.tell(Heard{link, hello}))
        if (const auto* up = std::get_if<Up>(&effect)) {
            EXPECT_EQ(up->version, 4u);
        }
    EXPECT_EQ(host.up.size(), 1u);
}

TEST(PeerManager, IsNoPeerOfItself) {
    Host host;
    host.tell(AddSeeds{{lan(1)}});
    ASSERT_EQ(host.dials.size(), 1u);
    const LinkId by_key = host.link(Direction::Out, lan(1), 500);
    EXPECT_EQ(host.closed.at(by_key), ByeReason::Self);
    host.dials.clear();
    host.run(minutes{20});
    EXPECT_TRUE(host.dials.empty()) << "its own address is not dialled again";

    const LinkId by_nonce = host.link(Direction::In, lan(2), 2);
    Hello hello = host.hello();
    hello.nonce = std::get<Hello>(host.said.at(by_nonce)[0]).nonce;
    host.tell(Heard{by_nonce, hello});
    EXPECT_EQ(host.closed.at(by_nonce), ByeReason::Self);
}

TEST(PeerManager, WhoDoesNotGreetOrAnswerIsLetGo) {
    Host host;
    const LinkId silent = host.link(Direction::In, lan(1), 1);
    host.run(seconds{9});
    EXPECT_FALSE(host.closed.contains(silent));
    host.run(seconds{2});
    EXPECT_EQ(host.closed.at(silent), ByeReason::Silent);

    const LinkId lively = host.join(Direction::In, lan(2), 2);
    host.run(minutes{5});
    EXPECT_FALSE(host.closed.contains(lively));
    EXPECT_GE(host.said_of<Ping>(lively), 20u);
    host.answers = false;
    host.run(seconds{50});
    EXPECT_EQ(host.closed.at(lively), ByeReason::Silent);
    EXPECT_TRUE(host.up.empty());
}

TEST(PeerManager, AHostThatSleptBlamesNobody) {
    Host host;
    const LinkId link = host.join(Direction::In, lan(1), 1);
    host.run(seconds{20});
    for (const auto jump : {hours{12}, hours{-24}}) {
        host.now += jump;
        host.wake_at = host.now;
        host.run(minutes{2});
        EXPECT_FALSE(host.closed.contains(link));
        EXPECT_EQ(host.up.size(), 1u);
    }
}

TEST(PeerManager, TheOrderOfMessagesMatters) {
    const struct {
        const char* what;
        bool greeted;
        LinkMessage message;
    } rows[] = {
        {"before the hello", false, Ping{}},
        {"before the hello", false, GetPeers{}},
        {"a second hello", true, Host{}.hello()},
        {"peers not asked for", true, Peers{{lan(9)}}},
    };
    for (const auto& row : rows) {
        Host host;
        const LinkId link = row.greeted ? host.join(Direction::In, lan(1), 1) : host.link(Direction::In, lan(1), 1);
        host.tell(Heard{link, row.message});
        EXPECT_EQ(host.closed.at(link), ByeReason::Misbehaved) << row.what;
        const LinkId again = host.join(Direction::In, lan(1), 1);
        EXPECT_FALSE(host.closed.contains(again)) << "once is no ban";
        host.tell(Heard{again, host.hello()});
        EXPECT_EQ(host.manager.bans().size(), 1u) << "twice is";
        EXPECT_EQ(host.manager.book().find(lan(9)), nullptr);
    }
}

TEST(PeerManager, FloodsEndTheLink) {
    Host host;
    const LinkId link = host.join(Direction::In, lan(1), 1);
    for (int i = 0; i < 40; ++i) host.tell(Heard{link, Ping{}});
    EXPECT_EQ(host.closed.at(link), ByeReason::Misbehaved);
    EXPECT_LE(host.said_of<Pong>(link), 30u);
}

TEST(PeerManager, AnswersForPeersOnceAMinute) {
    Host host;
    const LinkId link = host.join(Direction::In, lan(1), 1);
    for (int i = 0; i < 5; ++i) host.tell(Heard{link, GetPeers{}});
    EXPECT_EQ(host.said_of<Peers>(link), 1u);
    host.run(seconds{61});
    host.tell(Heard{link, GetPeers{}});
    EXPECT_EQ(host.said_of<Peers>(link), 2u);
}

TEST(PeerManager, BansAreKeptListedEndedAndLifted) {
    Host host;
    const LinkId link = host.join(Direction::In, lan(1), 1);
    host.tell(Misbehaved{link, {.code = RejectCode::FutureBlock, .why = "a clock"}});
    EXPECT_FALSE(host.closed.contains(link));
    EXPECT_EQ(host.manager.peers()[0].score, 10u);
    host.tell(Misbehaved{link, {.code = RejectCode::BadVote, .why = "not signed"}});
    EXPECT_EQ(host.closed.at(link), ByeReason::Misbehaved);
    EXPECT_TRUE(host.up.empty());
    ASSERT_EQ(host.manager.bans().size(), 1u);
    EXPECT_EQ(host.manager.bans()[0].identity, key(1));

    const LinkId refused = host.link(Direction::In, lan(1), 1);
    EXPECT_EQ(host.closed.at(refused), ByeReason::Banned);
    host.run(minutes{61});
    EXPECT_TRUE(host.manager.bans().empty());
    const LinkId later = host.join(Direction::In, lan(1), 1);
    EXPECT_TRUE(host.up.contains(later));

    host.tell(Misbehaved{later, {.code = RejectCode::BadVote, .why = "not signed"}});
    EXPECT_EQ(host.manager.bans()[0].until - host.now, hours{2});
    EXPECT_TRUE(host.manager.lift_ban(key(1)));
    EXPECT_TRUE(host.up.contains(host.join(Direction::In, lan(1), 1)));
}

TEST(PeerManager, KeepsMostInboundSlotsForMembers) {
    Host host{{.inbound_max = 20, .inbound_strangers_max = 16}};
    MembersChanged members;
    for (unsigned i = 1; i <= 20; ++i) members.members.push_back({key(i), std::nullopt});
    host.tell(members);
    for (unsigned i = 100; i < 150; ++i) {
        host.join(Direction::In, world(1 + i % 3), i);
        host.run(seconds{1});
    }
    EXPECT_EQ(host.count(Direction::In), 16u) << "strangers";
    for (unsigned i = 1; i <= 20; ++i) host.join(Direction::In, lan(i), i);
    EXPECT_EQ(host.count(Direction::In), 20u);
    for (const PeerStatus& peer : host.manager.peers()) EXPECT_TRUE(peer.member);
    const LinkId refused = host.link(Direction::In, world(9), 200);
    EXPECT_EQ(host.closed.at(refused), ByeReason::Full);
}

}  // namespace
}  // namespace rhizome::p2p
