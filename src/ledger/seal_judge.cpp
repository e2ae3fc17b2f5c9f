// SPDX-License-Identifier: Apache-2.0
#include "ledger/seal_judge.h"

namespace rhizome::ledger {

Result<Applied, Reject> judge_and_apply(const LedgerState& parent, const Header& parent_header, const Block& block,
                                        const BlockRules& rules, SignatureCache& cache, Parallel& parallel) {
    TRY(const auto consensus, rules.judge.judge(parent, parent_header, block));
    return apply(parent, parent_header, block, consensus, rules.rules, cache, parallel);
}

}  // namespace rhizome::ledger
