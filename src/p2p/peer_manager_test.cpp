// SPDX-License-Identifier: Apache-2.0
#include "p2p/peer_manager.h"

#include <set>

#include <gtest/gtest.h>

#include "crypto/hash.h"

namespace rhizome::p2p {
namespace {

using ledger::RejectCode;

const Time kStart = Time::from_unix_seconds(1'800'000'000);
const ledger::ChainId kChain{crypto::sha256(as_bytes("chain")).view()};

ledger::MemberKey key(unsigned number) {
    ledger::MemberKey identity{2};
    identity[1] = static_cast<std::uint8_t>(number >> 8);
    identity[2] = static_cast<std::uint8_t>(number);
    return identity;
}
Address world(unsigned number) {
    return Address::v4(static_cast<std::uint8_t>(20 + number / 250), static_cast<std::uint8_t>(number % 250), 0, 1,
                       7700);
}
Address lan(unsigned number) { return Address::v4(10, 0, 0, static_cast<std::uint8_t>(number), 7700); }

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
    Hello hello() const { return {.lowest = 1, .highest = 1, .chain = kChain, .port = 7700, .nonce = 5, .clock = now}; }
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

TEST(PeerManager, DialsUntilItHasEightAndThenTestsOthers) {
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

TEST(PeerManager, DialsBackOffAndGoOnForEver) {
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

TEST(PeerManager, PrefersMembersAndExpectsThemWhereTheChainSays) {
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

TEST(PeerManager, GivesStrangersUpForMembers) {
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

TEST(PeerManager, OneNetworkGetsTwoOutboundLinksHoweverManyAddressesItHas) {
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

TEST(PeerManager, AFloodOfPeersLeavesMostChoicesHonest) {
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

TEST(PeerManager, ARestartKeepsTwoAnchorsAndMeetsOthers) {
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

TEST(PeerManager, SameEventsSameEffects) {
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
