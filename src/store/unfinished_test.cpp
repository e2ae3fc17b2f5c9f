// SPDX-License-Identifier: Apache-2.0
#include "store/unfinished.h"

#include <gtest/gtest.h>

#include "support/stored_chain.h"
#include "support/temp_folder.h"

namespace rhizome::store {
namespace {

TEST(Unfinished, WhatAKilledMakerLeftGoesAndAChainCanBeMadeThere) {
    const test::TempFolder temp;
    const auto folder = temp / "data";
    ledger::GenesisBlock genesis;
    {
        test::StoredChain world{folder};
        genesis = world.genesis();
        EXPECT_EQ(discard_unfinished(folder).error().kind, ErrorKind::Conflict) << "somebody uses it";
        ASSERT_TRUE(world.close());
    }
    const auto chain = discard_unfinished(folder);
    ASSERT_FALSE(chain) << "it is a chain";
    EXPECT_EQ(chain.error().message, folder.native() + " holds a chain: nothing of it is taken away");
    // As if it had been killed before the last step, which says whose it is.
    std::filesystem::remove(folder / "format");
    EXPECT_EQ(Store::create(folder, genesis).error().kind, ErrorKind::Conflict) << "nobody knows what that is";
    ASSERT_TRUE(discard_unfinished(folder));
    EXPECT_FALSE(std::filesystem::exists(folder / "log"));
    const auto made = Store::create(folder, genesis);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_TRUE((*made)->close());
    EXPECT_TRUE(discard_unfinished(temp / "nothing")) << "nothing is nothing";
}

}  // namespace
}  // namespace rhizome::store
