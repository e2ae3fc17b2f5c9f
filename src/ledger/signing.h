// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "crypto/keys.h"
#include "ledger/apply.h"
#include "ledger/check.h"
#include "ledger/signature_cache.h"
#include "state/document.h"

/// Filling in a draft's unlocking scripts, one signature after the other: what each input is for, who can sign it, what
/// is still missing. For tools and wallets; whether the result is good, `decide` says.
namespace rhizome::ledger {

enum class InputRole : unsigned char {
    Unknown,      ///< it names nothing current
    Consumed,     ///< the version that is replaced or deleted, decided by its own lock
    VersionOnly,  ///< the version, with an ancestor's authority beside it: its script stays empty
    Authority,    ///< the lock of an ancestor
};
std::string_view name(InputRole role);

/// What one input of a transaction is for, in a given state.
struct InputUse {
    InputRole role = InputRole::Unknown;
    const state::Entry* of = nullptr;  ///< the resource it names; lives as long as the state. Null when unknown
    Bytes lock{};                      ///< the script to be opened
    SpentValue spent = SpentValue::of_authority();
};

/// One for each input. Follows the rules of `decide` as far as they do not depend on what the scripts say.
std::vector<InputUse> uses_of_inputs(const CheckedTx& tx, const LedgerState& state);

/// How far an input's unlocking script is.
struct InputProgress {
    bool complete = false;
    /// What is missing, in words: `1 more of 02ab…, 03cd…`; empty when complete.
    std::string missing{};
    std::size_t signatures = 0;  ///< good ones in the script
    std::size_t unfitting = 0;   ///< signatures that fit no key of the lock, or the transaction any more
    bool signed_now = false;     ///< this call added one
    /// That one, as caches name it: whoever has just made it knows that it is good.
    std::optional<SignatureCache::Key> made{};
    Bytes unlocking{};  ///< the script, with as many signatures as there are
};

/// Someone who signs. Borrows the secret.
struct Signer {
    const crypto::SecretKey& secret;
    crypto::PublicKey key;
};

/// Whether the key's signature can help to open a lock. False for locks of no known form.
bool can_help(const crypto::PublicKey& key, ByteView lock, const state::StateView& view);
inline bool can_help(const crypto::PublicKey& key, ByteView lock, const LedgerState& state) {
    return can_help(key, lock, state.view());
}

/// The script of input `index` with the signatures it has, in the order that its lock wants, and with the signer's when
/// there is one who can help. Of a lock with several ways the one is taken that is open, else the one that most
/// have signed for and whose times fit; signatures for another are dropped. A lock of no known form keeps its script;
/// so does one that is complete already.
InputProgress advance(const CheckedTx& tx, std::size_t index, const InputUse& use, const ChainId& chain,
                      const LedgerState& state, const Signer* signer);
/// The same from another script than the transaction has, for whoever signs with one key after the other.
InputProgress advance(const CheckedTx& tx, std::size_t index, Bytes unlocking, const InputUse& use,
                      const ChainId& chain, const LedgerState& state, const Signer* signer);

}  // namespace rhizome::ledger
