// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "ledger/json_form.h"
#include "support/json_values.h"

namespace rhizome::ledger {
namespace {

Bytes random_bytes(Random& random, std::size_t max) {
    Bytes bytes(random.below(max + 1));
    random.fill(bytes);
    return bytes;
}

std::string random_document(Random& random) {
    switch (random.below(5)) {
        case 0: return {};
        case 1: return std::string{as_text(random_bytes(random, 40))};
        case 2: return json::print_pretty(json::Object{{"a", test::random_json(random)}});
        default: return json::print(json::Object{{"a", test::random_json(random)}});
    }
}

RC_GTEST_PROP(TxJsonProperty, EveryTransactionSurvivesItsForm, (std::uint64_t seed)) {
    Random random{seed};
    Tx tx;
    for (std::uint64_t i = 0, n = 1 + random.below(3); i < n; ++i) {
        Input input;
        random.fill(input.previous.change.writable());
        input.previous.index = static_cast<std::uint16_t>(random.next());
        input.unlocking = random_bytes(random, 60);
        input.sequence = static_cast<std::uint32_t>(random.next());
        tx.inputs.push_back(std::move(input));
    }
    for (std::uint64_t i = 0, n = random.below(4); i < n; ++i)
        tx.outputs.push_back({.value = random_document(random), .locking = random_bytes(random, 60)});
    tx.lock_time = static_cast<std::uint32_t>(random.next());
    tx.expiry = static_cast<std::uint32_t>(random.next());
    const auto compact = tx_from_json(json::print(to_json(tx)));
    RC_ASSERT(compact.has_value());
    RC_ASSERT(*compact == tx);
    const auto pretty = tx_from_json(json::print_pretty(to_json(tx)));
    RC_ASSERT(pretty.has_value());
    RC_ASSERT(*pretty == tx);
}

}  // namespace
}  // namespace rhizome::ledger
