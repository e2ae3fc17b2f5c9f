// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/partition.h"
#include "state/tree.h"
#include "support/state_model.h"

namespace rhizome::state {
namespace {

using test::Model;

struct Scene {
    StateView view;
    Partition partition;
};

Scene random_scene(Random& random) {
    Scene scene;
    Model model;
    for (int round = 0; round < 3; ++round) {
        Batch batch{scene.view};
        test::change(batch, model, random, random.below(80));
        scene.view = std::move(batch).finish().view;
    }
    scene.partition = partition(scene.view, random.below(4'000));
    return scene;
}

std::vector<EntryPtr> entries_of(const Scene& scene, std::size_t part) {
    std::vector<EntryPtr> found;
    Cursor cursor = walk_part(scene.view, scene.partition, part);
    while (const Entry* entry = cursor.next()) found.emplace_back(entry);
    return found;
}

RC_GTEST_PROP(PartitionProperty, HashesUpToTheRootAndCountsItsEntries, (std::uint64_t seed)) {
    Random random{seed};
    const Scene scene = random_scene(random);
    RC_ASSERT(root_of(scene.partition) == scene.view.root());
    OrderedBuilder builder;
    for (std::size_t part = 0; part < scene.partition.parts.size(); ++part) {
        const auto entries = entries_of(scene, part);
        Writer out;
        for (const EntryPtr& entry : entries) {
            const std::size_t before = out.size();
            encode(out, *entry);
            RC_ASSERT(out.size() - before == encoded_size(*entry));
            RC_ASSERT(builder.add(entry));
        }
        RC_ASSERT(scene.partition.parts[part].entries == entries.size());
        RC_ASSERT(scene.partition.parts[part].bytes == out.size());
    }
    RC_ASSERT(std::move(builder).finish().root() == scene.view.root());
}

RC_GTEST_PROP(PartitionProperty, PartsAreAsLargeAsAllowedAndNoLarger, (std::uint64_t seed)) {
    Random random{seed};
    const Scene scene = random_scene(random);
    const std::uint64_t bytes_max = random.below(3'000);
    const Partition made = partition(scene.view, bytes_max);
    for (const Part& part : made.parts) RC_ASSERT(part.entries == 1 || part.bytes <= bytes_max);
    // Two neighbours below one inner node would have been one part, had they fitted.
    std::size_t part = 0;
    for (std::size_t i = 0; i + 2 < made.shape.size(); ++i) {
        const bool pair = made.shape[i] != Partition::kPart && made.shape[i + 1] == Partition::kPart &&
                          made.shape[i + 2] == Partition::kPart;
        if (pair) RC_ASSERT(made.parts[part].bytes + made.parts[part + 1].bytes > bytes_max);
        if (made.shape[i] == Partition::kPart) ++part;
    }
}

RC_GTEST_PROP(PartitionProperty, SurvivesItsEncoding, (std::uint64_t seed)) {
    Random random{seed};
    const Scene scene = random_scene(random);
    Writer out;
    encode(out, scene.partition);
    Reader in{out.view()};
    const auto read = decode_partition(in);
    RC_ASSERT(read.has_value());
    RC_ASSERT(in.empty());
    RC_ASSERT(*read == scene.partition);
    // Cut anywhere it is none.
    Reader cut{out.view().first(random.below(out.size()))};
    RC_ASSERT(!decode_partition(cut).has_value());
}

RC_GTEST_PROP(PartitionProperty, PartsInAnyOrderGiveTheState, (std::uint64_t seed)) {
    Random random{seed};
    const Scene scene = random_scene(random);
    std::vector<std::size_t> order(scene.partition.parts.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    random.shuffle(order);
    Assembly assembly{scene.partition};
    for (const std::size_t part : order) {
        // As if they came from elsewhere: nothing is shared with the state.
        std::vector<EntryPtr> entries;
        for (const EntryPtr& entry : entries_of(scene, part)) {
            Writer out;
            encode(out, *entry);
            Reader in{out.view()};
            entries.push_back(*decode_entry(in));
        }
        const auto built = build_part(scene.partition, part, std::move(entries));
        RC_ASSERT(built.has_value());
        RC_ASSERT(built->root() == scene.partition.parts[part].hash);
        RC_ASSERT(assembly.add(part, *built).has_value());
    }
    RC_ASSERT(assembly.missing() == 0u);
    const auto whole = std::move(assembly).finish();
    RC_ASSERT(whole.has_value());
    RC_ASSERT(whole->root() == scene.view.root());
    RC_ASSERT(diff(*whole, scene.view).empty());
    RC_ASSERT(whole->totals(Prefix::everything()) == scene.view.totals(Prefix::everything()));
    // It is a state like any other: changes lead to the same roots as on the original.
    Model model;
    Cursor cursor = scene.view.walk(Prefix::everything());
    while (const Entry* entry = cursor.next()) model.emplace(entry->key(), EntryPtr{entry});
    Batch batch{*whole};
    test::change(batch, model, random, 40);
    RC_ASSERT(std::move(batch).finish().view.root() == test::build(model).root());
}

RC_GTEST_PROP(PartitionProperty, AnythingAlteredIsFound, (std::uint64_t seed)) {
    Random random{seed};
    const Scene scene = random_scene(random);
    RC_PRE(!scene.partition.parts.empty());
    const std::size_t part = random.below(scene.partition.parts.size());
    const auto entries = entries_of(scene, part);

    // Of the skeleton: a hash, or a bit.
    Partition other = scene.partition;
    other.parts[part].hash.writable()[random.below(32)] ^= 1;
    RC_ASSERT(root_of(other) != scene.view.root());
    RC_ASSERT(!build_part(other, part, entries).has_value());
    other = scene.partition;
    if (std::uint16_t& bit = other.shape[random.below(other.shape.size())]; bit != Partition::kPart) {
        bit ^= 1;
        RC_ASSERT(root_of(other) != scene.view.root());
    }
    // Of the entries: one changed, one left out, one from elsewhere.
    auto changed = entries;
    EntryPtr& victim = changed[random.below(changed.size())];
    EntryPtr instead = test::entry_at(victim->path(), 1'000 + random.below(50));
    victim = std::move(instead);
    RC_ASSERT(build_part(scene.partition, part, changed).error() == PartFault::WrongHash);
    changed = entries;
    changed.erase(changed.begin() + static_cast<std::ptrdiff_t>(random.below(changed.size())));
    RC_ASSERT(build_part(scene.partition, part, changed).error() == PartFault::WrongCount);
    const std::size_t elsewhere = random.below(scene.partition.parts.size());
    if (elsewhere != part) RC_ASSERT(!build_part(scene.partition, part, entries_of(scene, elsewhere)).has_value());
}

}  // namespace
}  // namespace rhizome::state
