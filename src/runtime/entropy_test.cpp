// SPDX-License-Identifier: Apache-2.0
#include "runtime/entropy.h"

#include <gtest/gtest.h>

namespace rhizome::runtime {
namespace {

TEST(Entropy, FillsEveryByteAlsoOfLargeBuffers) {
    // A byte that stays zero in 32 rounds was not filled: chance would need 1 in 2^256 for one byte.
    std::vector<std::uint8_t> seen(1000, 0);
    for (int round = 0; round < 32; ++round) {
        std::vector<std::uint8_t> bytes(seen.size(), 0);
        fill_with_entropy(bytes);
        for (std::size_t i = 0; i < seen.size(); ++i) seen[i] = static_cast<std::uint8_t>(seen[i] | bytes[i]);
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 0), 0);
    fill_with_entropy({});
}

TEST(Entropy, NumbersDiffer) {
    std::set<std::uint64_t> numbers;
    for (int i = 0; i < 100; ++i) numbers.insert(random_number());
    EXPECT_EQ(numbers.size(), 100u);
}

}  // namespace
}  // namespace rhizome::runtime
