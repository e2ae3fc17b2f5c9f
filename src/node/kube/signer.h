// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "api/io/backend.h"
#include "node/keystore.h"
#include "node/kube/key_signing.h"

namespace rhizome::node {

/// Signs for users of the Kubernetes API with the keys of this machine's keystore: a user with the key of the same
/// name, the group `system:masters` with every key there (the cluster's own among them, where this machine has it).
/// Encrypted keys are passed over: nobody is there to type a passphrase. Whom another machine vouches for signs with
/// none.
///
/// Where a lock waits (`after …`), the transaction says that it has waited, provided that it has by now.
class KeystoreSigner final : public api::Signer {
public:
    /// `next`: the block that would carry a transaction signed now.
    KeystoreSigner(Keystore keys, ledger::ChainId chain, std::function<ledger::Moment()> next)
        : store_(std::move(keys)), chain_(chain), next_(std::move(next)) {}

    Result<ledger::SharedTx> sign(const ledger::Tx& draft, const api::User& user,
                                  const state::StateView& view) override;
    Result<Bytes> compile_lock(std::string_view text) override { return compile_lock_with(store_, text); }
    /// What a user signs with here.
    std::vector<crypto::PublicKey::Array> keys_of(const api::User& user);
    std::string explain_lock(ByteView lock) override;

private:
    /// The usable keys of the folder, read again when the last reading is older than a second.
    NamedKeys keys();
    NamedKeys usable_by(const api::User& user);
    /// The part of the state that signing a draft needs: the last one again when all it was made of is the same, as
    /// with most drafts for one namespace.
    std::shared_ptr<const ledger::LedgerState> state_for(const ledger::CheckedTx& draft, const state::StateView& view);
    /// The input's script by some of the keys, in the block `next`; Denied with what is missing.
    struct Attempt;
    Result<Bytes> open(const Attempt& attempt, const NamedKeys& keys) const;
    /// The draft as it is, each lock opened by some of the keys.
    [[nodiscard]] Result<ledger::SharedTx> sign_one(const ledger::CheckedTx& tx,
                                                    const std::vector<ledger::InputUse>& uses, const api::User& user,
                                                    const NamedKeys& usable, const ledger::LedgerState& state,
                                                    const ledger::Moment& next) const;

    Keystore store_;
    ledger::ChainId chain_;
    std::function<ledger::Moment()> next_;
    std::mutex mutex_;
    NamedKeys read_{};
    Time read_at_{};
    std::size_t encrypted_ = 0;
    std::vector<state::EntryPtr> last_entries_{};
    std::shared_ptr<const ledger::LedgerState> last_state_{};
};

}  // namespace rhizome::node
