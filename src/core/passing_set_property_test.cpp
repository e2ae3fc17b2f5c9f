// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "core/passing_set_testing.h"

namespace rhizome::core {
namespace {

using detail::PassingSet;
using passing_testing::all_of;
using passing_testing::kShare;
using passing_testing::offer;

/// Even draws: rapidcheck's own prefer small numbers, and small worlds have room for everything.
struct Draw {
    Random source{*rc::gen::arbitrary<std::uint64_t>()};
    std::size_t below(std::size_t end) { return static_cast<std::size_t>(source.below(end)); }
};

/// Versions of some documents by a few writers, more than there is room for. What a writer wrote lately and what it
/// wrote before mostly differ in size: that is where who has most depends on what is counted.
std::vector<SharedRecord> any_records(Draw& draw) {
    static constexpr std::array<std::size_t, 6> kSizes{0, 0, kShare / 2, kShare, 3 * kShare / 2, 4 * kShare};
    const std::size_t writers = 2 + draw.below(3);
    std::array<std::array<std::size_t, 2>, 4> sizes{};
    for (auto& of_one : sizes)
        for (std::size_t& size : of_one) size = kSizes[draw.below(kSizes.size())];
    std::vector<SharedRecord> records;
    for (std::size_t i = 0; i < 24; ++i) {
        const std::size_t writer = draw.below(writers);
        const std::size_t age = draw.below(200);
        const std::size_t size = draw.below(8) == 0 ? kSizes[draw.below(kSizes.size())] : sizes[writer][age / 100];
        records.push_back(passing_testing::record_of(static_cast<std::uint8_t>(writer + 1),
                                                     fmt::format("e{}", draw.below(100)),
                                                     static_cast<std::int64_t>(age), size));
    }
    return records;
}

/// Each of them hears, in some order, some of the records; then all tell each other what they have.
void expect_one_end(std::size_t sets_count) {
    Draw draw;
    const std::size_t most = 4 + draw.below(12);
    const auto room = passing_testing::room_of(most, most / 2 + draw.below(most));
    const auto records = any_records(draw);
    std::vector<PassingSet> sets(sets_count, PassingSet{room});
    for (PassingSet& set : sets)
        for (std::size_t i = 0; i < records.size(); ++i) offer(set, records[draw.below(records.size())]);
    bool changed = true;
    for (int round = 0; changed; ++round) {
        RC_ASSERT(round < 50);
        changed = false;
        for (std::size_t from = 0; from < sets_count; ++from) {
            const auto told = all_of(sets[from]);
            for (std::size_t to = 0; to < sets_count; ++to)
                for (const SharedRecord& record : told)
                    if (to != from && offer(sets[to], record)) changed = true;
        }
    }
    for (const PassingSet& set : sets) {
        RC_ASSERT(set.sum().sum == sets[0].sum().sum);
        RC_ASSERT(set.size() <= room.records_max);
        RC_ASSERT(set.bytes() <= room.bytes_max);
    }
}
void expect_one_end_often(std::size_t sets_count) {
    for (int i = 0; i < 5; ++i) expect_one_end(sets_count);
}

RC_GTEST_PROP(PassingSetProperty, TwoThatTellEachOtherWhatTheyHaveEndEqual, ()) { expect_one_end_often(2); }
RC_GTEST_PROP(PassingSetProperty, SoDoSeveral, ()) { expect_one_end_often(4); }

}  // namespace
}  // namespace rhizome::core
