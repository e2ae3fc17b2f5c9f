// SPDX-License-Identifier: Apache-2.0
#include "ledger/reorganise.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "support/memory_block_source.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::lock_of;
using test::TestChain;
using Progress = Reorganisation::Progress;

/// Genesis and four blocks that both have, then three blocks of `old` and four of `young`; all changes are recorded.
/// Both branches have the pod `both`, only one each has the others.
struct ReorganiseScene {
    TestChain old, young;
    std::size_t shared = 0;
    std::unique_ptr<HeaderTree> tree;
    test::MemoryBlockSource source;
    test::CountingJudge judge;
    Rules rules;
    SignatureCache cache;
    Inline parallel;
    SharedTx both, lost, gained;

    ReorganiseScene() {
        old.mine_all({old.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("alice"))});
        for (int i = 0; i < 3; ++i) old.mine_all({});
        shared = old.blocks().size();
        young = old.fork(shared);
        both = pod(old, "both");
        lost = pod(old, "lost");
        gained = pod(old, "gained");
        old.mine_all({both});
        old.mine_all({lost});
        old.mine_all({});
        young.mine_all({gained}, milliseconds{700});
        young.mine_all({both}, milliseconds{700});
        for (int i = 0; i < 2; ++i) young.mine_all({}, milliseconds{700});
        tree = std::make_unique<HeaderTree>(old.blocks().front().header);
        for (const TestChain* chain : {&old, &young})
            for (std::size_t i = 1; i < chain->blocks().size(); ++i) {
                EXPECT_TRUE(tree->insert(chain->blocks()[i].header));
                source.put(chain->blocks()[i]);
                source.put_change(hash_of(chain->blocks()[i].header), chain->commits()[i].delta);
            }
    }
    static SharedTx pod(const TestChain& chain, std::string_view name) {
        return chain.create("/namespaces/web", "alice", document("v1", "Pod", "web", name));
    }
    [[nodiscard]] const HeaderTree::Node* node(const TestChain& chain, std::size_t height) const {
        return tree->find(hash_of(chain.blocks()[height].header));
    }
    [[nodiscard]] const HeaderTree::Node* tip(const TestChain& chain) const {
        return node(chain, chain.blocks().size() - 1);
    }
    [[nodiscard]] Reorganisation::Kept kept(const TestChain& chain, std::size_t height) const {
        return {chain.commits()[height].view, node(chain, height)};
    }
    Reorganisation move(LedgerState& state, const HeaderTree::Node* to,
                        std::optional<Reorganisation::Kept> kept = std::nullopt) {
        return {state, tip(old), to, source, {rules, judge}, cache, parallel, std::move(kept)};
    }
    void expect_at(const LedgerState& state, const HeaderTree::Node* where) const {
        EXPECT_EQ(state.view().root(), where->header.state_root);
        EXPECT_EQ(state.index(), OutpointIndex::of(state.view()));
        EXPECT_EQ(state.chain(), old.chain_id());
    }
};

std::vector<TxId> ids_of(const std::vector<SharedTx>& txs) {
    std::vector<TxId> ids;
    for (const SharedTx& tx : txs) ids.push_back(tx->id);
    return ids;
}

TEST(Reorganise, UndoesOneBranchAndAppliesTheOther) {
    ReorganiseScene scene;
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young));
    EXPECT_EQ(move.step(SIZE_MAX), Progress::Arrived);
    scene.expect_at(state, scene.tip(scene.young));
    const auto& report = move.report();
    EXPECT_EQ(report.undone.size(), 3u);
    EXPECT_EQ(report.undone.front(), scene.tip(scene.old));
    EXPECT_EQ(report.applied.size(), 4u);
    EXPECT_EQ(report.applied.back(), scene.tip(scene.young));
    EXPECT_EQ(ids_of(report.returned), std::vector{scene.lost->id});
    EXPECT_EQ(report.included, (std::vector{scene.gained->id, scene.both->id}));
    EXPECT_EQ(report.unread, 0u);
    EXPECT_FALSE(report.jumped);
    EXPECT_EQ(report.change.root_before(), scene.tip(scene.old)->header.state_root);
    EXPECT_EQ(state::apply(scene.old.state().view(), report.change)->root(), state.view().root());
    EXPECT_EQ(scene.judge.judged, 0u) << "all changes were recorded";
    EXPECT_TRUE(move.take_judged().empty());
    EXPECT_EQ(move.step(1), Progress::Arrived) << "it stays there";
}

TEST(Reorganise, ToWhereItIsChangesNothing) {
    ReorganiseScene scene;
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.old));
    EXPECT_EQ(move.step(1), Progress::Arrived);
    EXPECT_TRUE(move.report().change.empty());
    EXPECT_TRUE(move.report().undone.empty() && move.report().applied.empty());
}

TEST(Reorganise, BlocksWithoutARecordAreJudgedAndHandedOver) {
    ReorganiseScene scene;
    for (std::size_t i = scene.shared; i < scene.young.blocks().size(); ++i)
        scene.source.forget_change(scene.node(scene.young, i)->hash);
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young));
    EXPECT_EQ(move.step(SIZE_MAX), Progress::Arrived);
    scene.expect_at(state, scene.tip(scene.young));
    EXPECT_EQ(scene.judge.judged, 4u);
    EXPECT_EQ(move.report().included, (std::vector{scene.gained->id, scene.both->id}));
    const auto judged = move.take_judged();
    ASSERT_EQ(judged.size(), 4u);
    EXPECT_TRUE(move.take_judged().empty());
    // What was handed over undoes them.
    for (std::size_t i = judged.size(); i-- > 0;) ASSERT_TRUE(state.step_back(judged[i].change));
    scene.expect_at(state, scene.node(scene.old, scene.shared - 1));
}

TEST(Reorganise, GoesInSlices) {
    ReorganiseScene scene;
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young));
    // Three undone, four applied, three read for their transactions.
    std::vector<const HeaderTree::Node*> way;
    for (int i = 0; i < 9; ++i) {
        ASSERT_EQ(move.step(1), Progress::Moving);
        EXPECT_EQ(state.view().root(), move.at()->header.state_root) << "always the state after some block";
        way.push_back(move.at());
    }
    EXPECT_EQ(move.step(1), Progress::Arrived);
    EXPECT_EQ(way[0], scene.tip(scene.old)->parent);
    EXPECT_EQ(way[2], scene.node(scene.old, scene.shared - 1));
    EXPECT_EQ(way[6], scene.tip(scene.young));
    EXPECT_EQ(ids_of(move.report().returned), std::vector{scene.lost->id});
}

TEST(Reorganise, AnInvalidBlockLeavesTheStateWhereItBegan) {
    for (const std::size_t slice : {std::size_t{1}, SIZE_MAX}) {
        ReorganiseScene scene;
        scene.source.forget_changes();
        for (std::size_t i = scene.shared; i < scene.old.blocks().size(); ++i)
            scene.source.put_change(scene.node(scene.old, i)->hash, scene.old.commits()[i].delta);
        const auto* bad = scene.node(scene.young, scene.shared + 2);
        scene.judge.refused.insert(bad->hash);
        LedgerState state{scene.old.state().view()};
        auto move = scene.move(state, scene.tip(scene.young));
        while (move.step(slice) == Progress::Moving) {
        }
        ASSERT_EQ(move.progress(), Progress::Refused);
        ASSERT_TRUE(move.report().refused);
        EXPECT_EQ(move.report().refused->node, bad);
        EXPECT_EQ(move.report().refused->why.code, RejectCode::BadSeal);
        scene.expect_at(state, scene.tip(scene.old));
        EXPECT_TRUE(state.view().is_same(scene.old.state().view()));
        EXPECT_EQ(move.at(), scene.tip(scene.old));
        EXPECT_TRUE(move.report().returned.empty() && move.report().included.empty() && move.report().applied.empty());
        EXPECT_EQ(move.take_judged().size(), 2u) << "the good ones need not be judged again";
    }
}

TEST(Reorganise, ABlockWithAWrongStateRootIsRefused) {
    ReorganiseScene scene;
    Block bad = scene.young.blocks().back();
    bad.header.previous = scene.tip(scene.young)->hash;
    bad.header.height = bad.header.height + 1;
    bad.header.time = bad.header.time + seconds{1};
    Block above = bad;
    above.header.previous = hash_of(bad.header);
    above.header.height = bad.header.height + 1;
    above.header.time = bad.header.time + seconds{1};
    for (const Block* block : {&bad, &above}) {
        scene.source.put(*block);
        ASSERT_TRUE(scene.tree->insert(block->header));
    }
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tree->find(hash_of(above.header)));
    ASSERT_EQ(move.step(SIZE_MAX), Progress::Refused);
    EXPECT_EQ(move.report().refused->node, scene.tree->find(hash_of(bad.header)));
    EXPECT_EQ(move.report().refused->why.code, RejectCode::BadStateRoot);
    scene.expect_at(state, scene.tip(scene.old));
}

TEST(Reorganise, ABodyThatIsNotTheHeadersSaysNothingAboutTheBlock) {
    ReorganiseScene scene;
    const auto* victim = scene.node(scene.young, scene.shared + 1);
    scene.source.forget_change(victim->hash);
    Block cut = scene.young.blocks()[scene.shared + 1];
    cut.txs.clear();
    scene.source.put(cut);
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young));
    ASSERT_EQ(move.step(SIZE_MAX), Progress::Failed);
    EXPECT_FALSE(move.report().refused);
    EXPECT_EQ(move.report().failed->node, victim);
    EXPECT_EQ(move.report().failed->why.kind, ErrorKind::Corrupt);
    scene.expect_at(state, scene.tip(scene.old));
}

TEST(Reorganise, ABlockThatIsNotHereLeavesTheStateWhereItBegan) {
    ReorganiseScene scene;
    const auto* gone = scene.node(scene.young, scene.shared + 1);
    scene.source.forget_change(gone->hash);
    scene.source.forget_block(gone->hash);
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young));
    ASSERT_EQ(move.step(SIZE_MAX), Progress::Failed);
    EXPECT_EQ(move.report().failed->node, gone);
    EXPECT_EQ(move.report().failed->why.kind, ErrorKind::NotFound);
    scene.expect_at(state, scene.tip(scene.old));
}

TEST(Reorganise, WithoutAnUndoRecordTheKeptStateServes) {
    for (const bool damaged : {false, true}) {
        ReorganiseScene scene;
        const auto* victim = scene.tip(scene.old)->parent;
        if (damaged) {
            scene.source.damage_change(victim->hash);
        } else {
            scene.source.forget_change(victim->hash);
        }
        // So far below that undoing would have been the shorter way.
        LedgerState state{scene.old.state().view()};
        {
            auto stuck = scene.move(state, scene.tip(scene.young));
            ASSERT_EQ(stuck.step(SIZE_MAX), Progress::Failed);
            EXPECT_EQ(stuck.report().failed->node, victim);
            EXPECT_EQ(stuck.report().failed->why.kind, damaged ? ErrorKind::Corrupt : ErrorKind::NotFound);
            scene.expect_at(state, scene.tip(scene.old));
        }
        auto move = scene.move(state, scene.tip(scene.young), scene.kept(scene.old, 1));
        EXPECT_EQ(move.step(SIZE_MAX), Progress::Arrived);
        EXPECT_TRUE(move.report().jumped);
        scene.expect_at(state, scene.tip(scene.young));
        // What both chains have was done again, but is neither undone nor new.
        EXPECT_EQ(move.report().undone.size(), 3u);
        EXPECT_EQ(move.report().applied.size(), 4u);
        EXPECT_EQ(ids_of(move.report().returned), std::vector{scene.lost->id});
        EXPECT_EQ(move.report().included, (std::vector{scene.gained->id, scene.both->id}));
    }
}

/// The root tells whether what a record writes is right, not what it says was there before.
TEST(Reorganise, TheIndexOfOutputsDoesNotBelieveARecord) {
    TestChain chain;
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("alice"))});
    const LedgerState before{chain.state().view()};
    chain.mine_all(
        {chain.update("/namespaces/web", "alice", document("v1", "Namespace", "", "web", "x"), lock_of("alice"))});
    const auto forged = [&](bool old_side) {
        const state::Delta& good = chain.commits().back().delta;
        Writer out;
        out.id(good.root_before()).id(good.root_after()).varint(good.all().size());
        for (state::Change change : good.all()) {
            state::EntryPtr& lie = old_side ? change.before : change.after;
            if (lie && lie->is_written()) {
                state::Origin origin = lie->origin();
                origin.latest.output.index = 7;
                lie = *state::Entry::written(lie->path(), origin, lie->script(), lie->document());
            }
            out.u8(static_cast<std::uint8_t>((change.before ? 1 : 0) | (change.after ? 2 : 0)));
            if (change.before) state::encode(out, *change.before);
            if (change.after) state::encode(out, *change.after);
        }
        return *state::decode_delta(out.view());
    };
    LedgerState state{before.view()};
    ASSERT_TRUE(state.step_forward(forged(true)));
    EXPECT_EQ(state.index(), chain.state().index());
    ASSERT_TRUE(state.step_back(forged(false)));
    EXPECT_EQ(state.index(), before.index());
    EXPECT_EQ(state.step_forward(forged(false)).error(), state::DeltaFault::Inconsistent);
    EXPECT_EQ(state.view().root(), before.view().root());
    EXPECT_EQ(state.index(), before.index());
}

TEST(Reorganise, TheNearerWayIsTaken) {
    ReorganiseScene scene;
    const struct {
        std::size_t kept;
        bool jumps;
    } rows[] = {
        {1, false},                // seven blocks either way
        {2, true},                 // six from the kept state
        {scene.shared - 1, true},  // the fork itself: nothing to undo
    };
    for (const auto& row : rows) {
        LedgerState state{scene.old.state().view()};
        auto move = scene.move(state, scene.tip(scene.young), scene.kept(scene.old, row.kept));
        EXPECT_EQ(move.step(SIZE_MAX), Progress::Arrived);
        EXPECT_EQ(move.report().jumped, row.jumps) << row.kept;
        scene.expect_at(state, scene.tip(scene.young));
        EXPECT_EQ(ids_of(move.report().returned), std::vector{scene.lost->id});
    }
    // On the new branch: what was final elsewhere.
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young), scene.kept(scene.young, scene.shared + 1));
    EXPECT_EQ(move.step(SIZE_MAX), Progress::Arrived);
    EXPECT_TRUE(move.report().jumped);
    EXPECT_EQ(move.report().included, (std::vector{scene.gained->id, scene.both->id}));
    EXPECT_EQ(ids_of(move.report().returned), std::vector{scene.lost->id});
}

TEST(Reorganise, AKeptStateOfAnotherBranchIsNoUse) {
    ReorganiseScene scene;
    scene.source.forget_change(scene.tip(scene.old)->hash);
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young), scene.kept(scene.old, scene.shared));
    ASSERT_EQ(move.step(SIZE_MAX), Progress::Failed);
    scene.expect_at(state, scene.tip(scene.old));
}

TEST(Reorganise, BodiesOfTheOldBranchThatAreGoneAreCounted) {
    ReorganiseScene scene;
    scene.source.forget_block(scene.node(scene.old, scene.shared + 1)->hash);
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young));
    EXPECT_EQ(move.step(SIZE_MAX), Progress::Arrived);
    EXPECT_EQ(move.report().unread, 1u);
    EXPECT_TRUE(move.report().returned.empty());
}

TEST(Reorganise, GivenUpItGoesBack) {
    for (std::size_t steps = 0; steps < 9; ++steps) {
        ReorganiseScene scene;
        LedgerState state{scene.old.state().view()};
        auto move = scene.move(state, scene.tip(scene.young));
        if (steps > 0) {
            ASSERT_EQ(move.step(steps), Progress::Moving);
        }
        move.abandon();
        EXPECT_EQ(move.progress(), Progress::Failed);
        scene.expect_at(state, scene.tip(scene.old));
        EXPECT_EQ(move.step(1), Progress::Failed);
    }
    ReorganiseScene scene;
    LedgerState state{scene.old.state().view()};
    auto move = scene.move(state, scene.tip(scene.young));
    EXPECT_EQ(move.step(SIZE_MAX), Progress::Arrived);
    move.abandon();
    scene.expect_at(state, scene.tip(scene.young));
}

TEST(Reorganise, ThePoolTakesBackWhatWasLost) {
    ReorganiseScene scene;
    PendingPool pool{{}, scene.rules, scene.cache};
    LedgerState state{scene.old.state().view()};
    pool.set_tip(state, scene.old.next());
    auto move = scene.move(state, scene.tip(scene.young));
    ASSERT_EQ(move.step(SIZE_MAX), Progress::Arrived);
    pool.set_tip(state, scene.young.next(), move.report().included, move.report().returned);
    EXPECT_EQ(ids_of(pool.best()), std::vector{scene.lost->id});
}

}  // namespace
}  // namespace rhizome::ledger
