// SPDX-License-Identifier: Apache-2.0
#include "p2p/eviction.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rhizome::p2p {
namespace {

const Time kEvictionTime = Time::from_unix_seconds(1'800'000'000);

Evictable link(std::uint64_t id, std::uint8_t network, int age) {
    return {
        .link = LinkId{id}, .group = Address::v4(20, network, 0, 1, 1).group(), .since = kEvictionTime - minutes{age}};
}

TEST(Eviction, AFewLinksAreAllWorthKeeping) {
    EXPECT_FALSE(choose_eviction({}));
    EXPECT_FALSE(choose_eviction({link(1, 1, 5), link(2, 1, 3)})) << "the two oldest";
    EXPECT_FALSE(choose_eviction({link(1, 1, 5), link(2, 1, 4), link(3, 2, 3), link(4, 3, 2)})) << "networks";
}

TEST(Eviction, TheLargestNetworkLosesItsYoungest) {
    std::vector<Evictable> links;
    for (std::uint64_t i = 0; i < 10; ++i) links.push_back(link(i, 9, static_cast<int>(20 - i)));
    for (std::uint64_t i = 10; i < 14; ++i) links.push_back(link(i, static_cast<std::uint8_t>(i), 1));
    Random random{1};
    for (int i = 0; i < 10; ++i) {
        random.shuffle(links);
        EXPECT_EQ(choose_eviction(links), LinkId{9}) << "whatever the order";
    }
}

TEST(Eviction, TheNearAndTheUsefulStay) {
    std::vector<Evictable> links;
    for (std::uint64_t i = 0; i < 7; ++i) links.push_back(link(i, 9, static_cast<int>(20 - i)));
    links[6].ping = milliseconds{1};
    links[5].active = kEvictionTime;
    EXPECT_EQ(choose_eviction(links), LinkId{4});
}

}  // namespace
}  // namespace rhizome::p2p
