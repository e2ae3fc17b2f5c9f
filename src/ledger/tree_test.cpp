// SPDX-License-Identifier: Apache-2.0
#include "ledger/tree.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace rhizome::ledger {
namespace {

Header child_of(const HeaderTree::Node& parent, std::uint64_t nonce = 0) {
    return {.previous = parent.hash,
            .time = parent.header.time + milliseconds{1},
            .height = parent.header.height + 1,
            .nonce = nonce};
}

const HeaderTree::Node* grow(HeaderTree& tree, const HeaderTree::Node* from, int blocks, std::uint64_t nonce = 0) {
    for (int i = 0; i < blocks; ++i) from = *tree.insert(child_of(*from, nonce));
    return from;
}

TEST(HeaderTree, RefusesWhatDoesNotFollow) {
    HeaderTree tree{Header{}};
    Header orphan = child_of(tree.root());
    orphan.previous = {};
    EXPECT_EQ(tree.insert(orphan).error().code, RejectCode::MissingInput);
    Header high = child_of(tree.root());
    high.height = Height{2};
    EXPECT_EQ(tree.insert(high).error().code, RejectCode::BadEncoding);
    Header early = child_of(tree.root());
    early.time = tree.root().header.time;
    EXPECT_EQ(tree.insert(early).error().code, RejectCode::BadEncoding);
    const auto first = tree.insert(child_of(tree.root()));
    EXPECT_EQ(*first, *tree.insert(child_of(tree.root())));
    EXPECT_EQ(tree.size(), 2u);
}

TEST(HeaderTree, FindsAncestorsForksAndRoutes) {
    HeaderTree tree{Header{}};
    const auto* trunk = grow(tree, &tree.root(), 500);
    const auto* left = grow(tree, trunk, 300, 1);
    const auto* right = grow(tree, trunk, 77, 2);
    EXPECT_EQ(HeaderTree::common_ancestor(left, right), trunk);
    EXPECT_TRUE(HeaderTree::is_ancestor(trunk, left));
    EXPECT_FALSE(HeaderTree::is_ancestor(left, right));
    for (std::uint64_t height = 0; height <= 800; ++height) {
        const auto* found = HeaderTree::ancestor(left, Height{height});
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->header.height, Height{height});
    }
    EXPECT_EQ(HeaderTree::ancestor(left, Height{801}), nullptr);
    const auto route = HeaderTree::route(left, right);
    EXPECT_EQ(route.undo.size(), 300u);
    EXPECT_EQ(route.undo.front(), left);
    EXPECT_EQ(route.apply.size(), 77u);
    EXPECT_EQ(route.apply.front()->parent, trunk);
    EXPECT_EQ(route.apply.back(), right);
}

TEST(HeaderTree, ALocatorLeadsToTheFork) {
    HeaderTree ours{Header{}}, theirs{Header{}};
    const auto* our_trunk = grow(ours, &ours.root(), 1000);
    const auto* their_trunk = grow(theirs, &theirs.root(), 1000);
    const auto* our_tip = grow(ours, our_trunk, 40, 1);
    const auto* their_tip = grow(theirs, their_trunk, 25, 2);
    const auto locator = theirs.locator(their_tip);
    EXPECT_LT(locator.size(), 30u);
    const auto* fork = ours.find_fork(locator, our_tip);
    EXPECT_LE(fork->header.height, Height{1000});
    EXPECT_GE(fork->header.height, Height{930});
    HeaderTree stranger{Header{.nonce = 9}};
    EXPECT_EQ(ours.find_fork(stranger.locator(&stranger.root()), our_tip), &ours.root());
}

TEST(HeaderTree, DeepenedItKnowsWhatABranchPartsFromBelow) {
    // The whole chain in one tree; its upper half in another, with a branch, that learns the rest later.
    HeaderTree all{Header{}};
    const auto* tip = grow(all, &all.root(), 700);
    const auto* middle = HeaderTree::ancestor(tip, Height{400});
    HeaderTree tree{middle->header};
    const HeaderTree::Node* top = &tree.root();
    for (std::uint64_t height = 401; height <= 700; ++height)
        top = *tree.insert(HeaderTree::ancestor(tip, Height{height})->header);
    std::vector<Header> older;
    for (const auto* at = middle->parent; at->header.height >= Height{100}; at = at->parent)
        older.push_back(at->header);
    auto broken = older;
    broken[7] = broken[8];
    EXPECT_EQ(tree.deepen(broken).error().code, RejectCode::BadEncoding);
    EXPECT_EQ(tree.root().header.height, Height{400});
    ASSERT_TRUE(tree.deepen(older));
    EXPECT_EQ(tree.root().header.height, Height{100});
    for (std::uint64_t height = 100; height <= 700; ++height) {
        const auto* found = HeaderTree::ancestor(top, Height{height});
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(found->hash, HeaderTree::ancestor(tip, Height{height})->hash);
    }
    const auto* fork = HeaderTree::ancestor(top, Height{123});
    const auto* branch = grow(tree, fork, 500, 9);
    EXPECT_EQ(HeaderTree::common_ancestor(branch, top), fork);
    EXPECT_EQ(HeaderTree::common_ancestor(top, branch), fork);
    EXPECT_EQ(HeaderTree::route(top, branch).undo.size(), 577u);
    tree.prune_to(fork);
    EXPECT_EQ(HeaderTree::common_ancestor(branch, top), fork);
}

TEST(HeaderTree, PruningKeepsWhatDescendsFromTheNewRoot) {
    HeaderTree tree{Header{}};
    const auto* trunk = grow(tree, &tree.root(), 100);
    const auto* dead = grow(tree, HeaderTree::ancestor(trunk, Height{50}), 10, 7);
    const auto* left = grow(tree, trunk, 60, 1);
    const auto* right = grow(tree, trunk, 60, 2);
    const auto dead_hash = dead->hash;
    EXPECT_EQ(tree.prune_to(trunk), 110u);
    EXPECT_EQ(&tree.root(), trunk);
    EXPECT_EQ(tree.find(dead_hash), nullptr);
    EXPECT_EQ(HeaderTree::common_ancestor(left, right), trunk);
    EXPECT_EQ(HeaderTree::ancestor(left, Height{100}), trunk);
    EXPECT_EQ(HeaderTree::ancestor(left, Height{99}), nullptr);
    EXPECT_EQ(tree.locator(left).back(), trunk->hash);
    (void)grow(tree, left, 50, 3);
}

}  // namespace
}  // namespace rhizome::ledger
