// SPDX-License-Identifier: Apache-2.0
#include "sim/availability.h"

#include <gtest/gtest.h>

namespace rhizome::sim {
namespace {

TEST(Availability, TheSpecificationsTableFollowsFromQuorums) {
    const struct {
        const char* name;
        std::uint32_t cuts;
        std::vector<std::size_t> live;
        bool accepts, crash, byzantine;
    } rows[] = {
        {"50/50/50", 0, {150}, true, false, false},
        {"100/0/0", 0, {200}, true, true, false},
        {"100/100/100", 0, {}, false, false, false},
        {"100/0/0", 1, {200}, true, true, false},
        {"50/50/50", 1, {100, 50}, true, false, false},
        {"50/50/50", 2, {50, 50, 50}, true, false, false},
        {"50/50/50", 3, {50, 50, 25, 25}, true, false, false},
    };
    const auto disasters = three_zones(100);
    ASSERT_EQ(disasters.size(), std::size(rows));
    for (std::size_t i = 0; i < disasters.size(); ++i) {
        EXPECT_EQ(disasters[i].name, rows[i].name);
        EXPECT_EQ(disasters[i].cuts, rows[i].cuts);
        EXPECT_EQ(disasters[i].live, rows[i].live);
        EXPECT_EQ(expect_accepts(disasters[i]), rows[i].accepts) << i;
        EXPECT_EQ(expect_irreversible(disasters[i], Trust::Crash), rows[i].crash) << i;
        EXPECT_EQ(expect_irreversible(disasters[i], Trust::Byzantine), rows[i].byzantine) << i;
    }
}

TEST(Availability, RaftNeedsAMajorityInOneGroup) {
    const bool expected[] = {true, false, false, true, false, false};
    const auto disasters = small_clusters();
    ASSERT_EQ(disasters.size(), std::size(expected));
    for (std::size_t i = 0; i < disasters.size(); ++i)
        EXPECT_EQ(raft_accepts(disasters[i]), expected[i]) << disasters[i].name;
}

TEST(Availability, SmallZonesDoWhatTheTableSays) {
    for (const Trust trust : {Trust::Crash, Trust::Byzantine})
        for (const Disaster& disaster : three_zones(4)) {
            const Availability measured = measure(disaster, trust);
            EXPECT_TRUE(measured.is_as_expected(disaster))
                << disaster.name << ", " << disaster.cuts << " cuts, trust " << static_cast<int>(trust) << ": accepts "
                << measured.accepts << ", irreversible " << measured.irreversible
                << (measured.faults.empty() ? "" : ", " + measured.faults.front());
            EXPECT_EQ(measured.accepts, measured.accepted_after.has_value());
            EXPECT_TRUE(measured.repaired_after) << disaster.name;
        }
}

TEST(Availability, AnExpectationThatDoesNotComeOutIsNoticed) {
    const Disaster disaster = three_zones(4).front();
    Availability measured = measure(disaster, Trust::Crash, {.repair = false});
    ASSERT_TRUE(measured.is_as_expected(disaster));
    EXPECT_FALSE(measured.repaired_after);
    measured.irreversible = true;
    EXPECT_FALSE(measured.is_as_expected(disaster));
    measured.irreversible = false;
    measured.faults = {"something broke"};
    EXPECT_FALSE(measured.is_as_expected(disaster));
}

}  // namespace
}  // namespace rhizome::sim
