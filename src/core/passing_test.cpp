// SPDX-License-Identifier: Apache-2.0
#include "core/passing.h"

#include <deque>
#include <map>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/passing_testing.h"

namespace rhizome::core {
namespace {

using namespace std::chrono_literals;
using passing_testing::event_entry;
using passing_testing::event_path;
using passing_testing::kNow;

constexpr Time kNever = Time::from_unix_seconds(9'000'000'000);

/// A signature is a hash of key and digest: anybody could forge one, and only a test does.
class PlainSignatures final : public consensus::Signatures {
public:
    static consensus::CompactSignature make(const consensus::MemberKey& key, const crypto::Digest& digest) {
        consensus::CompactSignature signature{};
        const auto hash = crypto::sha256(key, digest.view());
        std::copy(hash.view().begin(), hash.view().end(), signature.begin());
        return signature;
    }
    bool is_good(const consensus::MemberKey& key, const crypto::Digest& digest,
                 const consensus::CompactSignature& signature) const override {
        ++checks;
        return make(key, digest) == signature;
    }
    std::optional<crypto::VrfOutput> vrf_output(std::span<const std::uint8_t, 32>, ByteView,
                                                const crypto::VrfProof&) const override {
        return std::nullopt;
    }
    mutable std::size_t checks = 0;
};

class PlainSigner final : public consensus::Signer {
public:
    explicit PlainSigner(std::uint8_t number) { key_.fill(number); }
    const consensus::MemberKey& key() const override { return key_; }
    consensus::CompactSignature sign(const crypto::Digest& digest) const override {
        return PlainSignatures::make(key_, digest);
    }
    crypto::VrfProof prove(ByteView) const override { return {}; }

private:
    consensus::MemberKey key_{};
};

/// Some nodes, with links that lose nothing. Peers are numbered like nodes.
class World {
public:
    explicit World(std::size_t nodes, const PassingConfig& config = {}) {
        std::set<consensus::MemberKey> members;
        for (std::size_t i = 0; i < nodes; ++i) {
            signers.push_back(std::make_unique<PlainSigner>(static_cast<std::uint8_t>(i + 1)));
            members.insert(signers.back()->key());
            machines.push_back(
                std::make_unique<Passing>(chain, config, PassingPorts{signatures, signers.back().get(), {}}));
        }
        shown.resize(nodes);
        wakes.resize(nodes, kNever);
        ahead.resize(nodes, 0s);
        for (std::size_t i = 0; i < nodes; ++i) tell(i, PassingMembers{members});
    }

    void tell(std::size_t node, PassingEventKind event) {
        for (PassingEffect& effect : machines[node]->step({now + ahead[node], std::move(event)})) {
            if (auto* send = std::get_if<PassingSend>(&effect)) {
                queue.push_back({node, send->to.number(), send->message});
            } else if (const auto* stands = std::get_if<PassingStands>(&effect)) {
                if (stands->entry) {
                    shown[node][stands->path.key()] = stands->entry->document();
                } else {
                    shown[node].erase(stands->path.key());
                }
            } else if (const auto* flood = std::get_if<PassingFlood>(&effect)) {
                named.emplace_back(node, flood->writer);
            } else if (const auto* blame = std::get_if<Blame>(&effect)) {
                blamed.emplace_back(node, blame->peer.number());
            } else if (const auto* wake = std::get_if<Wake>(&effect)) {
                wakes[node] = wake->at - ahead[node];
            }
        }
    }
    void link(std::size_t left, std::size_t right) {
        links.insert({left, right});
        links.insert({right, left});
        tell(left, PeerUp{PeerId{right}});
        tell(right, PeerUp{PeerId{left}});
    }
    void cut(std::size_t left, std::size_t right) {
        links.erase({left, right});
        links.erase({right, left});
        tell(left, PeerDown{PeerId{right}});
        tell(right, PeerDown{PeerId{left}});
    }
    /// Delivers what is on its way and fires what is due, for so long.
    void run(microseconds time) {
        const Time end = now + time;
        for (;;) {
            while (!queue.empty()) {
                const Sent one = queue.front();
                queue.pop_front();
                ++messages;
                if (!links.contains({one.from, one.to})) continue;
                auto read = decode_passing(encode(*one.message));
                ASSERT_TRUE(read) << read.error().why;
                tell(one.to, PassingHeard{PeerId{one.from}, std::make_shared<const PassingMessage>(*std::move(read))});
            }
            const auto next = std::min_element(wakes.begin(), wakes.end());
            if (*next > end) break;
            now = std::max(now, *next);
            const auto node = static_cast<std::size_t>(next - wakes.begin());
            *next = kNever;
            tell(node, Tick{});
        }
        now = end;
    }
    void write(std::size_t node, std::string_view name, std::string_view message) {
        tell(node, PassingWritten{event_path(name), event_entry(name, message), now + ahead[node] + 1h});
    }
    void erase(std::size_t node, std::string_view name) { tell(node, PassingWritten{event_path(name), {}, {}}); }
    std::string message_at(std::size_t node, std::string_view name) const {
        const auto at = shown[node].find(event_path(name).key());
        if (at == shown[node].end()) return "(none)";
        return std::string{json::parse(at->second)->text_at({"message"})};
    }
    bool all_equal() const {
        for (std::size_t i = 1; i < machines.size(); ++i)
            if (shown[i] != shown[0] || machines[i]->sum().sum != machines[0]->sum().sum) return false;
        return true;
    }

    struct Sent {
        std::size_t from;
        std::size_t to;
        SharedPassing message;
    };
    ledger::ChainId chain{crypto::sha256(as_bytes("chain")).view()};
    PlainSignatures signatures;
    std::vector<std::unique_ptr<PlainSigner>> signers;
    std::vector<std::unique_ptr<Passing>> machines;
    std::vector<std::map<std::string, std::string>> shown;
    std::vector<Time> wakes;
    std::vector<microseconds> ahead;  ///< of the right time, each machine's clock
    std::set<std::pair<std::size_t, std::size_t>> links;
    std::deque<Sent> queue;
    std::vector<std::pair<std::size_t, consensus::MemberKey>> named;
    std::vector<std::pair<std::size_t, std::size_t>> blamed;
    std::size_t messages = 0;
    Time now = kNow;
};

TEST(Passing, AWriteReachesThoseBehindOthersAtOnce) {
    World world{3};
    world.link(0, 1);
    world.link(1, 2);
    world.run(1s);
    world.write(0, "a", "hello");
    world.run(200ms);
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(world.message_at(i, "a"), "hello") << i;
    EXPECT_TRUE(world.all_equal());
}

TEST(Passing, ManyVersionsOfOneDocumentGoAsOne) {
    World world{2};
    world.link(0, 1);
    world.run(1s);
    const std::size_t before = world.messages;
    const std::size_t checks = world.signatures.checks;
    for (int i = 0; i < 100; ++i) world.write(0, "a", fmt::format("{}", i));
    world.run(200ms);
    EXPECT_EQ(world.message_at(1, "a"), "99");
    EXPECT_EQ(world.messages, before + 1);
    EXPECT_EQ(world.signatures.checks, checks + 1);
}

TEST(Passing, OfTwoWritesAtOnceOneStandsEverywhere) {
    World world{3};
    world.link(0, 1);
    world.link(1, 2);
    world.link(0, 2);
    world.run(1s);
    for (int round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < 3; ++i) world.write(i, "a", fmt::format("{} of {}", round, i));
        world.run(300ms);
        EXPECT_TRUE(world.all_equal()) << round;
        EXPECT_EQ(world.message_at(0, "a"), world.message_at(2, "a"));
    }
}

TEST(Passing, WhoHeardOfAWriteWritesLaterThanItWhateverItsClockSays) {
    World world{2};
    world.link(0, 1);
    world.now += 60s;  // the first one's clock is ahead
    world.write(0, "a", "first");
    world.run(100ms);
    world.now -= 60s;
    world.write(1, "a", "second");
    world.run(300ms);
    EXPECT_EQ(world.message_at(0, "a"), "second");
    EXPECT_EQ(world.message_at(1, "a"), "second");
}

TEST(Passing, AfterACutBothSidesHaveTheLaterOfEachAndDeletionsHold) {
    World world{4};
    world.link(0, 1);
    world.link(1, 2);
    world.link(2, 3);
    for (int i = 0; i < 50; ++i) world.write(0, fmt::format("old{}", i), "before");
    world.run(1s);
    ASSERT_TRUE(world.all_equal());
    world.cut(1, 2);
    for (int i = 0; i < 50; ++i) {
        world.write(0, fmt::format("left{}", i), "l");
        world.write(3, fmt::format("right{}", i), "r");
    }
    world.write(0, "old1", "left, earlier");
    world.erase(3, "old2");
    world.run(5s);
    world.write(3, "old1", "right, later");
    world.run(5s);
    EXPECT_FALSE(world.all_equal());
    world.link(1, 2);
    world.run(3s);
    EXPECT_TRUE(world.all_equal());
    EXPECT_EQ(world.shown[0].size(), 149u);
    EXPECT_EQ(world.message_at(0, "old1"), "right, later");
    EXPECT_EQ(world.message_at(0, "old2"), "(none)");
}

TEST(Passing, ANewcomerGetsAllThereIsAndWhoHasItAllHearsASumNowAndThen) {
    World world{3};
    world.link(0, 1);
    for (int i = 0; i < 3'000; ++i) world.write(0, fmt::format("e{}", i), std::string(200, 'x'));
    world.run(2s);
    ASSERT_EQ(world.shown[1].size(), 3'000u);
    world.link(1, 2);
    world.run(2s);
    EXPECT_EQ(world.shown[2].size(), 3'000u);
    world.run(30s);
    const std::size_t before = world.messages;
    world.run(60s);
    EXPECT_LE(world.messages - before, 2u * 7u) << "one sum for each link in ten seconds";
}

TEST(Passing, WhatEndsIsGoneEverywhereAndNobodyBringsItBack) {
    World world{2};
    world.link(0, 1);
    world.write(0, "a", "x");
    world.run(1s);
    world.cut(0, 1);
    world.run(1h);
    EXPECT_EQ(world.message_at(0, "a"), "(none)");
    EXPECT_EQ(world.message_at(1, "a"), "(none)");
    EXPECT_EQ(world.machines[0]->usage().records, 0u);
    world.link(0, 1);
    world.run(10s);
    EXPECT_EQ(world.message_at(0, "a"), "(none)");
}

TEST(Passing, AMemberThatFloodsIsTakenAtItsRateIsNamedAndCrowdsOutNobody) {
    PassingConfig config;
    config.room = {.records_max = 400, .writer_records_max = 200};
    config.writer_per_second = 10;
    config.served_per_second = 1'000'000;
    World world{3, config};
    world.link(0, 1);
    world.link(1, 2);
    for (int i = 0; i < 50; ++i) world.write(2, fmt::format("quiet{}", i), "q");
    world.run(1s);
    const std::size_t checks = world.signatures.checks;
    for (int second = 0; second < 30; ++second) {
        for (int i = 0; i < 100; ++i) world.write(0, fmt::format("flood{}", second * 100 + i), "f");
        world.run(1s);
    }
    // 3,000 were written: each other node looked at 200 and 10 a second.
    EXPECT_LE(world.signatures.checks - checks, 2u * (200u + 10u * 32u));
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_LE(world.machines[i]->usage().records, 250u);
        for (int quiet = 0; quiet < 50; ++quiet)
            EXPECT_EQ(world.message_at(i, fmt::format("quiet{}", quiet)), "q") << "nobody else lost anything";
    }
    ASSERT_FALSE(world.named.empty());
    for (const auto& [node, writer] : world.named) EXPECT_EQ(writer, world.signers[0]->key());
    EXPECT_LE(world.named.size(), 3u) << "once a minute by each";
    // When it is quiet again all have the same.
    world.run(60s);
    EXPECT_TRUE(world.all_equal());
    EXPECT_TRUE(world.blamed.empty()) << "who passes on is not to blame";
}

TEST(Passing, WhenThereIsTooMuchInAllWhoHasMostLosesItsOldest) {
    PassingConfig config;
    config.room = {.records_max = 100, .writer_records_max = 80};
    World world{3, config};
    world.link(0, 1);
    world.link(1, 2);
    world.link(0, 2);
    for (int i = 0; i < 80; ++i) {
        world.write(0, fmt::format("many{}", i), "m");
        world.run(30ms);
    }
    for (int i = 0; i < 40; ++i) {
        world.write(1, fmt::format("few{}", i), "f");
        world.run(30ms);
    }
    world.run(3s);
    EXPECT_TRUE(world.all_equal());
    EXPECT_EQ(world.shown[2].size(), 100u);
    EXPECT_EQ(world.message_at(2, "many19"), "(none)");
    EXPECT_EQ(world.message_at(2, "many20"), "m");
    EXPECT_EQ(world.message_at(2, "few0"), "f");
}

TEST(Passing, AListIsLookedThroughOnceASecondHoweverOftenItComes) {
    World world{2};
    world.link(0, 1);
    for (int i = 0; i < 10; ++i) world.write(0, fmt::format("e{}", i), "x");
    world.run(5s);
    PassingList all;
    all.groups.set();
    const auto records_given = [&] {
        world.queue.clear();
        world.tell(0, PassingHeard{PeerId{1}, std::make_shared<const PassingMessage>(all)});
        std::size_t given = 0;
        for (const auto& sent : world.queue)
            if (const auto* records = std::get_if<PassingRecords>(sent.message.get())) given += records->records.size();
        return given;
    };
    EXPECT_EQ(records_given(), 10u);
    EXPECT_EQ(records_given(), 0u);
    world.now += 999ms;
    EXPECT_EQ(records_given(), 0u);
    world.now += 1ms;
    EXPECT_EQ(records_given(), 10u);
}

TEST(Passing, OneFalseSignatureIsBlamedAndTheRestOfTheMessageNotLookedAt) {
    World world{2};
    world.link(0, 1);
    world.run(1s);
    PassingRecords forged;
    for (const std::string_view name : {"a", "b", "c"}) {
        PassingRecord record;
        record.writer = world.signers[1]->key();
        record.stamp = world.now;
        record.until = world.now + 1h;
        record.entry = event_entry(name);
        record.path = record.entry->path();
        forged.records.push_back(std::make_shared<const PassingRecord>(std::move(record)));
    }
    const std::size_t checks = world.signatures.checks;
    world.tell(0, PassingHeard{PeerId{1}, std::make_shared<const PassingMessage>(forged)});
    EXPECT_EQ(world.signatures.checks, checks + 1);
    ASSERT_EQ(world.blamed.size(), 1u);
    EXPECT_EQ(world.blamed.front(), std::pair(std::size_t{0}, std::size_t{1}));
    EXPECT_EQ(world.shown[0].size(), 0u);
}

TEST(Passing, OnlyMembersAreHeardAndWhatAFormerOneWroteGoes) {
    World world{3};
    world.link(0, 1);
    world.link(1, 2);
    world.write(0, "a", "of the first");
    world.write(2, "b", "of the third");
    world.run(1s);
    for (std::size_t i = 0; i < 3; ++i)
        world.tell(i, PassingMembers{{world.signers[1]->key(), world.signers[2]->key()}});
    world.run(1s);
    world.write(0, "c", "of nobody");
    world.run(30s);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(world.message_at(i, "a"), "(none)");
        EXPECT_EQ(world.message_at(i, "b"), "of the third");
        EXPECT_EQ(world.message_at(i, "c"), "(none)");
    }
    EXPECT_TRUE(world.blamed.empty());
    // It is one again: what it writes from then on is heard.
    for (std::size_t i = 0; i < 3; ++i)
        world.tell(i, PassingMembers{{world.signers[0]->key(), world.signers[1]->key(), world.signers[2]->key()}});
    world.write(0, "d", "back");
    world.run(1s);
    EXPECT_EQ(world.message_at(2, "d"), "back");
}

TEST(Passing, StampsFarAheadOfTheClockAreNotTaken) {
    World world{2};
    world.link(0, 1);
    world.ahead[0] = 10min;
    world.write(0, "a", "from the future");
    world.run(60s);
    EXPECT_EQ(world.message_at(1, "a"), "(none)");
    EXPECT_TRUE(world.blamed.empty()) << "its clock may be wrong, or ours";
    world.run(10min);
    EXPECT_EQ(world.message_at(1, "a"), "from the future") << "the clock has got there";
}

TEST(Passing, AClockThatWasAheadAndIsSetRightHoldsUpNothingThatIsWrittenAfterwards) {
    World world{2};
    world.link(0, 1);
    world.write(1, "lease", "before");
    world.run(1s);
    world.ahead[0] = 24h;
    world.write(0, "lease", "while it was ahead");
    world.write(0, "event", "while it was ahead");
    world.run(1s);
    EXPECT_EQ(world.message_at(1, "lease"), "before");
    world.ahead[0] = 0s;
    world.tell(0, Tick{});
    EXPECT_EQ(world.message_at(0, "event"), "(none)") << "nobody else will have it either";
    world.run(3s);
    EXPECT_EQ(world.message_at(0, "lease"), "before") << "from the others";
    world.write(0, "lease", "renewed");
    world.write(0, "another", "new");
    world.run(1s);
    EXPECT_EQ(world.message_at(1, "lease"), "renewed");
    EXPECT_EQ(world.message_at(1, "another"), "new");
    EXPECT_TRUE(world.all_equal());
}

TEST(Passing, AStampAheadOfTheClockDragsNoOtherDocumentAlong) {
    World world{3};
    world.link(0, 1);
    world.link(1, 2);
    world.ahead[0] = 119s;
    world.ahead[2] = -10s;
    world.write(0, "a", "ahead");
    world.run(1s);
    world.write(1, "a", "over it");
    world.write(1, "b", "another");
    world.run(1s);
    EXPECT_EQ(world.message_at(2, "b"), "another");
    EXPECT_EQ(world.message_at(2, "a"), "(none)") << "not yet";
}

}  // namespace
}  // namespace rhizome::core
