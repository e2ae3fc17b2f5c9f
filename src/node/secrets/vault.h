// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "api/io/vault.h"
#include "node/secrets/key_keeper.h"

namespace rhizome::node {

/// Opens Secrets for whoever shows keys: those of a document, of its namespace or of the Cluster must open the lock at
/// this moment (ledger/could_open.h). What was found out about an ancestor is kept for one request: a list of thousands
/// asks each lock once. Not for several threads at once.
class SecretOpener {
public:
    /// `who` is for sentences: `User "bob"`.
    SecretOpener(KeyKeeper& keeper, std::vector<crypto::PublicKey::Array> keys, std::string who);
    /// Everything may be opened: whoever asks on the machine's own socket could read its seed as well.
    static SecretOpener for_machine(KeyKeeper& keeper);

    /// The Secret in clear.
    Result<json::Value, api::Withheld> open(const state::Entry& secret);

private:
    bool may_read(const state::Entry& secret);
    bool opens(const state::Path& ancestor);

    KeyKeeper& keeper_;
    std::shared_ptr<const NodeView> view_;
    std::vector<crypto::PublicKey::Array> keys_;
    std::string who_;
    ledger::Height height_{};
    Time time_{};
    bool all_ = false;
    std::map<state::Path, bool> asked_;
};

/// A Secret for the chain, sealed to the key for writing; waits for a new one where that is needed.
stream::Task<Result<json::Value>> seal_with(KeyKeeper& keeper, json::Value secret);

/// The Secrets of a node's Kubernetes API.
class HostVault final : public api::Vault {
public:
    using KeysOf = std::function<std::vector<crypto::PublicKey::Array>(const api::User& user)>;
    /// `keys_of`: which keys a user signs with here. `keeper` outlives it.
    HostVault(KeyKeeper& keeper, KeysOf keys_of) : keeper_(keeper), keys_of_(std::move(keys_of)) {}

    [[nodiscard]] bool keeps(const cluster::Kind& kind) const override;
    stream::Task<std::vector<Result<api::Standing, api::Withheld>>> open(std::vector<api::Standing> all,
                                                                         api::User user) override;
    stream::Task<Result<json::Value>> seal(json::Value object) override;

private:
    KeyKeeper& keeper_;
    KeysOf keys_of_;
};

/// `standing` with this document in place of its own: what verbs see of a Secret.
Result<api::Standing, api::Withheld> with_document(const api::Standing& standing, const json::Value& document);
bool is_secret(const cluster::Kind& kind);

}  // namespace rhizome::node
