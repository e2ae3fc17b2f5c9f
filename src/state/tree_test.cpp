// SPDX-License-Identifier: Apache-2.0
#include "state/tree.h"

#include <gtest/gtest.h>

#include "support/state_model.h"

namespace rhizome::state {
namespace {

using test::entry_at;
using test::path_at;

StateView state_of(std::initializer_list<const char*> paths) {
    Batch batch{StateView{}};
    for (const char* path : paths) batch.put(entry_at(path_at(path), 1));
    return std::move(batch).finish().view;
}

std::vector<std::string> texts(const Page& page) {
    std::vector<std::string> found;
    for (const Entry* entry : page.entries) found.push_back(entry->path().text());
    return found;
}

TEST(Tree, TheEmptyStateHasAZeroRoot) {
    const StateView empty;
    EXPECT_TRUE(empty.root().is_zero());
    EXPECT_TRUE(empty.empty());
    EXPECT_EQ(empty.get(Path::cluster()), nullptr);
    EXPECT_TRUE(empty.list(Prefix::everything(), {}, 10).entries.empty());
    EXPECT_EQ(empty.collect_garbage(10), 0u);
    Commit nothing = Batch{empty}.finish();
    EXPECT_TRUE(nothing.view.root().is_zero());
    EXPECT_TRUE(nothing.delta.empty());
}

TEST(Tree, EmptiedIsLikeNeverFilled) {
    Batch batch{state_of({"/nodes/a", "/nodes/b"})};
    EXPECT_EQ(batch.erase_under(Prefix::everything()).count, 2u);
    const StateView view = std::move(batch).finish().view;
    EXPECT_TRUE(view.root().is_zero());
    EXPECT_TRUE(view.empty());
}

TEST(Tree, ANamespaceGoesWithItsContentsOnly) {
    Batch batch{state_of({"/namespaces/a", "/namespaces/a/core/Pod/x", "/namespaces/ab", "/namespaces/ab/core/Pod/x"})};
    EXPECT_EQ(batch.erase_under(path_at("/namespaces/a").subtree()).count, 2u);
    EXPECT_EQ(batch.erase_under(path_at("/namespaces/a").subtree()).count, 0u);
    const Commit commit = std::move(batch).finish();
    EXPECT_EQ(commit.view.root(), state_of({"/namespaces/ab", "/namespaces/ab/core/Pod/x"}).root());
    ASSERT_EQ(commit.delta.cuts().size(), 1u);
    EXPECT_EQ(commit.delta.cuts()[0].totals().count, 2u);
    EXPECT_TRUE(commit.delta.changes().empty());
    EXPECT_EQ(commit.delta.all().size(), 2u);
}

TEST(Tree, ABatchSeesItsOwnChanges) {
    Batch batch{state_of({"/nodes/a"})};
    batch.put(entry_at(path_at("/nodes/b"), 2));
    EXPECT_NE(batch.get(path_at("/nodes/b")), nullptr);
    EXPECT_EQ(batch.totals(Prefix::nodes()).count, 2u);
    EXPECT_TRUE(batch.erase(path_at("/nodes/a")));
    EXPECT_FALSE(batch.erase(path_at("/nodes/a")));
    Cursor cursor = batch.walk(Prefix::everything());
    EXPECT_EQ(cursor.next()->path().text(), "/nodes/b");
    EXPECT_EQ(cursor.next(), nullptr);
    EXPECT_NE(batch.base().get(path_at("/nodes/a")), nullptr);
}

TEST(Tree, ManyAtOnceAreTheSameAsOneByOne) {
    std::vector<EntryPtr> entries;
    for (int i = 0; i < 500; ++i)
        entries.push_back(entry_at(*Path::node(std::to_string(i % 300)), static_cast<unsigned>(i)));
    Batch together{state_of({"/nodes/7"})}, single{state_of({"/nodes/7"})};
    together.put(entries);
    for (const EntryPtr& entry : entries) single.put(entry);
    EXPECT_EQ(std::move(together).finish().view.root(), std::move(single).finish().view.root());
}

TEST(Tree, HashingOnManyThreadsGivesTheSameRoot) {
    class Halves final : public Parallel {
        [[nodiscard]] unsigned width() const override { return 2; }
        void for_ranges(std::size_t count, const std::function<void(std::size_t, std::size_t)>& piece) override {
            piece(count / 2, count);
            piece(0, count / 2);
            ++calls;
        }

    public:
        int calls = 0;
    } halves;
    Batch alone{StateView{}}, shared{StateView{}};
    for (int i = 0; i < 2000; ++i) {
        const EntryPtr entry = entry_at(*Path::node(std::to_string(i)), 1);
        alone.put(entry);
        shared.put(entry);
    }
    EXPECT_EQ(std::move(alone).finish().view.root(), std::move(shared).finish(&halves).view.root());
    EXPECT_GT(halves.calls, 2);
}

TEST(Tree, ListsChildrenWithoutWhatIsBelowThem) {
    const StateView view = state_of(
        {"/namespaces/a", "/namespaces/a/core/Pod/x", "/namespaces/b/core/Pod/orphan", "/namespaces/c", "/nodes/n"});
    EXPECT_EQ(texts(view.list_children(Prefix::namespaces(), {}, 10)),
              (std::vector<std::string>{"/namespaces/a", "/namespaces/c"}));
    const Page first = view.list_children(Prefix::namespaces(), {}, 1);
    ASSERT_TRUE(first.next);
    EXPECT_EQ(texts(view.list_children(Prefix::namespaces(), first.next, 1)),
              (std::vector<std::string>{"/namespaces/c"}));
}

TEST(Tree, AnEmptyPageKeepsThePlace) {
    const StateView view = state_of({"/nodes/a", "/nodes/b"});
    const Page page = view.list(Prefix::nodes(), path_at("/nodes/a"), 0);
    EXPECT_TRUE(page.entries.empty());
    EXPECT_EQ(page.next, path_at("/nodes/a"));
}

TEST(Tree, EntriesOutliveTheirViewWhenKept) {
    EntryPtr kept;
    {
        const StateView view = state_of({"/nodes/a", "/nodes/b"});
        kept = EntryPtr{view.get(path_at("/nodes/a"))};
    }
    EXPECT_EQ(kept->path().text(), "/nodes/a");
}

TEST(Tree, LargeDeletionsAreFreedInSlices) {
    Batch fill{StateView{}};
    for (int i = 0; i < 5000; ++i) fill.put(entry_at(*Path::namespaced("a", "", "Pod", std::to_string(i)), 1));
    fill.put(entry_at(path_at("/nodes/n"), 1));
    StateView view = std::move(fill).finish().view;
    {
        Batch cut{view};
        cut.erase_under(*Prefix::in_namespace("a"));
        view = std::move(cut).finish().view;  // the old view and the delta, which held the subtree, are gone now
    }
    std::size_t freed = 0, slices = 0;
    while (const std::size_t slice = view.collect_garbage(100)) {
        EXPECT_LE(slice, 200u);
        freed += slice;
        ++slices;
    }
    EXPECT_GT(slices, 20u);
    EXPECT_GE(freed, 9000u);  // 5,000 leaves and as many inner nodes, less what `finish` took
    EXPECT_EQ(view.size(), 1u);
}

TEST(Tree, DepthIsBoundedByNamesWhateverStrangersChoose) {
    // Every name differs from the next in one more bit: the worst shape there is.
    Batch batch{StateView{}};
    for (std::size_t size = 1; size <= kNameBytesMax; ++size)
        for (const char last : {'!', '#', '\'', '0', '?', '@'})
            batch.put(entry_at(*Path::node(std::string(size - 1, '~') + last), 1));
    Commit commit = std::move(batch).finish();
    const std::size_t all = commit.view.size();
    EXPECT_EQ(all, kNameBytesMax * 6);
    const auto undone = undo(commit.view, commit.delta);
    ASSERT_TRUE(undone);
    EXPECT_TRUE(undone->empty());
    Cursor cursor = commit.view.walk(Prefix::everything());
    std::size_t seen = 0;
    while (cursor.next() != nullptr) ++seen;
    EXPECT_EQ(seen, all);
}

TEST(OrderedBuilder, RefusesAStreamOutOfOrder) {
    OrderedBuilder builder;
    EXPECT_TRUE(builder.add(entry_at(path_at("/nodes/b"), 1)));
    EXPECT_FALSE(builder.add(entry_at(path_at("/nodes/b"), 2)));
    EXPECT_FALSE(builder.add(entry_at(path_at("/nodes/a"), 1)));
    EXPECT_TRUE(builder.add(entry_at(path_at("/nodes/c"), 1)));
    EXPECT_EQ(std::move(builder).finish().root(), state_of({"/nodes/b", "/nodes/c"}).root());
    EXPECT_TRUE(OrderedBuilder{}.finish().empty());
}

TEST(OrderedBuilder, ASnapshotIsRebuiltWithTheSameRoot) {
    Batch batch{StateView{}};
    Random random{5};
    for (int i = 0; i < 3000; ++i) batch.put(entry_at(*Path::node(std::to_string(random.next())), 1));
    const StateView view = std::move(batch).finish().view;
    OrderedBuilder builder;
    Cursor cursor = view.walk(Prefix::everything());
    while (const Entry* entry = cursor.next()) {
        Writer out;
        encode(out, *entry);
        Reader in{out.view()};
        ASSERT_TRUE(builder.add(*decode_entry(in)));
    }
    const StateView copy = std::move(builder).finish();
    EXPECT_EQ(copy.root(), view.root());
    EXPECT_EQ(copy.totals(Prefix::everything()), view.totals(Prefix::everything()));
}

TEST(Delta, IsRefusedByAnotherState) {
    Batch batch{state_of({"/nodes/a"})};
    batch.put(entry_at(path_at("/nodes/b"), 1));
    const Delta delta = std::move(batch).finish().delta;
    EXPECT_EQ(apply(StateView{}, delta).error(), DeltaFault::WrongState);
    EXPECT_EQ(undo(StateView{}, delta).error(), DeltaFault::WrongState);
}

TEST(Delta, AForgedOneIsInconsistent) {
    Batch batch{state_of({"/nodes/a"})};
    batch.put(entry_at(path_at("/nodes/b"), 1));
    const Commit commit = std::move(batch).finish();
    Bytes bytes = encode(commit.delta);
    bytes.back() ^= 1;  // inside the document
    const auto forged = decode_delta(bytes);
    ASSERT_TRUE(forged);
    EXPECT_EQ(apply(state_of({"/nodes/a"}), *forged).error(), DeltaFault::Inconsistent);
    EXPECT_EQ(decode_delta(bytes, bytes.size() - 1).error(), DecodeFault::TooLong);
}

TEST(Delta, PutsACutOffSubtreeBackAlsoIntoAnotherLineOfStates) {
    const auto paths = {"/namespaces/a", "/namespaces/a/core/Pod/x", "/namespaces/a/core/Pod/y", "/nodes/n"};
    StateView undone;
    {
        Batch batch{state_of(paths)};
        batch.erase_under(path_at("/namespaces/a").subtree());
        const Delta delta = std::move(batch).finish().delta;
        undone = *undo(state_of({"/nodes/n"}), delta);  // the same state, from other memory
    }
    EXPECT_EQ(undone.root(), state_of(paths).root());
    EXPECT_EQ(undone.size(), 4u);
}

}  // namespace
}  // namespace rhizome::state
