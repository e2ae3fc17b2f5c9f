// SPDX-License-Identifier: Apache-2.0
#include "ledger/block_outputs.h"

#include <gtest/gtest.h>

#include "support/test_chain.h"

namespace rhizome::ledger {
namespace {

TEST(BlockOutputs, AreFoundByTransactionAndIndex) {
    test::TestChain chain;
    chain.mine_all({chain.create("/", "creator", test::document("v1", "Namespace", "", "a")),
                    chain.create("/", "creator", test::document("v1", "Namespace", "", "b"))});
    const Block& block = chain.blocks().back();
    std::vector<TxId> ids;
    for (const Tx& tx : block.txs) ids.push_back(id_of(tx));
    ASSERT_EQ(ids.size(), 2U);
    for (const BlockOutputs& outputs : {BlockOutputs{block, ids}, BlockOutputs{block}}) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            const auto found = outputs.find({ids[i], 0});
            ASSERT_TRUE(found);
            EXPECT_EQ(found->document, block.txs[i].outputs[0].value);
            EXPECT_EQ(to_bytes(found->script), block.txs[i].outputs[0].locking);
            EXPECT_FALSE(outputs.find({ids[i], 1}));
        }
        EXPECT_FALSE(outputs.find({TxId{}, 0}));
    }
}

}  // namespace
}  // namespace rhizome::ledger
