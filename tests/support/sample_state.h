// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/state_export.h"
#include "support/test_chain.h"

/// The small cluster of tests/vectors/ledger/state.json, for tests and examples: a namespace of alice's, one that two
/// of alice, bob and carol decide about together, and a pod of bob's. Keys are those of `key_of`.
namespace rhizome::test {

inline void fill_sample(TestChain& chain) {
    chain.mine_all({chain.create("/", "creator", document("v1", "Namespace", "", "web"), lock_of("alice")),
                    chain.create("/", "creator", document("v1", "Namespace", "", "team"),
                                 lock_of_any(2, {"alice", "bob", "carol"}))});
    chain.mine_all(
        {chain.create("/namespaces/web", "alice", document("v1", "Pod", "web", "db", "first"), lock_of("bob"))});
}

inline ledger::ExportedState exported(const TestChain& chain) {
    return {.chain = chain.chain_id(),
            .height = chain.tip().height,
            .time = chain.tip().time,
            .tip = hash_of(chain.tip()),
            .view = chain.state().view()};
}

}  // namespace rhizome::test
