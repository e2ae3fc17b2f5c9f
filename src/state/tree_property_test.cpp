// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "state/detail/access.h"
#include "state/detail/rehash.h"
#include "state/tree.h"
#include "support/state_model.h"

namespace rhizome::state {
namespace {

using test::Model;

/// Everything a view shows, against the model; and the invariants of its nodes.
void check_same(const StateView& view, const Model& model, Random& random) {
    RC_ASSERT(view.size() == model.size());
    Cursor cursor = view.walk(Prefix::everything());
    for (const auto& [key, entry] : model) {
        const Entry* next = cursor.next();
        RC_ASSERT(next != nullptr);
        RC_ASSERT(next->key() == key);
        RC_ASSERT(*next == *entry);
        RC_ASSERT(view.get(entry->path()) == next);
    }
    RC_ASSERT(cursor.next() == nullptr);
    for (int i = 0; i < 20; ++i) {
        const Path path = test::random_path(random);
        RC_ASSERT(view.contains(path) == model.contains(path.key()));
    }
    for (int i = 0; i < 5; ++i) {
        const Prefix prefix = test::random_prefix(random);
        Totals totals;
        for (const auto& [key, entry] : model) {
            if (!prefix.covers(key)) continue;
            ++totals.count;
            totals.bytes += entry->weight();
        }
        RC_ASSERT(view.totals(prefix) == totals);
    }
}

/// The hash of a tree computed the slow way, from its entries alone, with the definition and not with the code.
Hash256 slow_root(const std::vector<const Entry*>& entries, std::size_t begin, std::size_t end) {
    if (begin == end) return {};
    if (end - begin == 1) return entries[begin]->leaf_hash();
    const auto bit = *detail::first_difference(entries[begin]->key(), entries[end - 1]->key());
    std::size_t middle = begin;
    while (detail::bit_at(entries[middle]->key(), bit) == 0) ++middle;
    return detail::inner_hash(static_cast<std::uint16_t>(bit), slow_root(entries, begin, middle),
                              slow_root(entries, middle, end));
}

RC_GTEST_PROP(TreeProperty, HoldsWhatAMapHolds, (std::uint64_t seed)) {
    Random random{seed};
    Model model;
    StateView view;
    for (int round = 0; round < 6; ++round) {
        Batch batch{view};
        test::change(batch, model, random, random.below(40));
        for (int i = 0; i < 5; ++i) {
            const Path path = test::random_path(random);
            RC_ASSERT((batch.get(path) != nullptr) == model.contains(path.key()));
        }
        view = std::move(batch).finish().view;
        check_same(view, model, random);
    }
}

RC_GTEST_PROP(TreeProperty, TheRootDependsOnTheSetAlone, (std::uint64_t seed)) {
    Random random{seed};
    Model model;
    StateView view;
    for (int round = 0; round < 4; ++round) {
        Batch batch{view};
        test::change(batch, model, random, random.below(60));
        view = std::move(batch).finish().view;
    }
    RC_ASSERT(test::build(model).root() == view.root());

    std::vector<EntryPtr> shuffled;
    for (const auto& [key, entry] : model) shuffled.push_back(entry);
    random.shuffle(shuffled);
    StateView other;
    for (std::size_t i = 0; i < shuffled.size();) {
        Batch batch{other};
        for (std::size_t left = 1 + random.below(20); left > 0 && i < shuffled.size(); --left) batch.put(shuffled[i++]);
        other = std::move(batch).finish().view;
    }
    RC_ASSERT(other.root() == view.root());

    std::vector<const Entry*> entries;
    for (const auto& [key, entry] : model) entries.push_back(entry.get());
    RC_ASSERT(slow_root(entries, 0, entries.size()) == view.root());
}

RC_GTEST_PROP(TreeProperty, OldViewsStayAsTheyWere, (std::uint64_t seed)) {
    Random random{seed};
    std::vector<std::pair<StateView, Model>> history{{}};
    for (int round = 0; round < 12; ++round) {
        // On any state of the past: branches are as good as a line.
        auto [view, model] = history[random.below(history.size())];
        Batch batch{view};
        test::change(batch, model, random, random.below(20));
        if (random.chance(1, 5)) continue;  // a batch that is dropped leaves nothing behind
        history.emplace_back(std::move(batch).finish().view, model);
        if (history.size() > 6) history.erase(history.begin() + static_cast<std::ptrdiff_t>(random.below(6)));
        view.collect_garbage(random.below(100));
    }
    for (const auto& [view, model] : history) {
        check_same(view, model, random);
        RC_ASSERT(view.root() == test::build(model).root());
    }
}

RC_GTEST_PROP(TreeProperty, ListsInPages, (std::uint64_t seed)) {
    Random random{seed};
    Model model;
    Batch batch{StateView{}};
    test::change(batch, model, random, 150);
    const StateView view = std::move(batch).finish().view;
    const Prefix prefix = test::random_prefix(random);

    std::vector<std::string> expected, children;
    for (const auto& [key, entry] : model) {
        if (!prefix.covers(key)) continue;
        expected.push_back(key);
        const auto end = key.find('\0', prefix.key().size());
        if (end != std::string::npos && end + 1 == key.size()) children.push_back(key);
    }
    const auto pages = [&](auto list) {
        std::vector<std::string> found;
        std::optional<Path> after;
        do {
            const Page page = list(after, 1 + random.below(5));
            for (const Entry* entry : page.entries) found.emplace_back(entry->key());
            after = page.next;
        } while (after);
        return found;
    };
    RC_ASSERT(pages([&](const auto& after, std::size_t limit) { return view.list(prefix, after, limit); }) == expected);
    RC_ASSERT(pages([&](const auto& after, std::size_t limit) { return view.list_children(prefix, after, limit); }) ==
              children);

    const Path after = test::random_path(random);  // need not exist, nor be under the prefix
    std::vector<std::string> rest, found;
    for (const std::string& key : expected)
        if (key > after.key()) rest.push_back(key);
    for (const Entry* entry : view.list(prefix, after, SIZE_MAX).entries) found.emplace_back(entry->key());
    RC_ASSERT(found == rest);
}

}  // namespace
}  // namespace rhizome::state
