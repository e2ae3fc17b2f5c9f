// SPDX-License-Identifier: Apache-2.0
#include "base/bounded.h"

#include <string>

#include <gtest/gtest.h>

namespace rhizome {
namespace {

TEST(Bounded, AFullQueueRefusesAndKeepsTheItem) {
    BoundedQueue<std::string> queue{2};
    EXPECT_TRUE(queue.push("a"));
    EXPECT_TRUE(queue.push("b"));
    std::string third = "c";
    EXPECT_FALSE(queue.push(std::move(third)));
    EXPECT_EQ(third, "c");  // NOLINT(bugprone-use-after-move): a refused item stays with the caller
    EXPECT_EQ(queue.pop(), "a");
    EXPECT_TRUE(queue.push(std::move(third)));
    EXPECT_EQ(queue.pop(), "b");
    EXPECT_EQ(queue.pop(), "c");
    EXPECT_EQ(queue.pop(), std::nullopt);
}

TEST(Bounded, AFullMapRefusesNewKeysButUpdatesKnownOnes) {
    BoundedMap<std::string, int> map{2};
    EXPECT_TRUE(map.set("b", 1));
    EXPECT_TRUE(map.set("a", 2));
    EXPECT_FALSE(map.set("c", 3));
    EXPECT_TRUE(map.set("a", 4));
    EXPECT_EQ(*map.find("a"), 4);
    EXPECT_EQ(map.find("c"), nullptr);
    EXPECT_EQ(map.begin()->first, "a");
    EXPECT_TRUE(map.erase("b"));
    EXPECT_FALSE(map.erase("b"));
    EXPECT_TRUE(map.set("c", 3));
}

TEST(Bounded, TheCacheDropsWhatWasUnusedForLongest) {
    LruCache<std::string, int> cache{2};
    cache.put("a", 1);
    cache.put("b", 2);
    EXPECT_EQ(*cache.get("a"), 1);
    cache.put("c", 3);
    EXPECT_EQ(cache.get("b"), nullptr);
    EXPECT_EQ(*cache.get("a"), 1);
    EXPECT_EQ(*cache.get("c"), 3);
    cache.put("a", 5);
    EXPECT_EQ(*cache.get("a"), 5);
    EXPECT_EQ(cache.size(), 2u);
}

TEST(Bounded, TheCacheCountsCosts) {
    LruCache<int, int> cache{100};
    cache.put(1, 1, 60);
    cache.put(2, 2, 40);
    EXPECT_EQ(cache.cost(), 100u);
    cache.put(3, 3, 1);
    EXPECT_EQ(cache.get(1), nullptr);
    EXPECT_EQ(cache.cost(), 41u);
    cache.put(4, 4, 101);
    EXPECT_EQ(cache.get(4), nullptr);
    EXPECT_EQ(cache.size(), 2u);
    cache.put(2, 2, 101);  // an update that no longer fits takes the old entry away: serving it would be wrong
    EXPECT_EQ(cache.get(2), nullptr);
}

}  // namespace
}  // namespace rhizome
