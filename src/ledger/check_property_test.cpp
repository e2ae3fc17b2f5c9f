// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/check.h"
#include "script/script.h"
#include "support/random_tx.h"

namespace rhizome::ledger {
namespace {

/// Mostly pushes, as unlocking scripts must be; now and then anything, or too much.
Bytes random_unlocking(Random& random) {
    if (random.chance(1, 8)) return test::random_bytes(random, 60);
    if (random.chance(1, 20)) return Bytes(20'000, 0);
    script::ScriptBuilder script;
    for (std::uint64_t left = random.below(4); left > 0; --left) script.data(test::random_bytes(random, 80));
    return std::move(script).take();
}

RC_GTEST_PROP(CheckProperty, OtherScriptsAreJudgedAsIfTheTransactionWereNew, (std::uint64_t seed)) {
    Random random{seed};
    Tx tx = test::random_tx(random);
    for (Input& input : tx.inputs) input.unlocking.clear();
    for (std::size_t i = 0; i < tx.outputs.size(); ++i)
        tx.outputs[i].value = fmt::format(
            R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"namespace":"default","name":"m{}"}}}})", i);
    const auto bare = check_tx(tx);
    RC_ASSERT(bare.has_value());

    std::vector<Bytes> scripts;
    for (Input& input : tx.inputs) scripts.push_back(input.unlocking = random_unlocking(random));
    const auto fresh = check_tx(tx);
    const auto changed = with_unlocking(**bare, scripts);
    RC_ASSERT(changed.has_value() == fresh.has_value());
    if (!fresh) {
        RC_ASSERT(changed.error().code == fresh.error().code);
        RC_ASSERT(changed.error().why == fresh.error().why);
        return;
    }
    RC_ASSERT((*changed)->tx == tx);
    RC_ASSERT((*changed)->id == (*fresh)->id);
    RC_ASSERT((*changed)->wire_id == (*fresh)->wire_id);
    RC_ASSERT((*changed)->bytes == (*fresh)->bytes);
    RC_ASSERT((*changed)->outputs.size() == (*fresh)->outputs.size());
    RC_ASSERT((*changed)->outpoints_hash == (*fresh)->outpoints_hash);
    RC_ASSERT((*changed)->sequences_hash == (*fresh)->sequences_hash);
    RC_ASSERT((*changed)->outputs_hash == (*fresh)->outputs_hash);
}

}  // namespace
}  // namespace rhizome::ledger
