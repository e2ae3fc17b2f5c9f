// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/block_json.h"
#include "ledger/codec.h"
#include "support/random_tx.h"

namespace rhizome::ledger {
namespace {

RC_GTEST_PROP(BlockJsonProperty, EveryBlockSurvivesItsForm, (std::uint64_t seed)) {
    Random random{seed};
    const Block block = test::random_block(random);
    const auto compact = block_from_json(json::print(to_json(block)));
    RC_ASSERT(compact.has_value());
    RC_ASSERT(*compact == block);
    RC_ASSERT(encode(*compact) == encode(block));
    const auto pretty = block_from_json(json::print_pretty(to_json(block)));
    RC_ASSERT(pretty.has_value());
    RC_ASSERT(*pretty == block);
}

}  // namespace
}  // namespace rhizome::ledger
