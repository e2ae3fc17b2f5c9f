// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/ensure.h"
#include "consensus/judge.h"
#include "ledger/draft.h"
#include "ledger/json_form.h"
#include "ledger/signing.h"
#include "node/founding.h"
#include "node/host.h"
#include "node/identity.h"
#include "runtime/clock.h"

/// A cluster of one machine in a folder, and orders for it: for tests and benchmarks of a whole node.
namespace rhizome::test {

/// Makes the machine's keys and a chain of two blocks; `owner` decides about everything.
inline void found_node(const std::filesystem::path& folder, const crypto::SecretKey& owner) {
    const auto identity = node::make_identity(folder);
    ensure(identity.has_value(), "a machine has keys");
    const ledger::Rules rules;
    Inline parallel;
    const auto founded = node::found_cluster({.cluster = "demo",
                                              .spec = {},
                                              .node = "n1",
                                              .now = runtime::now() - seconds{10},
                                              .owner = owner,
                                              .node_keys = identity->keys},
                                             rules, parallel);
    ensure(founded.has_value(), "a cluster is founded");
    const consensus::CurveSignatures signatures;
    const consensus::Judge judge{signatures};
    auto chain = store::Chain::create(folder, founded->genesis, {rules, judge}, parallel);
    ensure(chain.has_value() && (*chain)->add_made(founded->first, founded->first_applied).has_value() &&
               (*chain)->store().mark_final(hash_of((*chain)->tip())).has_value() && (*chain)->close().has_value(),
           "its chain is on the disk");
}

inline ledger::Tx sign_tx(const node::NodeView& view, const crypto::SecretKey& owner, ledger::Tx tx) {
    const ledger::LedgerState state{view.state};
    const auto draft = ledger::check_tx(tx);
    ensure(draft.has_value(), "a draft is well formed");
    const auto uses = ledger::uses_of_inputs(**draft, state);
    const ledger::Signer signer{owner, owner.public_key()};
    for (std::size_t i = 0; i < uses.size(); ++i)
        tx.inputs[i].unlocking = ledger::advance(**draft, i, uses[i], view.chain, state, &signer).unlocking;
    return tx;
}

/// A signed transaction that makes a Namespace.
inline ledger::Tx make_namespace_tx(const node::NodeView& view, const crypto::SecretKey& owner, std::string_view name) {
    ledger::DraftWish wish{.now = runtime::now()};
    wish.changes.push_back(
        {.document = fmt::format(R"({{"apiVersion":"v1","kind":"Namespace","metadata":{{"name":"{}"}}}})", name)});
    auto draft = ledger::make_draft(wish, view.state);
    ensure(draft.has_value(), "a draft is made");
    return sign_tx(view, owner, *std::move(draft));
}

}  // namespace rhizome::test
