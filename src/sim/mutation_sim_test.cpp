// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/safety_rule.h"
#include "sim/swarm.h"

/// With each safety rule left out, one at a time, some history of the swarm goes wrong. This program has its own copy
/// of the files that ask whether a rule holds.
namespace rhizome {
namespace {

std::optional<SafetyRule> left_out;

}  // namespace

bool holds(SafetyRule rule) { return rule != left_out; }

namespace sim {
namespace {

struct Mutant {
    SafetyRule rule;
    const char* name;
    std::uint64_t seed;  ///< known to show it; when histories change, the search below finds another
    const char* complaint;
};

constexpr std::uint64_t kSearched = 400;

class MutationSim : public testing::TestWithParam<Mutant> {
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
    {SafetyRule::DurableVotes, "DurableVotes", 11, "honest member"},
    {SafetyRule::SourceNotBelow, "SourceNotBelow", 8, "contradicted itself"},
    {SafetyRule::NextEpoch, "NextEpoch", 29, "two final blocks"},
    {SafetyRule::SameParentEvidence, "SameParentEvidence", 1, "evidence against honest member"},
    {SafetyRule::LockPoints, "LockPoints", 3, "creates what nobody else names"},
    {SafetyRule::Standing, "Standing", 71, "long dead"},
};

INSTANTIATE_TEST_SUITE_P(Rules, MutationSim, testing::ValuesIn(kMutants),
                         [](const auto& mutant) { return std::string{mutant.param.name}; });

}  // namespace
}  // namespace sim
}  // namespace rhizome
