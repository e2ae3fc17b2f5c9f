// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ledger/seal_judge.h"

namespace rhizome::test {

/// Takes every seal: for what is below consensus.
class AnySeal final : public ledger::SealJudge {
public:
    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> judge(const ledger::LedgerState&, const ledger::Header&,
                                                                      const ledger::Block&) const override {
        return ledger::ConsensusPart{};
    }
    [[nodiscard]] Result<ledger::ConsensusPart, ledger::Reject> judge_genesis(const ledger::Block&) const override {
        return ledger::ConsensusPart{};
    }
};

}  // namespace rhizome::test
