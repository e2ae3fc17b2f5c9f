// SPDX-License-Identifier: Apache-2.0
#include "sim/timeline.h"

#include <gtest/gtest.h>

#include "sim/sim.h"
#include "sim/swarm.h"

namespace rhizome::sim {
namespace {

using namespace std::chrono_literals;

constexpr Time kStart = Time::from_unix_seconds(1'000);

ledger::BlockHash hash(std::uint8_t number) {
    std::array<std::uint8_t, 32> bytes{};
    bytes[0] = number;
    return ledger::BlockHash{bytes};
}

/// A timeline by hand: `block(3, 1)` is block 3 on block 1.
struct Written {
    Timeline timeline{3, kStart};
    Time now = kStart;

    void note(std::size_t machine, Happening what, microseconds later = 1s) {
        now += later;
        timeline.note({now, machine, std::move(what)});
    }
    void block(std::uint8_t number, std::uint8_t parent, std::uint64_t height, std::size_t proposer = 0) {
        note(proposer, BlockKept{hash(number), hash(parent), height, proposer, 1});
    }
    std::vector<std::string> texts(const TimelineFilter& filter = {}) {
        std::vector<std::string> texts;
        for (const TimelineLine& line : lines_of(timeline, filter)) texts.push_back(line.text);
        return texts;
    }
};

TEST(Timeline, ABlockIsNewsOnceAndItsProposers) {
    Written written;
    written.block(1, 0, 2, 2);
    written.note(1, BlockKept{hash(1), hash(0), 2, 2, 1});
    ASSERT_EQ(written.timeline.blocks().size(), 1u);
    EXPECT_EQ(written.timeline.blocks()[0].seen, kStart + 1s);
    ASSERT_EQ(written.timeline.seen().size(), 1u);
    EXPECT_EQ(written.timeline.seen()[0].machine, 2u);
}

TEST(Timeline, DeadEndsGetNumbersAlongTheirLongestWay) {
    Written written;
    // 1 - 2 - 3          survives
    //   \ 4 - 5 - 7      one dead end
    //       \ 6          another
    written.block(1, 0, 2);
    written.block(2, 1, 3);
    written.block(4, 1, 3);
    written.block(6, 4, 4);
    written.block(5, 4, 4);
    written.block(3, 2, 4);
    written.block(7, 5, 5);
    written.timeline.settle(written.now + 1s, hash(3));
    const auto branch = [&](std::uint8_t number) {
        return written.timeline.blocks()[*written.timeline.find(hash(number))].branch;
    };
    for (const std::uint8_t survivor : std::initializer_list<std::uint8_t>{1, 2, 3}) EXPECT_EQ(branch(survivor), 0u);
    EXPECT_EQ(branch(4), branch(5));
    EXPECT_EQ(branch(5), branch(7));
    EXPECT_NE(branch(6), branch(4));
    EXPECT_NE(branch(6), 0u);
    EXPECT_EQ(written.timeline.branches(), 3u);
    EXPECT_EQ(written.timeline.end(), written.now + 1s);
}

TEST(Timeline, WhatIsFinalIsSoWithItsAncestors) {
    Written written;
    written.block(1, 0, 2);
    written.block(2, 1, 3);
    written.block(3, 2, 4);
    written.note(0, FinalAdvanced{hash(2), 3});
    const Time first = written.now;
    written.note(1, FinalAdvanced{hash(2), 3});
    const auto& blocks = written.timeline.blocks();
    EXPECT_EQ(blocks[0].final_since, first);
    EXPECT_EQ(blocks[1].final_since, first);
    EXPECT_FALSE(blocks[2].final_since);
}

TEST(Timeline, SpansBeginAndEndWhereTheyShould) {
    Written written;
    written.note(kNobody, NetworkSplit{{{0}, {1, 2}}});
    written.note(kNobody, NetworkSplit{{{0, 1}, {2}}});
    written.note(1, PowerLost{});
    written.note(kNobody, NetworkHealed{});
    written.note(2, Paused{2s});
    written.note(1, Started{});
    written.note(2, Paused{60s});
    written.note(2, PowerLost{}, 3s);
    written.timeline.settle(written.now + 5s, hash(9));

    const auto splits = written.timeline.splits();
    ASSERT_EQ(splits.size(), 2u);
    EXPECT_EQ(splits[0].until, splits[1].from);
    EXPECT_EQ(splits[1].until, kStart + 4s);
    EXPECT_EQ(splits[1].groups.size(), 2u);
    const auto outages = written.timeline.outages(1);
    ASSERT_EQ(outages.size(), 1u);
    EXPECT_EQ(outages[0].from, kStart + 3s);
    EXPECT_EQ(outages[0].until, kStart + 6s);
    EXPECT_EQ(written.timeline.outages(2).at(0).until, written.timeline.end()) << "it never came back";
    const auto pauses = written.timeline.pauses(2);
    ASSERT_EQ(pauses.size(), 2u);
    EXPECT_EQ(pauses[0].until, kStart + 7s);
    EXPECT_EQ(pauses[1].until, kStart + 10s) << "the power went";
}

TEST(Timeline, TheDigestGathersOrdinaryLife) {
    Written written;
    written.block(1, 0, 2, 0);
    written.note(0, TipChanged{hash(0), hash(1), 2, 0, 1});
    written.block(2, 1, 3, 1);
    written.note(0, FinalAdvanced{hash(2), 3});
    written.note(1, FinalAdvanced{hash(2), 3});
    written.note(2, PowerLost{});
    written.note(0, FinalAdvanced{hash(2), 3});
    written.block(3, 2, 4, 1);
    written.note(0, TipChanged{hash(2), hash(3), 4, 2, 1});
    EXPECT_EQ(written.texts(), (std::vector<std::string>{
                                   "2 blocks sealed by 2 machines at heights 2 to 3, 2 orders; final up to height 3",
                                   "loses power",
                                   "1 block sealed by n1 at height 4, 1 order",
                                   "follows 03000000 at height 4: 2 blocks undone, 1 applied",
                               }));
    EXPECT_EQ(written.texts({.kinds = {Kind::Tips, Kind::Power}}),
              (std::vector<std::string>{"follows 01000000 at height 2", "loses power"}));
    EXPECT_EQ(written.texts({.machines = {2}}), (std::vector<std::string>{"loses power"}));
    EXPECT_EQ(written.texts({.skipped = 7}).front(), "1 block sealed by n1 at height 4, 1 order");
}

TEST(Timeline, MachinesShareALineWhenTheSameHappensToThem) {
    Written written;
    written.note(0, Blamed{2, "BadSeal"});
    written.note(1, Blamed{2, "BadSeal"}, 10ms);
    written.note(1, Started{}, 10ms);
    written.note(3, Blamed{2, "BadSeal"}, 10ms);
    written.note(4, Blamed{2, "BadSeal"}, 2s);
    written.note(4, OrderAnswered{1, core::Stage::Refused, false, "Expired: x"});
    written.note(4, OrderAnswered{2, core::Stage::Refused, true, "Expired: x"});
    const auto lines = lines_of(written.timeline, {});
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_EQ(lines[0].machines, (std::vector<std::size_t>{0, 1, 3}));
    EXPECT_EQ(lines[2].machines, (std::vector<std::size_t>{4})) << "much later";
    EXPECT_EQ(lines[3].text, "1 order refused at once");
    EXPECT_EQ(lines[4].text, "takes back order 2: Expired: x");
    EXPECT_EQ(names_of({5, 1, 0, 2, 7, 8}), "n0-2,n5,n7,n8");
    EXPECT_EQ(names_of({}), "-");
}

TEST(Timeline, EveryHappeningHasASentenceAndAKind) {
    const struct {
        Happening what;
        Kind kind;
        const char* text;
    } rows[] = {
        {NetworkSplit{{{4, 0, 1, 2}, {3}}}, Kind::Network, "the network splits: n0-2,n4 | n3"},
        {NetworkHealed{}, Kind::Network, "the network is whole again"},
        {NetworkStorm{5, 20}, Kind::Network, "a storm: 5 of 20 directions carry nothing"},
        {DiskChanged{DiskState::Damaged}, Kind::Disks, "one of its blocks can no longer be read"},
        {OneWay{2, true}, Kind::Network, "what it sends to n2 no longer arrives"},
        {OneWay{2, false}, Kind::Network, "what it sends to n2 arrives again"},
        {Started{}, Kind::Power, "starts"},
        {Paused{1500ms}, Kind::Pauses, "stands still for 1s500ms"},
        {Paused{0s}, Kind::Pauses, "goes on"},
        {ClockSet{2s}, Kind::Clocks, "its clock is +2s off"},
        {ClockSet{-2s}, Kind::Clocks, "its clock is -2s off"},
        {ClockSet{}, Kind::Clocks, "its clock is right again"},
        {DiskChanged{DiskState::New}, Kind::Disks, "gets a new, empty disk"},
        {BeganToLie{"equivocates"}, Kind::Liars, "begins to lie: equivocates"},
        {BlockKept{hash(2), hash(1), 7, 0, 2}, Kind::Blocks, "seals 02000000 at height 7 on 01000000, 2 orders"},
        {TipChanged{{}, hash(1), 3, 0, 1}, Kind::Tips, "follows 01000000 at height 3"},
        {FinalAdvanced{hash(1), 3}, Kind::Finality, "01000000 at height 3 is final"},
        {ConditionSeen{core::Condition::Accused, true}, Kind::Conditions, "it stands accused"},
        {ConditionSeen{core::Condition::ClockOff, false}, Kind::Conditions, "no longer: its clock is off"},
        {Blamed{1, "BadSeal"}, Kind::Blame, "blames n1: BadSeal"},
        {OrderAnswered{3, core::Stage::Refused, false, "Expired: x"}, Kind::Refusals, "refuses order 3: Expired: x"},
        {OrderAnswered{3, core::Stage::Refused, true, "Expired: x"}, Kind::Refusals, "takes back order 3: Expired: x"},
        {OrderAnswered{3, core::Stage::Final, true, ""}, Kind::Orders, "order 3 is final"},
    };
    for (const auto& row : rows) {
        EXPECT_EQ(to_text(row.what), row.text);
        EXPECT_EQ(kind_of(row.what), row.kind) << row.text;
    }
    for (std::size_t i = 0; i < kKinds; ++i) EXPECT_EQ(kind_named(name(static_cast<Kind>(i))), static_cast<Kind>(i));
    EXPECT_FALSE(kind_named("weather"));
}

TEST(Timeline, WatchingChangesNothing) {
    const SwarmOptions options{.machines_min = 4, .machines_max = 5, .faults_for = 5s};
    const Verdict plain = run_seed(3, options);
    const Recorded recorded = record_seed(3, options);
    EXPECT_EQ(plain.trace, recorded.verdict.trace);
    EXPECT_EQ(recorded.timeline.machines(), plain.machines);
    EXPECT_EQ(recorded.timeline.end() - recorded.timeline.start(), plain.simulated);
    EXPECT_EQ(recorded.timeline.left_out(), 0u);
    // The blocks that survived are those of the chain, but for the two it began with.
    std::uint64_t survived = 0;
    for (const BlockRecord& block : recorded.timeline.blocks()) survived += block.branch == 0 ? 1 : 0;
    EXPECT_EQ(survived, plain.height - 1);
}

TEST(Timeline, SeesWhatIsDoneToASimulation) {
    Sim sim{{.seed = 1, .machines = 3}};
    Timeline timeline{3, sim.setup().start};
    sim.watch = [&](const Seen& seen) { timeline.note(seen); };
    sim.run(1s);
    sim.split({{0}, {1, 2}});
    sim.pause(1, 500ms);
    sim.set_clock(2, 1s);
    sim.set_clock(2, 1s);
    sim.crash(0);
    sim.back_up(0);
    EXPECT_TRUE(sim.restore_backup(0));
    sim.replace_disk(0);
    sim.start(0);
    sim.block(1, 2, true);
    sim.heal();
    sim.run(10s);
    sim.submit(1, create_map(sim.node(1).state(), "a", "b", sim.now()));
    sim.run(10s);
    sim.submit(1, create_map(sim.node(1).state(), "a", "b", sim.now()));
    timeline.settle(sim.now(), sim.node(0).tip_hash());
    std::map<Kind, std::size_t> count;
    for (const Seen& seen : timeline.seen()) ++count[kind_of(seen.what)];
    EXPECT_EQ(count[Kind::Network], 3u);
    EXPECT_EQ(count[Kind::Power], 2u);
    EXPECT_EQ(count[Kind::Pauses], 1u);
    EXPECT_EQ(count[Kind::Clocks], 1u) << "it was set to the same twice";
    EXPECT_EQ(count[Kind::Disks], 3u);
    EXPECT_GT(count[Kind::Blocks], 0u);
    EXPECT_GT(count[Kind::Tips], 0u);
    EXPECT_GT(count[Kind::Finality], 0u);
    EXPECT_GT(count[Kind::Orders], 0u);
    EXPECT_EQ(count[Kind::Refusals], 1u) << "a map is created once";
}

}  // namespace
}  // namespace rhizome::sim
