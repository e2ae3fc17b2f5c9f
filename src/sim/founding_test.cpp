// SPDX-License-Identifier: Apache-2.0
#include "sim/founding.h"

#include <thread>

#include <gtest/gtest.h>

namespace rhizome::sim {
namespace {

TEST(Founding, IsMadeOnceAndTheSameForEverybody) {
    const Time time = Time::from_unix_seconds(1'700'000'000);
    const Founding& first = found(2, "{}", time);
    EXPECT_EQ(&first, &found(2, "{}", time));
    EXPECT_NE(&first, &found(3, "{}", time));
    EXPECT_EQ(first.chain, found(3, "{}", time).chain) << "genesis has only the founder";
    EXPECT_NE(first.chain, found(2, R"({"trust":"byzantine"})", time).chain);
}

TEST(Founding, EveryHistoryHasALineOfStatesOfItsOwn) {
    const Founding& founding = found(3, "{}", Time::from_unix_seconds(1'700'000'000));
    const FirstStates states = first_states(founding);
    EXPECT_EQ(states.genesis.commit.view.root(), founding.genesis.commit.view.root());
    EXPECT_EQ(states.members.commit.view.root(), founding.members->header.state_root);
    EXPECT_FALSE(states.members.commit.view.is_same(founding.applied.commit.view));
}

TEST(Founding, MayBeAskedForByManyThreadsAtOnce) {
    const Time time = Time::from_unix_seconds(1'700'000'001);
    std::vector<const Founding*> found_by(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < found_by.size(); ++i)
        threads.emplace_back([&, i] {
            for (const std::size_t machines : {2u, 3u, 4u}) found_by[i] = &found(machines, "{}", time);
        });
    for (std::thread& thread : threads) thread.join();
    const Founding& kept = found(4, "{}", time);
    for (const Founding* each : found_by) {
        EXPECT_EQ(hash_of(each->members->header), hash_of(kept.members->header));
        EXPECT_EQ(each->members->txs.size(), 5u) << "four machines and a namespace";
    }
}

}  // namespace
}  // namespace rhizome::sim
