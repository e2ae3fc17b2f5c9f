// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "ledger/chain_records.h"
#include "ledger/codec.h"
#include "ledger/order.h"
#include "script/script.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::Draft;
using test::lock_of;
using test::TestChain;

Bytes random_bytes(Random& random, std::size_t max) {
    Bytes bytes(random.below(max + 1));
    random.fill(bytes);
    return bytes;
}

Tx random_tx(Random& random) {
    Tx tx;
    for (std::uint64_t i = 0, n = 1 + random.below(4); i < n; ++i) {
        Input input;
        random.fill(input.previous.change.writable());
        input.previous.index = static_cast<std::uint16_t>(random.next());
        input.unlocking = random_bytes(random, 120);
        input.sequence = static_cast<std::uint32_t>(random.next());
        tx.inputs.push_back(std::move(input));
    }
    for (std::uint64_t i = 0, n = random.below(4); i < n; ++i)
        tx.outputs.push_back(
            {.value = std::string{as_text(random_bytes(random, 200))}, .locking = random_bytes(random, 60)});
    tx.lock_time = static_cast<std::uint32_t>(random.next());
    tx.expiry = static_cast<std::uint32_t>(random.next());
    return tx;
}

RC_GTEST_PROP(LedgerProperty, TransactionsSurviveTheirEncoding, (std::uint64_t seed)) {
    Random random{seed};
    const Tx tx = random_tx(random);
    const Bytes bytes = encode(tx);
    RC_ASSERT(bytes.size() == encoded_size(tx));
    const auto decoded = decode_tx(bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == tx);
    // Nothing shorter or longer is a transaction.
    RC_ASSERT(!decode_tx(ByteView{bytes}.first(bytes.size() - 1)).has_value());
    Bytes longer = bytes;
    longer.push_back(0);
    RC_ASSERT(!decode_tx(longer).has_value());
}

RC_GTEST_PROP(LedgerProperty, TheIdLeavesUnlockingScriptsOutAndTheWireIdDoesNot, (std::uint64_t seed)) {
    Random random{seed};
    const Tx tx = random_tx(random);
    Tx other = tx;
    other.inputs[0].unlocking.push_back(0);
    RC_ASSERT(id_of(tx) == id_of(other));
    RC_ASSERT(wire_id_of(tx) != wire_id_of(other));
    Tx bare = tx;
    for (Input& input : bare.inputs) input.unlocking.clear();
    RC_ASSERT(id_of(tx) == crypto::sha256(encode(bare)));
    other = tx;
    other.expiry ^= 1;
    RC_ASSERT(id_of(tx) != id_of(other));
}

RC_GTEST_PROP(LedgerProperty, ACheckedTransactionHasTheIdsOfItsBytes, (std::uint64_t seed)) {
    Random random{seed};
    Tx tx = random_tx(random);
    for (Input& input : tx.inputs) input.unlocking.clear();
    for (std::size_t i = 0; i < tx.outputs.size(); ++i)
        tx.outputs[i].value = random.chance(1, 4) ? "" : document("v1", "Pod", "web", fmt::format("p{}", i));
    tx.inputs[0].unlocking = std::move(script::ScriptBuilder{}.data(random_bytes(random, 70))).take();
    const auto checked = check_tx(tx);
    RC_ASSERT(checked.has_value());
    RC_ASSERT((*checked)->id == id_of(tx));
    RC_ASSERT((*checked)->wire_id == wire_id_of(tx));
    RC_ASSERT((*checked)->bytes == encode(tx).size());
    Writer outputs;
    for (const Output& output : tx.outputs) outputs.blob(as_bytes(output.value)).blob(output.locking);
    RC_ASSERT((*checked)->outputs_hash == crypto::sha256(outputs.view()));
    const auto replay = state::Path::chain({"replay", fmt::format("{:08x}", tx.expiry), id_of(tx).hex()});
    RC_ASSERT(records::replay(tx.expiry, id_of(tx)) == *replay);
    RC_ASSERT(records::replay_expiry(*replay) == tx.expiry);
}

RC_GTEST_PROP(LedgerProperty, BlocksSurviveTheirEncoding, (std::uint64_t seed)) {
    Random random{seed};
    Block block;
    random.fill(block.header.previous.writable());
    random.fill(block.header.merkle_root.writable());
    random.fill(block.header.state_root.writable());
    random.fill(block.header.seal_root.writable());
    block.header.time = Time::from_unix_millis(static_cast<std::int64_t>(random.below(253'402'300'799'999)));
    block.header.height = Height{random.next()};
    block.header.consensus = static_cast<ConsensusId>(random.below(4));
    block.header.bits = static_cast<std::uint32_t>(random.next());
    block.header.nonce = random.next();
    random.fill(block.signature);
    for (std::uint64_t i = 0, n = random.below(5); i < n; ++i) block.txs.push_back(random_tx(random));
    block.seal = {random_bytes(random, 100), random_bytes(random, 300)};
    const Bytes bytes = encode(block);
    RC_ASSERT(bytes.size() == encoded_size(block));
    RC_ASSERT(encode(block.header).size() == kHeaderBytes);
    const auto decoded = decode_block(bytes);
    RC_ASSERT(decoded.has_value());
    RC_ASSERT(*decoded == block);
    RC_ASSERT(!decode_block(ByteView{bytes}.first(bytes.size() - 1)).has_value());
}

/// A cluster with three namespaces and a mixed set of transactions on it, each valid alone.
struct BranchScene {
    TestChain chain;
    std::vector<SharedTx> txs;
};

BranchScene random_scene(Random& random) {
    BranchScene scene;
    TestChain& chain = scene.chain;
    std::vector<SharedTx> setting;
    for (int n = 0; n < 3; ++n)
        setting.push_back(
            chain.create("/", "creator", document("v1", "Namespace", "", fmt::format("ns{}", n)), lock_of("nadia")));
    chain.mine_all(setting);
    setting.clear();
    for (int i = 0; i < 8; ++i)
        setting.push_back(chain.create(fmt::format("/namespaces/ns{}", i % 3), "nadia",
                                       document("v1", "Pod", fmt::format("ns{}", i % 3), fmt::format("old{}", i)),
                                       lock_of("olga")));
    chain.mine_all(setting);
    // No two of these change one thing, but they are not independent: uses and changes of one lock, deletions above
    // changes.
    std::vector<int> old(8);
    for (int i = 0; i < 8; ++i) old[static_cast<std::size_t>(i)] = i;
    random.shuffle(old);
    for (int i = 0; i < 4; ++i) {
        const int which = old[static_cast<std::size_t>(i)];
        const std::string path = fmt::format("/namespaces/ns{}/core/Pod/old{}", which % 3, which);
        if (random.chance(1, 2)) {
            scene.txs.push_back(chain.update(
                path, "olga", document("v1", "Pod", fmt::format("ns{}", which % 3), fmt::format("old{}", which), "new"),
                lock_of("olga")));
        } else {
            Draft deletion;
            chain.version(deletion, path, "olga");
            scene.txs.push_back(chain.sign(deletion));
        }
    }
    for (std::uint64_t i = 0, n = 1 + random.below(8); i < n; ++i) {
        const auto where = random.below(3);
        scene.txs.push_back(chain.create(
            fmt::format("/namespaces/ns{}", where), "nadia",
            document("v1", "ConfigMap", fmt::format("ns{}", where), fmt::format("new{}", i)), lock_of("olga")));
    }
    const auto touched = random.below(3);
    if (random.chance(1, 2)) {
        scene.txs.push_back(chain.update(fmt::format("/namespaces/ns{}", touched), "nadia",
                                         document("v1", "Namespace", "", fmt::format("ns{}", touched), "x"),
                                         lock_of(random.chance(1, 2) ? "nadia" : "new owner")));
    } else {
        Draft deletion;
        chain.version(deletion, fmt::format("/namespaces/ns{}", touched), "nadia");
        scene.txs.push_back(chain.sign(deletion));
    }
    return scene;
}

Block sealed(BlockDraft draft) {
    draft.header.seal_root = seal_root_of({});
    return draft.to_block({});
}

RC_GTEST_PROP(LedgerProperty, AnyPermutationOfASetGivesOneBodyAndOneRoot, (std::uint64_t seed)) {
    Random random{seed};
    BranchScene scene = random_scene(random);
    const BlockDraft first = scene.chain.draft_block(scene.txs);
    RC_ASSERT(first.txs.size() == scene.txs.size());
    random.shuffle(scene.txs);
    const BlockDraft second = scene.chain.draft_block(scene.txs);
    RC_ASSERT(first.header == second.header);
    RC_ASSERT(encode(first.to_block({})) == encode(second.to_block({})));
    RC_ASSERT(scene.chain.apply(first.to_block({})).has_value());
}

/// Deletes what is at `path`.
SharedTx deletion(TestChain& chain, const std::string& path, std::string_view signer) {
    Draft draft;
    chain.version(draft, path, signer);
    return chain.sign(draft);
}

/// Changes on top of changes, as people make them before any is in a block: some of the scene's, then others that rest
/// on what those made. Few names, so that one path is created, changed, deleted and created again.
std::vector<SharedTx> with_children(Random& random, const BranchScene& scene) {
    std::vector<SharedTx> txs = scene.txs;
    TestChain later = scene.chain.fork(scene.chain.blocks().size());
    for (std::uint64_t generation = 0, generations = 2 + random.below(5); generation < generations; ++generation) {
        // Most see all, so that each rests on the one before; others the first few only: what they do may be at odds
        // with the rest.
        const std::size_t seen = random.chance(2, 3) ? txs.size() : 1 + random.below(txs.size());
        later.mine(std::vector<SharedTx>(txs.begin(), txs.begin() + static_cast<std::ptrdiff_t>(seen)), seconds{600});
        const std::string note = fmt::format("generation {}", generation);
        for (int n = 0; n < 3; ++n) {
            const std::string name = fmt::format("ns{}", n);
            const std::string space = "/namespaces/" + name;
            if (later.get(space) == nullptr) {
                if (random.chance(1, 2))
                    txs.push_back(
                        later.create("/", "creator", document("v1", "Namespace", "", name, note), lock_of("nadia")));
                continue;
            }
            const std::string pod = space + "/core/Pod/late";
            if (later.get(pod) == nullptr) {
                if (random.chance(2, 3))
                    txs.push_back(
                        later.create(space, "nadia", document("v1", "Pod", name, "late", note), lock_of("olga")));
            } else if (random.chance(1, 2)) {
                txs.push_back(deletion(later, pod, "olga"));
            } else if (random.chance(1, 2)) {
                txs.push_back(later.update(pod, "olga", document("v1", "Pod", name, "late", note), lock_of("olga")));
            }
            if (random.chance(1, 6))
                txs.push_back(
                    later.update(space, "nadia", document("v1", "Namespace", "", name, note), lock_of("nadia")));
            if (random.chance(1, 12)) txs.push_back(deletion(later, space, "nadia"));
        }
        for (int i = 0; i < 8; ++i) {
            const std::string name = fmt::format("ns{}", i % 3);
            const std::string pod = fmt::format("old{}", i);
            const std::string path = fmt::format("/namespaces/{}/core/Pod/{}", name, pod);
            if (later.get(path) == nullptr || !random.chance(1, 6)) continue;
            txs.push_back(later.update(path, "olga", document("v1", "Pod", name, pod, note), lock_of("olga")));
        }
    }
    return txs;
}

RC_GTEST_PROP(LedgerProperty, ABlockFromThePoolsDecisionsHasAllThatDecidingAgainFindsInTheSameOrder,
              (std::uint64_t seed)) {
    Random random{seed};
    BranchScene scene = random_scene(random);
    TestChain& chain = scene.chain;
    std::vector<SharedTx> txs = with_children(random, scene);
    if (random.chance(1, 4)) random.shuffle(txs);
    PendingPool pool{{}, chain.rules, chain.cache};
    pool.set_tip(chain.state(), chain.next());
    for (const SharedTx& tx : txs) (void)pool.admit(tx, {}, TxClass::Local);
    // Block after block, until all are in: something can always begin.
    while (pool.size() > 0) {
        // The block may come later than the pool thought.
        const NextBlock next = chain.next(seconds{random.chance(1, 2) ? 1 : 600});
        const auto build = [&](const auto& candidates) {
            return build_block(chain.state(), next, candidates, {}, 0, chain.rules, chain.cache, chain.parallel);
        };
        const BlockDraft again = build(pool.best());
        const BlockDraft decided = build(pool.decided());
        RC_ASSERT(!decided.txs.empty());
        // One set has one body. Deciding again, round by round, may miss one that the pool's own order lets in (a
        // change of a change below a namespace that goes in the same block); never the other way round.
        if (decided.txs.size() == again.txs.size()) {
            RC_ASSERT(decided.header == again.header);
            RC_ASSERT(encode(sealed(decided)) == encode(sealed(again)));
        } else {
            RC_ASSERT(decided.txs.size() == pool.size());
        }
        // And the order is the canonical one of what they do in it.
        const Ordering ordering = canonical_order(decided.applied.effects);
        RC_ASSERT(ordering.left_out.empty());
        RC_ASSERT(ordering.order.size() == decided.txs.size());
        RC_ASSERT(std::is_sorted(ordering.order.begin(), ordering.order.end()));
        RC_ASSERT(chain.apply(sealed(decided)).has_value());
        std::vector<TxId> included;
        for (const SharedTx& tx : decided.txs) included.push_back(tx->id);
        pool.set_tip(chain.state(), chain.next(), included);
    }
}

RC_GTEST_PROP(LedgerProperty, AnOrderingHasEveryTransactionOnceHoweverTheSetIsShuffled, (std::uint64_t seed)) {
    Random random{seed};
    BranchScene scene = random_scene(random);
    TestChain& chain = scene.chain;
    PendingPool pool{{}, chain.rules, chain.cache};
    pool.set_tip(chain.state(), chain.next());
    for (const SharedTx& tx : with_children(random, scene)) (void)pool.admit(tx, {}, TxClass::Local);
    std::vector<const Effects*> effects = pool.decided();
    const auto ids = [&](const std::vector<std::size_t>& positions) {
        std::vector<TxId> row;
        for (const std::size_t position : positions) row.push_back(effects[position]->tx->id);
        return row;
    };
    const Ordering first = canonical_order(effects);
    const std::vector<TxId> order = ids(first.order);
    std::vector<std::size_t> all = first.order;
    all.insert(all.end(), first.left_out.begin(), first.left_out.end());
    std::sort(all.begin(), all.end());
    RC_ASSERT(all.size() == effects.size());
    RC_ASSERT(std::adjacent_find(all.begin(), all.end()) == all.end());
    random.shuffle(effects);
    const Ordering second = canonical_order(effects);
    RC_ASSERT(second.left_out.empty() == first.left_out.empty());
    if (first.left_out.empty()) RC_ASSERT(ids(second.order) == order);
}

RC_GTEST_PROP(LedgerProperty, IndependentTransactionsGiveOneRootInAnyOrder, (std::uint64_t seed)) {
    Random random{seed};
    TestChain chain;
    std::vector<SharedTx> txs;
    for (int i = 0; i < 6; ++i)
        txs.push_back(
            chain.create("/", "creator", document("v1", "Namespace", "", fmt::format("n{}", i)), lock_of("nadia")));
    const auto root = [&] {
        const auto applied = execute(chain.state(), chain.next(), txs, {}, chain.rules, chain.cache, chain.parallel);
        RC_ASSERT(applied.has_value());
        return applied->commit.view.root();
    };
    const auto before = root();
    random.shuffle(txs);
    RC_ASSERT(root() == before);
}

RC_GTEST_PROP(LedgerProperty, ApplyingThenUndoingRestoresTheRootAndTheIndex, (std::uint64_t seed)) {
    Random random{seed};
    BranchScene scene = random_scene(random);
    LedgerState state{scene.chain.state().view()};
    const auto root = state.view().root();
    const auto size = state.index().size();
    scene.chain.mine_all(scene.txs);
    const auto& commit = scene.chain.commits().back();
    state.advance(commit);
    RC_ASSERT(state.view().root() == scene.chain.tip().state_root);
    RC_ASSERT(state.step_back(commit.delta).has_value());
    RC_ASSERT(state.view().root() == root);
    RC_ASSERT(state.index().size() == size);
    // And forth again.
    const auto again =
        apply(state, scene.chain.blocks()[scene.chain.blocks().size() - 2].header, scene.chain.blocks().back(), {},
              scene.chain.rules, scene.chain.cache, scene.chain.parallel);
    RC_ASSERT(again.has_value());
}

/// A node that has the tree at some height and the blocks after it decides like one with the whole chain.
RC_GTEST_PROP(LedgerProperty, ATreeAndTheBlocksAfterItDecideLikeTheWholeChain, (std::uint64_t seed)) {
    Random random{seed};
    BranchScene scene = random_scene(random);
    const std::size_t start = 1 + random.below(scene.chain.blocks().size() - 1);
    scene.chain.mine_all(scene.txs);
    scene.chain.mine_all({});
    // What arrives is the entries of the tree, in order, as in a snapshot; nothing else is shared.
    state::OrderedBuilder builder;
    auto cursor = scene.chain.commits()[start].view.walk(state::Prefix::everything());
    while (const state::Entry* entry = cursor.next()) RC_ASSERT(builder.add(state::EntryPtr{entry}));
    LedgerState state{std::move(builder).finish()};
    for (std::size_t i = start + 1; i < scene.chain.blocks().size(); ++i) {
        SignatureCache cache;
        const auto applied = apply(state, scene.chain.blocks()[i - 1].header, scene.chain.blocks()[i], {},
                                   scene.chain.rules, cache, scene.chain.parallel);
        RC_ASSERT(applied.has_value());
        state.advance(applied->commit);
    }
    RC_ASSERT(state.view().root() == scene.chain.tip().state_root);
    for (const auto& tx : scene.txs) {
        const WorkingState mine{state.view(), state.index()};
        const auto next = scene.chain.next();
        const auto verdict = decide(tx, mine, place_of(state, next), scene.chain.rules, scene.chain.cache, 1000);
        RC_ASSERT(scene.chain.verdict(tx) == (verdict ? "OK" : std::string{name(verdict.error().code)}));
    }
}

}  // namespace
}  // namespace rhizome::ledger
