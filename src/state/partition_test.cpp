// SPDX-License-Identifier: Apache-2.0
#include "state/partition.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "state/tree.h"
#include "support/state_model.h"

namespace rhizome::state {
namespace {

using test::path_at;

EntryPtr pod(int number, std::size_t bytes = 100) {
    return *Entry::written(*Path::namespaced("web", "", "Pod", fmt::format("pod-{:06}", number)), test::origin_from(7),
                           Bytes(25, 0x51), std::string(bytes, 'x'));
}

StateView pods(int count) {
    OrderedBuilder builder;
    for (int i = 0; i < count; ++i) EXPECT_TRUE(builder.add(pod(i)));
    return std::move(builder).finish();
}

std::vector<EntryPtr> entries_of(const StateView& view, const Partition& partition, std::size_t part) {
    std::vector<EntryPtr> found;
    Cursor cursor = walk_part(view, partition, part);
    while (const Entry* entry = cursor.next()) found.emplace_back(entry);
    return found;
}

Result<Partition, DecodeFault> decoded(const Writer& out) {
    Reader in{out.view()};
    TRY(auto partition, decode_partition(in));
    TRY(in.finish());
    return partition;
}

TEST(Partition, OfTheEmptyStateHasNoParts) {
    const Partition none = partition({}, 1000);
    EXPECT_TRUE(none.parts.empty());
    EXPECT_TRUE(root_of(none).is_zero());
    Writer out;
    encode(out, none);
    EXPECT_EQ(decoded(out), none);
    EXPECT_TRUE(Assembly{none}.finish()->empty());
}

TEST(Partition, OfASmallStateIsTheStateItself) {
    const StateView view = pods(10);
    const Partition one = partition(view, 1 << 20);
    ASSERT_EQ(one.parts.size(), 1u);
    EXPECT_EQ(one.parts[0].hash, view.root());
    EXPECT_EQ(one.parts[0].entries, 10u);
    EXPECT_EQ(one.shape, std::vector<std::uint16_t>{Partition::kPart});
}

TEST(Partition, AnEntryThatIsTooLargeIsAPartOfItsOwn) {
    Batch batch{pods(10)};
    batch.put(pod(4, 5'000));
    const StateView view = std::move(batch).finish().view;
    const Partition made = partition(view, 1'000);
    EXPECT_EQ(root_of(made), view.root());
    std::size_t large = 0;
    for (const Part& part : made.parts) {
        if (part.bytes <= 1'000) continue;
        ++large;
        EXPECT_EQ(part.entries, 1u);
        EXPECT_GT(part.bytes, 5'000u);
    }
    EXPECT_EQ(large, 1u);
}

TEST(Partition, NeverHasMorePartsThanItsReadersTake) {
    const StateView view = pods(static_cast<int>(kPartsMax) + 10);
    const Partition made = partition(view, 1);
    EXPECT_LE(made.parts.size(), kPartsMax);
    EXPECT_GT(made.parts.size(), kPartsMax / 8);
    EXPECT_EQ(root_of(made), view.root());
    Writer out;
    encode(out, made);
    EXPECT_EQ(decoded(out), made);
}

TEST(Partition, FaultsOfAPartAreNamed) {
    const StateView view = pods(40);
    const Partition made = partition(view, 1'500);
    ASSERT_GE(made.parts.size(), 4u);
    const auto fault = [&](std::size_t part, std::vector<EntryPtr> entries) {
        const auto built = build_part(made, part, std::move(entries));
        return built ? std::string{"none"} : std::string{name(built.error())};
    };
    const std::vector<EntryPtr> good = entries_of(view, made, 1);
    ASSERT_GE(good.size(), 3u);
    EXPECT_EQ(fault(1, good), "none");
    EXPECT_EQ(fault(1, {}), "WrongCount");
    EXPECT_EQ(fault(1, {good.begin(), good.end() - 1}), "WrongCount");
    EXPECT_EQ(fault(1, entries_of(view, made, 2)), "WrongPlace");

    std::vector<EntryPtr> changed = good;
    changed[1] = *Entry::written(good[1]->path(), test::origin_from(8), good[1]->script(), good[1]->document());
    EXPECT_EQ(fault(1, changed), "WrongHash");
    changed = good;
    std::swap(changed[0], changed[1]);
    EXPECT_EQ(fault(1, changed), "BadOrder");
    changed = good;
    changed[1] = changed[0];
    EXPECT_EQ(fault(1, changed), "BadOrder");
    changed = good;
    changed.back() = EntryPtr{entries_of(view, made, made.parts.size() - 1).back()};
    EXPECT_EQ(fault(1, changed), "WrongPlace");
}

TEST(Partition, AnAssemblyTakesOnlyItsOwnParts) {
    const StateView view = pods(40);
    const Partition made = partition(view, 1'500);
    Assembly assembly{made};
    const auto first = build_part(made, 0, entries_of(view, made, 0));
    const auto second = build_part(made, 1, entries_of(view, made, 1));
    EXPECT_EQ(assembly.add(1, *first).error(), PartFault::WrongHash);
    EXPECT_EQ(assembly.add(0, {}).error(), PartFault::WrongHash);
    EXPECT_TRUE(assembly.add(0, *first));
    EXPECT_TRUE(assembly.add(0, *first)) << "once more is no fault";
    EXPECT_TRUE(assembly.has(0));
    EXPECT_FALSE(assembly.has(1));
    EXPECT_EQ(assembly.missing(), made.parts.size() - 1);
}

/// Somebody may compute the root of a tree that is none: the parts are good alone and stand in places whose bits they
/// have, but the keys of the two sides differ above the bit that the skeleton names.
TEST(Partition, PartsThatDoNotFitTogetherAreFoundAtTheEnd) {
    const EntryPtr left = test::entry_at(path_at("/chain/a"), 1), right = test::entry_at(path_at("/nodes/c"), 2);
    // The last letters differ in their last but one bit too; the first letters' difference is passed over.
    std::uint16_t bit = 0;
    const auto at = [&](const EntryPtr& entry, unsigned i) {
        return static_cast<unsigned char>(entry->key()[i / 8]) >> (7 - i % 8) & 1u;
    };
    for (std::uint16_t i = 0; i < 8 * 8; ++i)
        if (at(left, i) == 0 && at(right, i) == 1) bit = i;
    ASSERT_GT(bit, 8);
    const Partition forged{
        {bit, Partition::kPart, Partition::kPart},
        {{left->leaf_hash(), 1, encoded_size(*left)}, {right->leaf_hash(), 1, encoded_size(*right)}}};
    Assembly assembly{forged};
    const auto first = build_part(forged, 0, {left}), second = build_part(forged, 1, {right});
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(assembly.add(0, *first) && assembly.add(1, *second));
    const auto whole = std::move(assembly).finish();
    ASSERT_FALSE(whole);
    EXPECT_EQ(whole.error(), PartFault::WrongPlace);
}

TEST(Partition, BytesThatAreNoTreeAreRefused) {
    const std::uint16_t kPart = Partition::kPart;
    const struct {
        const char* what;
        std::uint64_t count;
        std::vector<std::uint16_t> shape;
        std::uint64_t entries, bytes;
        const char* fault;
    } rows[] = {
        {"one part", 1, {kPart}, 1, 100, "OK"},
        {"three parts", 3, {5, kPart, 9, kPart, kPart}, 1, 100, "OK"},
        {"an inner node alone", 1, {5}, 1, 100, "BadValue"},
        {"the tree ends before its shape", 2, {kPart, 5, kPart}, 1, 100, "BadValue"},
        {"the shape ends before its tree", 2, {5, 6, kPart}, 1, 100, "BadValue"},
        {"bits do not grow", 3, {5, kPart, 5, kPart, kPart}, 1, 100, "BadValue"},
        {"a bit past the longest key", 2, {8 * kPathBytesMax, kPart, kPart}, 1, 100, "BadValue"},
        {"a part of no entries", 1, {kPart}, 0, 100, "BadValue"},
        {"more entries than bytes hold", 1, {kPart}, 8, 100, "BadValue"},
        {"more entries than a tree counts", 1, {kPart}, std::uint64_t{1} << 40, std::uint64_t{1} << 60, "TooLong"},
        {"more parts than bytes", 60'000, {}, 0, 0, "Truncated"},
        {"more parts than allowed", kPartsMax + 1, {}, 0, 0, "TooLong"},
    };
    for (const auto& row : rows) {
        Writer out;
        out.varint(row.count);
        for (const std::uint16_t bit : row.shape) out.u16(bit);
        if (row.count < 10)
            for (std::uint64_t i = 0; i < row.count; ++i) out.id(Hash256{}).varint(row.entries).varint(row.bytes);
        const auto read = decoded(out);
        EXPECT_EQ(read ? "OK" : std::string{name(read.error())}, row.fault) << row.what;
    }
}

}  // namespace
}  // namespace rhizome::state
