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

/// What was found out about blocks before, by whoever shares this process: what a block does follows from its hash
/// alone. The simulator's nodes share one, so that hundreds of them judge a block once. Keeps good ones only.
class AppliedMemory {
public:
    virtual ~AppliedMemory() = default;
    /// Null when it is not known. Good until the next call.
    [[nodiscard]] virtual const Applied* find(const BlockHash& block) = 0;
    virtual void keep(const BlockHash& block, const Applied& applied) = 0;
};

/// All that decides whether a block is good, handed around together. Borrows all.
struct BlockRules {
    const Rules& rules;
    const SealJudge& judge;
    AppliedMemory* memory = nullptr;
};

/// `judge`, then `apply`; or what the memory has of it.
Result<Applied, Reject> judge_and_apply(const LedgerState& parent, const Header& parent_header, const Block& block,
                                        const BlockRules& rules, SignatureCache& cache, Parallel& parallel,
                                        const BodyAhead* ahead = nullptr);

}  // namespace rhizome::ledger
