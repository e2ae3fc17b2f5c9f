// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support/heal_world.h"

/// What was accepted and a heal takes back is told, by the node that had accepted it.
namespace rhizome::cli::playground {
namespace {

using HealKill = testing::HealWorld;

TEST_F(HealKill, EveryWriteThatAHealTakesBackIsToldAndNoOther) {
    good({"up", "--nodes", "5", "--apart", "ports"});
    EXPECT_EQ(rhizome(1, {"tx", "lost"}), "nothing is lost\n");
    expect_every_loser_told(0, 9);
    const std::string table = rhizome(1, {"tx", "lost"});
    EXPECT_NE(table.find("write /namespaces/default/core/ConfigMap/pair-0"), std::string::npos) << table;
    EXPECT_NE(table.find("AlreadyExists: "), std::string::npos) << table;
    EXPECT_NE(rhizome(1, {"tx", "lost", "-o", "yaml"}).find("included: true\n"), std::string::npos);
    EXPECT_NE(rhizome(1, {"why", "configmap/pair-0"}).find("and a heal took it back"), std::string::npos);
    EXPECT_NE(rhizome(2, {"why", "configmap/pair-5"}).find("and a heal took it back"), std::string::npos);
}

}  // namespace
}  // namespace rhizome::cli::playground
