// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "ledger/reorganise.h"
#include "support/memory_block_source.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::lock_of;
using test::TestChain;
using Node = HeaderTree::Node;
using Progress = Reorganisation::Progress;

/// A tree of blocks from one genesis, grown at random places. Branches take each other's transactions where they can,
/// so that some change is in both and some in one only.
class Forest {
public:
    explicit Forest(Random& random) {
        TestChain trunk;
        std::vector<SharedTx> first;
        for (int n = 0; n < 2; ++n)
            first.push_back(trunk.create("/", "creator", document("v1", "Namespace", "", fmt::format("ns{}", n)),
                                         lock_of("nadia")));
        trunk.mine_all(first);
        chains_.push_back(std::move(trunk));
        for (std::uint64_t branches = 2 + random.below(4); branches > 0; --branches) {
            const TestChain& from = chains_[random.below(chains_.size())];
            chains_.push_back(from.fork(2 + random.below(from.blocks().size() - 1)));
            for (std::uint64_t blocks = 1 + random.below(4); blocks > 0; --blocks) grow(chains_.back(), random);
        }
        tree_ = std::make_unique<HeaderTree>(chains_[0].blocks()[0].header);
        for (const TestChain& chain : chains_)
            for (std::size_t i = 0; i < chain.blocks().size(); ++i) {
                const Block& block = chain.blocks()[i];
                const auto node = tree_->insert(block.header);
                RC_ASSERT(node.has_value());
                if (!blocks_.emplace(*node, Made{block, chain.commits()[i]}).second) continue;
                nodes_.push_back(*node);
                source.put(block);
                if (i > 0) source.put_change((*node)->hash, chain.commits()[i].delta);
            }
    }

    struct Made {
        Block block;
        state::Commit commit;
    };
    [[nodiscard]] const Node* any(Random& random) const { return nodes_[random.below(nodes_.size())]; }
    [[nodiscard]] const std::vector<const Node*>& nodes() const { return nodes_; }
    [[nodiscard]] const Made& made(const Node* node) const { return blocks_.at(node); }
    HeaderTree& tree() { return *tree_; }

    /// The state after `node` by applying every block from genesis on.
    [[nodiscard]] state::StateView replayed(const Node* node) const {
        if (node->parent == nullptr) return made(node).commit.view;
        LedgerState state{made(&tree_->root()).commit.view};
        const Rules rules;
        SignatureCache cache;
        Inline parallel;
        for (const Node* next : HeaderTree::route(&tree_->root(), node).apply) {
            const auto applied = apply(state, next->parent->header, made(next).block, {}, rules, cache, parallel);
            RC_ASSERT(applied.has_value());
            state.advance(applied->commit);
        }
        return state.view();
    }
    [[nodiscard]] std::vector<TxId> txs_of(const std::vector<const Node*>& nodes) const {
        std::vector<TxId> ids;
        for (const Node* node : nodes)
            for (const Tx& tx : made(node).block.txs) ids.push_back(id_of(tx));
        return ids;
    }

    test::MemoryBlockSource source;

private:
    void grow(TestChain& chain, Random& random) {
        for (std::uint64_t more = random.below(3); more > 0; --more) {
            const std::string ns = fmt::format("/namespaces/ns{}", random.below(2));
            const std::string name = fmt::format("c{}", random.below(4));
            const std::string path = fmt::format("{}/core/ConfigMap/{}", ns, name);
            if (chain.get(ns) == nullptr) {
                txs_.push_back(
                    chain.create("/", "creator", document("v1", "Namespace", "", ns.substr(12)), lock_of("nadia")));
            } else if (random.chance(1, 10)) {  // cut off with all that is below
                test::Draft deletion;
                chain.version(deletion, ns, "nadia");
                txs_.push_back(chain.sign(deletion));
            } else if (chain.get(path) == nullptr) {
                txs_.push_back(chain.create(
                    ns, "nadia",
                    document("v1", "ConfigMap", ns.substr(12), name, fmt::format("n{}", random.below(100))),
                    lock_of("olga")));
            } else if (random.chance(1, 2)) {
                txs_.push_back(chain.update(
                    path, "olga",
                    document("v1", "ConfigMap", ns.substr(12), name, fmt::format("n{}", random.below(100))),
                    lock_of("olga")));
            } else {
                test::Draft deletion;
                chain.version(deletion, path, "olga");
                txs_.push_back(chain.sign(deletion));
            }
        }
        std::vector<SharedTx> tried = txs_;  // of all branches: what does not fit is left out
        random.shuffle(tried);
        chain.mine(tried, milliseconds{static_cast<std::int64_t>(500 + random.below(1'000'000) / 1'000)});
    }

    std::vector<TestChain> chains_;
    std::vector<SharedTx> txs_;
    std::unique_ptr<HeaderTree> tree_;
    std::vector<const Node*> nodes_;
    std::map<const Node*, Made> blocks_;
};

/// One move, with what it borrows.
struct Mover {
    Rules rules;
    test::CountingJudge judge;
    SignatureCache cache;
    Inline parallel;
    LedgerState state;
    std::unique_ptr<Reorganisation> move;

    Mover(const Forest& forest, const Node* from, const Node* to, std::optional<Reorganisation::Kept> kept = {})
        : state(forest.made(from).commit.view) {
        move = std::make_unique<Reorganisation>(state, from, to, forest.source, BlockRules{rules, judge}, cache,
                                                parallel, std::move(kept));
    }
    Progress run(std::size_t slice) {
        while (move->step(slice) == Progress::Moving) RC_ASSERT(state.view().root() == move->at()->header.state_root);
        return move->progress();
    }
    void check_at(const Node* node) const {
        RC_ASSERT(state.view().root() == node->header.state_root);
        RC_ASSERT(state.index() == OutpointIndex::of(state.view()));
        RC_ASSERT(move->at() == node);
    }
};

std::vector<TxId> ids_of_returned(const std::vector<SharedTx>& txs) {
    std::vector<TxId> ids;
    for (const SharedTx& tx : txs) ids.push_back(tx->id);
    return ids;
}

std::optional<Reorganisation::Kept> some_kept(const Forest& forest, const Node* to, Random& random) {
    if (random.chance(1, 2)) return std::nullopt;
    const auto* node = HeaderTree::ancestor(to, Height{random.below(to->header.height.number() + 1)});
    return Reorganisation::Kept{forest.made(node).commit.view, node};
}

RC_GTEST_PROP(ReorganiseProperty, AnyBlockLeadsToAnyOther, (std::uint64_t seed)) {
    Random random{seed};
    Forest forest{random};
    const Node *from = forest.any(random), *to = forest.any(random);
    const auto kept = some_kept(forest, to, random);
    // Blocks on the way back are recorded, others perhaps.
    for (const Node* node : forest.nodes())
        if (!HeaderTree::is_ancestor(node, from) && random.chance(1, 2)) forest.source.forget_change(node->hash);
    const auto route = HeaderTree::route(from, to);

    Mover all{forest, from, to, kept};
    RC_ASSERT(all.run(SIZE_MAX) == Progress::Arrived);
    all.check_at(to);
    RC_ASSERT(all.state.view().root() == forest.replayed(to).root());
    const auto& report = all.move->report();
    RC_ASSERT(report.undone == route.undo);
    RC_ASSERT(report.applied == route.apply);
    const bool shorter = kept && to->header.height - kept->node->header.height < route.undo.size() + route.apply.size();
    RC_ASSERT(report.jumped == shorter);
    const auto included = forest.txs_of(route.apply);
    RC_ASSERT(report.included == included);
    auto oldest_first = route.undo;
    std::reverse(oldest_first.begin(), oldest_first.end());
    auto lost = forest.txs_of(oldest_first);
    std::erase_if(lost,
                  [&](const TxId& id) { return std::find(included.begin(), included.end(), id) != included.end(); });
    RC_ASSERT(ids_of_returned(report.returned) == lost);
    // Blocks that are undone or that both chains have are recorded; those that a kept state has in it are not judged.
    std::size_t unrecorded = 0;
    for (const Node* node : route.apply)
        if (!report.jumped || node->header.height > kept->node->header.height)
            unrecorded += forest.source.has_change(node->hash) ? 0 : 1;
    RC_ASSERT(all.judge.judged == unrecorded);
    RC_ASSERT(state::apply(forest.made(from).commit.view, report.change)->root() == to->header.state_root);
    RC_ASSERT(report.unread == 0u);

    // One block at a time comes to the same.
    Mover slices{forest, from, to, kept};
    RC_ASSERT(slices.run(1) == Progress::Arrived);
    slices.check_at(to);
    RC_ASSERT(slices.move->report().undone == report.undone);
    RC_ASSERT(slices.move->report().applied == report.applied);
    RC_ASSERT(slices.move->report().included == report.included);
    RC_ASSERT(ids_of_returned(slices.move->report().returned) == ids_of_returned(report.returned));
    RC_ASSERT(encode(slices.move->report().change) == encode(report.change));
    const auto judged = all.move->take_judged();
    const auto also_judged = slices.move->take_judged();
    RC_ASSERT(judged.size() == also_judged.size());
    for (std::size_t i = 0; i < judged.size(); ++i) {
        RC_ASSERT(judged[i].node == also_judged[i].node);
        RC_ASSERT(encode(judged[i].change) == encode(forest.made(judged[i].node).commit.delta));
    }
}

RC_GTEST_PROP(ReorganiseProperty, MissingOrDamagedRecordsNeverLeadAstray, (std::uint64_t seed)) {
    Random random{seed};
    Forest forest{random};
    const Node *from = forest.any(random), *to = forest.any(random);
    const auto kept = some_kept(forest, to, random);
    for (const Node* node : forest.nodes()) {
        if (node->parent == nullptr) continue;
        if (random.chance(1, 4)) {
            forest.source.forget_change(node->hash);
        } else if (random.chance(1, 4)) {
            forest.source.damage_change(node->hash);
        }
        if (random.chance(1, 12)) forest.source.forget_block(node->hash);
    }
    Mover mover{forest, from, to, kept};
    const Progress end = mover.run(1 + random.below(4));
    RC_ASSERT(end == Progress::Arrived || end == Progress::Failed);
    mover.check_at(end == Progress::Arrived ? to : from);
    RC_ASSERT((end == Progress::Failed) == mover.move->report().failed.has_value());
}

RC_GTEST_PROP(ReorganiseProperty, AnInvalidBlockLeavesEverythingAsItWas, (std::uint64_t seed)) {
    Random random{seed};
    Forest forest{random};
    const Node *from = forest.any(random), *to = forest.any(random);
    // A block on top that is wrong somehow, and perhaps others on top of it.
    Block bad = forest.made(to).block;
    bad.txs.clear();
    bad.header.merkle_root = merkle_root_of({});
    bad.header.previous = to->hash;
    bad.header.height = to->header.height + 1;
    bad.header.time = to->header.time + seconds{1};
    bad.header.state_root.writable()[random.below(32)] ^= 1;
    forest.source.put(bad);
    const Node* culprit = *forest.tree().insert(bad.header);
    const Node* target = culprit;
    for (std::uint64_t more = random.below(3); more > 0; --more) {
        Block above = bad;
        above.header.previous = target->hash;
        above.header.height = target->header.height + 1;
        above.header.time = target->header.time + seconds{1};
        forest.source.put(above);
        target = *forest.tree().insert(above.header);
    }
    Mover mover{forest, from, target, some_kept(forest, to, random)};
    RC_ASSERT(mover.run(1 + random.below(4)) == Progress::Refused);
    mover.check_at(from);
    RC_ASSERT(mover.move->report().refused->node == culprit);
    RC_ASSERT(mover.move->report().refused->why.code == RejectCode::BadStateRoot);
    // And from there it can still go where it is right.
    Mover again{forest, from, to};
    RC_ASSERT(again.run(2) == Progress::Arrived);
    again.check_at(to);
}

}  // namespace
}  // namespace rhizome::ledger
