// SPDX-License-Identifier: Apache-2.0
#include "ledger/seal_judge.h"

namespace rhizome::ledger {

Result<Applied, Reject> judge_and_apply(const LedgerState& parent, const Header& parent_header, const Block& block,
                                        const BlockRules& rules, SignatureCache& cache, Parallel& parallel,
                                        const BodyAhead* ahead) {
    const BlockHash hash = hash_of(block.header);
    if (rules.memory != nullptr) {
        // The header does not commit to the signature: a copy with another one is another block to whoever relays it.
        const Applied* known = rules.memory->find(hash);
        if (known != nullptr && known->commit.delta.root_before() == parent.view().root()) return *known;
    }
    TRY(const auto consensus, rules.judge.judge(parent, parent_header, block));
    TRY(auto applied, apply(parent, parent_header, block, consensus, rules.rules, cache, parallel, ahead));
    if (rules.memory != nullptr) rules.memory->keep(hash, applied);
    return applied;
}

}  // namespace rhizome::ledger
