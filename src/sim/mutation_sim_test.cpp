// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/safety_rule.h"
#include "sim/liars.h"
#include "sim/moved_disks_testing.h"
#include "sim/swarm.h"
#include "sim/testing.h"

/// With each safety rule left out, one at a time, some history of the swarm goes wrong. This program has its own copy
/// of the files that ask whether a rule holds.
namespace rhizome {
namespace {

std::optional<SafetyRule> left_out;

}  // namespace

bool holds(SafetyRule rule) { return rule != left_out; }

namespace sim {
namespace {

using std::chrono::seconds;

struct Mutant {
    SafetyRule rule;
    const char* name;
    std::uint64_t seed;  ///< known to show it; when histories change, the search below finds another
    const char* complaint;
};

constexpr std::uint64_t kSearched = 2'000;

class MutationSim : public ::testing::TestWithParam<Mutant> {
protected:
    void TearDown() override { left_out.reset(); }

    /// Whether the history of a seed goes wrong in the way this rule prevents.
    static bool is_shown_by(std::uint64_t seed) {
        const Verdict verdict = run_seed(seed);
        for (const std::string& fault : verdict.faults)
            if (fault.find(GetParam().complaint) != std::string::npos) return true;
        return false;
    }
};

TEST_P(MutationSim, IsNoticed) {
    ASSERT_TRUE(run_seed(GetParam().seed).clean()) << "with all rules nothing is wrong";
    left_out = GetParam().rule;
    if (is_shown_by(GetParam().seed)) return;
    for (std::uint64_t seed = 1; seed <= kSearched; ++seed)
        if (is_shown_by(seed)) {
            std::printf("seed %llu shows it now: put it into the table\n", static_cast<unsigned long long>(seed));
            return;
        }
    FAIL() << "no history of " << kSearched << " notices that the rule is missing";
}

constexpr Mutant kMutants[] = {
    {SafetyRule::DurableVotes, "DurableVotes", 15, "honest member"},
    {SafetyRule::SourceNotBelow, "SourceNotBelow", 8, "contradicted itself"},
    {SafetyRule::NextEpoch, "NextEpoch", 132, "two final blocks"},
    {SafetyRule::SameParentEvidence, "SameParentEvidence", 1, "evidence against honest member"},
    {SafetyRule::LockPoints, "LockPoints", 3, "creates what nobody else names"},
    {SafetyRule::Standing, "Standing", 44, "long dead"},
    {SafetyRule::TellLosses, "TellLosses", 1, "nobody was told"},
    {SafetyRule::LateVotes, "LateVotes", 5, "for gone"},
    {SafetyRule::ChainTimeSlower, "ChainTimeSlower", 1, "lease clock"},
    {SafetyRule::OwnClockCounts, "OwnClockCounts", 1, "wrong clocks"},
};

/// Three of seven left and come back; while the voters change from four to seven, three of the four (a quorum of the
/// old voters) no longer hear the others (a quorum of the new ones), who get their votes and nothing else. The cut must
/// fall into the moments between two blocks of one epoch, which the swarm's weather of this kind seldom meets.
std::vector<std::string> cut_while_voters_change(milliseconds moment) {
    constexpr std::size_t kMachines = 7;
    constexpr std::size_t kQuorum = 3;
    Sim sim{{.seed = 5, .machines = kMachines, .link = {.delay = milliseconds{20}}}};
    if (!testing::grow_up(sim, kMachines)) return {"not all became voters"};
    sim.load(20, {0, 1, 2, 3, 4, 5, 6});
    sim.run(seconds{2});
    for (std::size_t who = 4; who < kMachines; ++who) sim.submit(0, remove_machine(sim.node(0).state(), who));
    sim.run(seconds{5});
    for (std::size_t who = 4; who < kMachines; ++who)
        sim.submit(0, register_machine(sim.node(0).state(), who, sim.chain(), sim.now()));
    sim.run(moment);
    std::set<std::pair<std::size_t, std::size_t>> closed;
    for (std::size_t from = kQuorum; from < kMachines; ++from)
        for (std::size_t to = 0; to < kQuorum; ++to) closed.emplace(from, to);
    sim.block_only(std::move(closed));
    sim.hold_up = [](std::size_t from, std::size_t to, const core::Message& message) {
        const bool goes_out = from < kQuorum && to >= kQuorum;
        return goes_out && !std::holds_alternative<core::Votes>(message) ? microseconds{seconds{60}} : microseconds{};
    };
    sim.run(seconds{8});
    return sim.checks().faults();
}

/// A member claims that other blocks are final: whether an honest one stops because of that.
bool a_mere_claim_stops_somebody() {
    Sim sim{{.seed = 41, .machines = 4}};
    if (!testing::grow_up(sim, 4)) return true;
    sim.corrupt(3, make_liar(Lie::FalseFinal, 1));
    sim.run(seconds{20});
    for (std::size_t i = 0; i < 3; ++i)
        if (sim.node(i).has(core::Condition::ConflictingFinals)) return true;
    return false;
}

/// A clone beside a cut has made two blocks of one height final: whether anybody seals on after the heal.
bool somebody_goes_on_with_two_finals() {
    Sim sim{{.seed = 700, .machines = 4, .running = 3, .link = {.delay = milliseconds{5}}}};
    if (!testing::grow_up(sim, 3)) return true;
    sim.crash(2);
    sim.clone(3, 2);
    sim.split({{0, 2}, {1, 3}});
    sim.start(2);
    sim.start(3);
    sim.run(seconds{10});
    sim.heal();
    sim.run(seconds{15});
    const auto height = [&] { return std::max(sim.node(0).tip().height, sim.node(1).tip().height); };
    const auto before = height();
    sim.run(seconds{30});
    return height() > before;
}

class ConflictsSim : public ::testing::Test {
protected:
    void TearDown() override { left_out.reset(); }
};

TEST_F(ConflictsSim, WhoBelievesAClaimIsStoppedByALiar) {
    EXPECT_FALSE(a_mere_claim_stops_somebody());
    left_out = SafetyRule::ProvenConflicts;
    EXPECT_TRUE(a_mere_claim_stops_somebody());
}

TEST_F(ConflictsSim, WhoDoesNotStopGoesOnWithItsOwn) {
    EXPECT_FALSE(somebody_goes_on_with_two_finals());
    left_out = SafetyRule::ConflictsStop;
    EXPECT_TRUE(somebody_goes_on_with_two_finals());
}

class JointVotersSim : public ::testing::Test {
protected:
    void TearDown() override { left_out.reset(); }
};

TEST_F(JointVotersSim, ACutThatFallsIntoTheChangeIsNoticed) {
    constexpr milliseconds kKnown{155};  // known to show it
    constexpr milliseconds kStep{5};
    const auto is_shown = [](milliseconds moment) {
        for (const std::string& fault : cut_while_voters_change(moment))
            if (fault.find("two final blocks") != std::string::npos) return true;
        return false;
    };
    EXPECT_TRUE(cut_while_voters_change(kKnown).empty()) << "with all rules nothing is wrong";
    left_out = SafetyRule::JointVoters;
    if (is_shown(kKnown)) return;
    for (milliseconds moment{0}; moment < milliseconds{900}; moment += kStep)
        if (is_shown(moment)) {
            left_out.reset();
            EXPECT_TRUE(cut_while_voters_change(moment).empty());
            std::printf("%lld ms shows it now: put it into the test\n", static_cast<long long>(moment.count()));
            return;
        }
    FAIL() << "no cut shows that the rule is missing";
}

class FinalsStaySim : public ::testing::Test {
protected:
    void TearDown() override { left_out.reset(); }
};

TEST_F(FinalsStaySim, AFinalTakenBackWithinAGenerationIsNoticed) {
    // People have begun one generation twice; the smaller side has made something final in it, and after its restart
    // knows so from its disk alone: no block of its chain has recorded the votes. The other chain weighs more.
    const auto faults = [] {
        Sim sim{{.seed = 21, .machines = 5}};
        if (!testing::grow_up(sim, 5)) return std::vector<std::string>{"not all became voters"};
        sim.checks().expect_conflict(1);
        if (!testing::recover_both_sides(sim, {0, 1}, {2, 3, 4})) return std::vector<std::string>{"no recovery"};
        for (const std::size_t one : {0u, 1u}) {
            sim.crash(one, 1'000);
            sim.start(one);
        }
        sim.heal();
        sim.run(seconds{10});
        return sim.checks().faults();
    };
    EXPECT_EQ(faults(), std::vector<std::string>{}) << "with all rules nothing is wrong";
    left_out = SafetyRule::FinalsStay;
    const auto noticed = faults();
    ASSERT_FALSE(noticed.empty()) << "nothing notices that the rule is missing";
    EXPECT_NE(noticed.front().find("only a higher recovery generation takes back what is final"), std::string::npos)
        << noticed.front();
}

class MovedDisksMutationSim : public ::testing::Test {
protected:
    void TearDown() override { left_out.reset(); }
    static bool is_noticed(const std::vector<std::string>& faults) {
        for (const std::string& fault : faults)
            if (fault.find("honest member") != std::string::npos) return true;
        return false;
    }
};

TEST_F(MovedDisksMutationSim, ARecoveryThatGivesEverybodyItsVoteBackIsNoticed) {
    EXPECT_TRUE(testing::copy_of_named_record(62).empty()) << "with all rules nothing is wrong";
    left_out = SafetyRule::NamedRecord;
    EXPECT_TRUE(is_noticed(testing::copy_of_named_record(62)));
}

TEST_F(MovedDisksMutationSim, ACopyThatDoesNotMindItsOwnKeyIsNoticed) {
    EXPECT_TRUE(testing::copy_beside_original(63, 10).empty()) << "with all rules nothing is wrong";
    left_out = SafetyRule::OwnKeyHeard;
    EXPECT_TRUE(is_noticed(testing::copy_beside_original(63, 10)));
}

INSTANTIATE_TEST_SUITE_P(Rules, MutationSim, ::testing::ValuesIn(kMutants),
                         [](const auto& mutant) { return std::string{mutant.param.name}; });

}  // namespace
}  // namespace sim
}  // namespace rhizome
