// SPDX-License-Identifier: Apache-2.0
#include "ledger/block_row.h"

#include <algorithm>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "support/any_seal.h"
#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

using test::document;
using test::lock_of;
using test::TestChain;

/// Does pieces of uneven sizes, last first, and all of them before what runs beside them: as other cores might.
class Hasty final : public Parallel {
public:
    [[nodiscard]] unsigned width() const override { return 3; }
    void for_ranges(std::size_t count, const std::function<void(std::size_t, std::size_t)>& piece) override {
        for (std::size_t end = count; end > 0;) {
            const std::size_t begin = end - std::min<std::size_t>(end, 1 + end % 3);
            piece(begin, end);
            end = begin;
        }
    }
    void beside(const std::function<void()>& first, std::size_t count,
                const std::function<void(std::size_t, std::size_t)>& piece) override {
        for_ranges(count, piece);
        first();
    }
};

/// Blocks whose transactions use what the block before them made: namespaces and their locks, pods and their versions.
TestChain random_chain(Random& random) {
    TestChain chain;
    const char* const people[] = {"nadia", "olga", "pavel"};
    std::vector<std::string> owner_of(3);
    std::vector<std::string> pods;
    for (std::uint64_t height = 0, blocks = 2 + random.below(6); height < blocks; ++height) {
        std::vector<SharedTx> txs;
        for (std::size_t n = 0; n < owner_of.size(); ++n) {
            const std::string name = fmt::format("ns{}", n);
            const std::string path = "/namespaces/" + name;
            const std::string someone = people[random.below(3)];
            if (owner_of[n].empty()) {
                if (height > 0 && random.chance(1, 2)) continue;
                txs.push_back(chain.create("/", "creator", document("v1", "Namespace", "", name), lock_of(someone)));
                owner_of[n] = someone;
            } else if (random.chance(1, 3)) {  // the lock changes hands: who comes in the next block needs the new one
                txs.push_back(
                    chain.update(path, owner_of[n], document("v1", "Namespace", "", name, someone), lock_of(someone)));
                owner_of[n] = someone;
            } else {
                for (std::uint64_t i = random.below(3); i > 0; --i) {
                    const std::string pod = fmt::format("pod{}", pods.size());
                    txs.push_back(chain.create(path, owner_of[n], document("v1", "Pod", name, pod), lock_of("olga")));
                    pods.push_back(path + "/core/Pod/" + pod);
                }
            }
        }
        for (const std::string& path : pods) {
            if (chain.get(path) == nullptr || !random.chance(1, 3)) continue;
            const auto parsed = *state::Path::parse(path);
            txs.push_back(chain.update(
                path, "olga",
                document("v1", "Pod", parsed.namespace_name(), parsed.name(), fmt::format("at {}", height)),
                lock_of("olga")));
        }
        // Far apart, so that no cooldown is in the way.
        chain.mine_all(txs, seconds{600});
    }
    return chain;
}

/// Makes one block wrong in a way of its own. The headers behind it keep their parents: it is the body that is wrong.
void spoil(Random& random, std::vector<Block>& blocks) {
    Block& block = blocks[random.below(blocks.size())];
    Tx* const tx = block.txs.empty() ? nullptr : &block.txs[random.below(block.txs.size())];
    switch (random.below(6)) {
        case 0: block.header.state_root.writable()[0] ^= 1; break;
        case 1: block.header.merkle_root.writable()[0] ^= 1; break;
        case 2:
            if (tx != nullptr) tx->inputs[0].unlocking.back() ^= 1;
            break;
        case 3:
            if (tx != nullptr && !tx->inputs[0].unlocking.empty()) tx->inputs[0].unlocking[10] ^= 1;
            break;
        case 4:
            if (tx != nullptr) tx->outputs[0].value += "x";
            break;
        case 5: block.header.height = block.header.height + 1; break;
        default: break;
    }
    // Where only a transaction is wrong, the Merkle root need not be what says so.
    if (random.chance(1, 2)) {
        std::vector<WireId> ids;
        for (const Tx& each : block.txs) ids.push_back(wire_id_of(each));
        block.header.merkle_root = merkle_root_of(ids);
    }
}

/// The root after every block that was good, then what was wrong with the one that was not.
struct Story {
    std::vector<crypto::Hash256> roots;
    std::string refusal;
    std::size_t signatures = 0;
};

std::string told(const Reject& reject) {
    return fmt::format("{} {} {} {}", name(reject.code), reject.why, reject.transaction.value_or(9999),
                       reject.script_error);
}

Story one_by_one(const state::StateView& start, Header at, const std::vector<Block>& blocks, const BlockRules& rules) {
    LedgerState state{start};
    SignatureCache cache;
    Inline alone;
    Story story;
    for (const Block& block : blocks) {
        const auto applied = judge_and_apply(state, at, block, rules, cache, alone);
        if (!applied) {
            story.refusal = told(applied.error());
            break;
        }
        state.advance(applied->commit);
        at = block.header;
        story.roots.push_back(state.view().root());
        story.signatures = cache.size();
    }
    return story;
}

Story in_a_row(const state::StateView& start, Header at, const std::vector<Block>& blocks, const BlockRules& rules,
               Parallel& parallel, std::size_t depth) {
    LedgerState state{start};
    SignatureCache cache;
    BlockRow row{rules, cache, parallel};
    Story story;
    for (std::size_t next = 0; story.refusal.empty() && (next < blocks.size() || !row.empty());) {
        while (next < blocks.size() && row.size() < depth) row.push_borrowed(blocks[next++]);
        row.step(state, at, [&](const Block& block, const Result<Applied, Reject>& applied) {
            if (!applied) {
                story.refusal = told(applied.error());
                return;
            }
            state.advance(applied->commit);
            at = block.header;
            story.roots.push_back(state.view().root());
        });
    }
    story.signatures = cache.size();
    return story;
}

RC_GTEST_PROP(BlockRowProperty, SaysOfEveryBlockWhatIsSaidOfItAlone, (std::uint64_t seed)) {
    Random random{seed};
    const TestChain chain = random_chain(random);
    const test::AnySeal judge;
    const BlockRules rules{.rules = chain.rules, .judge = judge};
    const Header genesis = chain.blocks().front().header;
    std::vector<Block> blocks(chain.blocks().begin() + 1, chain.blocks().end());
    const bool spoilt = random.chance(2, 3);
    if (spoilt) spoil(random, blocks);
    const auto& start = chain.commits().front().view;
    const Story expected = one_by_one(start, genesis, blocks, rules);
    RC_ASSERT(spoilt || expected.roots.size() == blocks.size());
    Inline alone;
    Hasty hasty;
    for (Parallel* parallel : {static_cast<Parallel*>(&alone), static_cast<Parallel*>(&hasty)})
        for (const std::size_t depth : {std::size_t{1}, std::size_t{2}, BlockRow::kDepth, std::size_t{5}}) {
            const Story story = in_a_row(start, genesis, blocks, rules, *parallel, depth);
            RC_ASSERT(story.roots == expected.roots);
            RC_ASSERT(story.refusal == expected.refusal);
            // Of good blocks, the same signatures are known afterwards: none was taken for good that is not.
            if (expected.refusal.empty()) RC_ASSERT(story.signatures == expected.signatures);
        }
}

}  // namespace
}  // namespace rhizome::ledger
