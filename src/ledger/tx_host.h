// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "crypto/keys.h"
#include "ledger/check.h"
#include "ledger/signature_cache.h"
#include "ledger/validator.h"
#include "script/host.h"
#include "state/view.h"

namespace rhizome::ledger {

/// Answers a script's questions about one input of one transaction. Borrows everything it is given.
///
/// Good signatures are looked up in `cache` and collected in `found`, which the caller puts into the cache afterwards:
/// so that several threads may run scripts with one cache that nobody writes.
class TxHost final : public script::Host {
public:
    TxHost(const CheckedTx& tx, std::size_t input, const SpentValue& spent, const Place& place,
           const state::StateView& parent, const SignatureCache& cache, std::vector<SignatureCache::Key>& found,
           crypto::RecentKeys* keys = nullptr)
        : tx_(tx),
          input_(input),
          spent_(spent),
          place_(place),
          parent_(parent),
          cache_(cache),
          found_(found),
          keys_(keys) {}

    [[nodiscard]] bool check_signature(const script::SignatureQuestion& question) const override;
    [[nodiscard]] bool check_lock_time(std::int64_t operand) const override;
    [[nodiscard]] bool check_sequence(std::int64_t operand) const override;
    [[nodiscard]] bool check_expiry(std::int64_t operand) const override;
    [[nodiscard]] bool is_member(ByteView key) const override;

private:
    const CheckedTx& tx_;
    std::size_t input_;
    SpentValue spent_;
    const Place& place_;
    const state::StateView& parent_;
    const SignatureCache& cache_;
    std::vector<SignatureCache::Key>& found_;
    crypto::RecentKeys* keys_;  ///< may be null: worth having for whoever verifies many
};

}  // namespace rhizome::ledger
