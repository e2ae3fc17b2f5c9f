// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "ledger/json_form.h"
#include "support/random_tx.h"

namespace rhizome::ledger {
namespace {

RC_GTEST_PROP(TxJsonProperty, EveryTransactionSurvivesItsForm, (std::uint64_t seed)) {
    Random random{seed};
    const Tx tx = test::random_tx(random);
    const auto compact = tx_from_json(json::print(to_json(tx)));
    RC_ASSERT(compact.has_value());
    RC_ASSERT(*compact == tx);
    const auto pretty = tx_from_json(json::print_pretty(to_json(tx)));
    RC_ASSERT(pretty.has_value());
    RC_ASSERT(*pretty == tx);
}

}  // namespace
}  // namespace rhizome::ledger
