// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/apply.h"

namespace rhizome::ledger {

/// What consensus says of a seal, for everybody who applies blocks: declared here, implemented by consensus. Pure: the
/// same answer for the same parent and block on every machine.
class SealJudge {
public:
    virtual ~SealJudge() = default;

    /// Whether `block` was sealed by somebody who could on top of `parent`, and what follows for the state.
    [[nodiscard]] virtual Result<ConsensusPart, Reject> judge(const LedgerState& parent, const Header& parent_header,
                                                              const Block& block) const = 0;
    /// The same for a genesis block, which has no parent to be judged by.
    [[nodiscard]] virtual Result<ConsensusPart, Reject> judge_genesis(const Block& block) const = 0;
};

/// All that decides whether a block is good, handed around together. Borrows both.
struct BlockRules {
    const Rules& rules;
    const SealJudge& judge;
};

/// `judge`, then `apply`.
Result<Applied, Reject> judge_and_apply(const LedgerState& parent, const Header& parent_header, const Block& block,
                                        const BlockRules& rules, SignatureCache& cache, Parallel& parallel);

}  // namespace rhizome::ledger
