// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ledger/check.h"
#include "ledger/could_open.h"
#include "ledger/signing.h"
#include "node/keystore.h"
#include "state/view.h"

/// Signing a draft with all that some keys can give, for whoever has keys: a node's keystore, a person's proxy.
namespace rhizome::node {

struct NamedKey {
    std::string name;
    crypto::SecretKey secret;
    crypto::PublicKey key;
};
using NamedKeys = std::vector<std::shared_ptr<const NamedKey>>;

/// Whether an input needs a script that opens its lock; a version that only goes along says nothing.
bool is_opened(const ledger::InputUse& use);

/// How far these keys bring the script of one input. What they sign is put into `made`, which may be null.
ledger::InputProgress advance_with(const NamedKeys& keys, const ledger::CheckedTx& tx, std::size_t input,
                                   const ledger::InputUse& use, const ledger::ChainId& chain,
                                   const ledger::LedgerState& state, ledger::SignatureCache* made);

/// The draft as it may be signed for the block `next` where locks have waited long enough: saying of each the longest
/// wait that is over by then. A transaction counts blocks or time, not both: where locks wait by both there is one for
/// each. None where no wait is over.
std::vector<ledger::Tx> drafts_that_waited(const ledger::Tx& draft, const std::vector<ledger::InputUse>& uses,
                                           const ledger::Moment& next);

struct SignedSoFar {
    ledger::Tx tx{};
    bool complete = false;
    std::size_t signatures = 0;
    std::string closed{};   ///< whose lock is not open: ` of /namespaces/web`
    std::string missing{};  ///< what it wants
};
/// Where a lock opens with fewer signatures once a time has come, and it has, the draft is made to say that it waited.
Result<SignedSoFar> sign_with_keys(const ledger::Tx& draft, const NamedKeys& keys, const ledger::ChainId& chain,
                                   const state::StateView& view, Time now);

/// A lock from the template language; names are those of the keystore.
Result<Bytes> compile_lock_with(const Keystore& store, std::string_view text);

}  // namespace rhizome::node
