// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/io/backend.h"
#include "crypto/ed25519.h"
#include "node/gossip.h"
#include "node/host.h"
#include "node/kube/member_authorities.h"
#include "node/kube/signer.h"
#include "node/refusal_journal.h"
#include "node/secrets/vault.h"

namespace rhizome::node {

/// The node behind its own Kubernetes API. `host`, `gossip` and `keeper` outlive it.
class HostBackend final : public api::Backend {
public:
    /// What this machine speaks for itself with: `transport` signs tokens, `authority` gives certificates.
    struct Own {
        crypto::Ed25519Secret transport;
        stream::Identity authority;
    };
    /// `refusals` may be null; else it outlives this one as well. `first`: where its
    /// numbers begin; `window`: how far watchers may be behind.
    HostBackend(Host& host, Gossip& gossip, KeyKeeper& keeper, RefusalJournal* refusals, Keystore keys, Own own,
                api::Revision first, api::Revisions::Limits window = {});
    /// Where its numbers begin by the clock alone.
    static api::Revision first_by_clock(const Host& host, Time started);

    api::Live& live() override { return *live_; }
    api::Signer& signer() override { return signer_; }
    api::HeardOf heard_of() override;
    api::Vault* vault() override { return &vault_; }
    std::uint64_t submit(ledger::SharedTx tx, std::function<void(const api::Progress&)> told) override;
    void forget(std::uint64_t client) override;
    state::Height final_height() override { return host_.view()->final_height; }
    std::vector<api::HealthCheck> health() override;
    std::string metrics() override;
    Time now() override;
    void fill_with_entropy(std::span<std::uint8_t> out) override;
    Machines machines() override;
    std::string chain_text() override { return host_.view()->chain.hex(); }
    Result<std::string> token_key_id() override;
    Bytes sign_token(ByteView text) override;
    std::optional<std::array<std::uint8_t, 32>> token_key(std::string_view key_id) override;
    std::optional<std::string> voucher_of(const stream::Certificate& shown) override;
    [[nodiscard]] const stream::Certificate& authority() const { return own_.authority.chain.front(); }
    Result<std::string> issue_certificate(const stream::CertificateRequest& request,
                                          const CertificateWish& wish) override;

private:
    Host& host_;
    Gossip& gossip_;
    std::shared_ptr<api::Live> live_;  ///< the host's callbacks hold it: one may be under way when this one goes
    KeystoreSigner signer_;
    HostVault vault_;
    RefusalJournal* refusals_;
    Own own_;
    MemberAuthorities vouching_;
    std::shared_ptr<void> watching_{};
    std::shared_ptr<void> shown_{};
};

}  // namespace rhizome::node
