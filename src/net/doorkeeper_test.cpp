// SPDX-License-Identifier: Apache-2.0
#include "net/doorkeeper.h"

#include <vector>

#include <gtest/gtest.h>

namespace rhizome::net {
namespace {

TEST(Doorkeeper, OneHostHoldsUpItselfAndNobodyElse) {
    Doorkeeper keeper{3};
    std::vector<Doorkeeper::Visit> visits;
    for (int i = 0; i < 3; ++i) {
        auto visit = keeper.let_in("10.0.0.1");
        ASSERT_TRUE(visit);
        visits.push_back(*std::move(visit));
    }
    EXPECT_FALSE(keeper.let_in("10.0.0.1"));
    EXPECT_TRUE(keeper.let_in("10.0.0.2"));
    visits.pop_back();
    EXPECT_TRUE(keeper.let_in("10.0.0.1")) << "who left makes room";
}

TEST(Doorkeeper, AHostThatKeepsFailingIsNamedOnceAndACrowdNotAtAll) {
    Doorkeeper keeper{3};
    std::size_t told = 0;
    for (int i = 0; i < 100; ++i) told += keeper.failed("10.0.0.1") ? 1 : 0;
    EXPECT_EQ(told, 1u);
    told = 0;
    for (int host = 0; host < 500; ++host)
        for (int i = 0; i < 10; ++i) told += keeper.failed("10.1.0." + std::to_string(host)) ? 1 : 0;
    EXPECT_EQ(told, 63u);
}

}  // namespace
}  // namespace rhizome::net
