// SPDX-License-Identifier: Apache-2.0
#include "node/kube/signer.h"

#include <fmt/core.h>

#include "ledger/tx_host.h"
#include "node/judging.h"
#include "runtime/clock.h"
#include "script/explain.h"
#include "script/interpreter.h"

namespace rhizome::node {

NamedKeys KeystoreSigner::keys() {
    const std::lock_guard hold{mutex_};
    const Time now = runtime::now();
    if (!read_.empty() && now >= read_at_ && now - read_at_ < seconds{1}) return read_;
    read_.clear();
    encrypted_ = 0;
    read_at_ = now;
    const auto entries = store_.list();
    if (!entries) return read_;
    for (const Keystore::Entry& entry : *entries) {
        if (!entry.info) continue;
        auto loaded = store_.load(entry.name, std::nullopt);
        if (!loaded) {
            ++encrypted_;
            continue;
        }
        auto known =
            std::make_shared<NamedKey>(NamedKey{entry.name, std::move(loaded->secret), loaded->info.public_key});
        read_.push_back(std::move(known));
    }
    return read_;
}

NamedKeys KeystoreSigner::usable_by(const api::User& user) {
    // Another machine's word is enough to know somebody by, never to sign as him: any machine of the cluster could
    // speak for the owner then.
    if (!user.vouched_by.empty()) return {};
    NamedKeys usable = keys();
    if (!user.is_in(api::kMasters)) std::erase_if(usable, [&](const auto& one) { return one->name != user.name; });
    return usable;
}

std::shared_ptr<const ledger::LedgerState> KeystoreSigner::state_for(const ledger::CheckedTx& draft,
                                                                     const state::StateView& view) {
    auto entries = entries_for_draft(draft, view);
    {
        const std::lock_guard hold{mutex_};
        if (last_state_ && entries == last_entries_) return last_state_;
    }
    auto made = std::make_shared<const ledger::LedgerState>(view_of(entries));
    const std::lock_guard hold{mutex_};
    last_entries_ = std::move(entries);
    last_state_ = made;
    return made;
}

std::vector<crypto::PublicKey::Array> KeystoreSigner::keys_of(const api::User& user) {
    std::vector<crypto::PublicKey::Array> all;
    for (const auto& one : usable_by(user)) all.push_back(one->key.bytes());
    return all;
}

struct KeystoreSigner::Attempt {
    const ledger::CheckedTx& tx;
    std::size_t input = 0;
    const ledger::InputUse& use;
    const ledger::LedgerState& state;
    const ledger::Moment& next;
};

Result<Bytes> KeystoreSigner::open(const Attempt& attempt, const NamedKeys& keys) const {
    const auto [tx, i, use, state, next] = attempt;
    ledger::SignatureCache made;
    auto progress = advance_with(keys, tx, i, use, chain_, state, &made);
    if (!progress.complete) return fail(ErrorKind::Denied, progress.missing);
    if (use.role == ledger::InputRole::VersionOnly) return progress.unlocking;
    // Signatures are one half: what the lock says of the time, its script is asked as the block will ask it. Those made
    // just now are verified by whoever puts the transaction into a block, not here as well.
    const ledger::Place place{
        .chain = chain_, .height = next.height, .time = next.time, .parameters = &state.parameters()};
    std::vector<ledger::SignatureCache::Key> found;
    const ledger::TxHost host{tx, i, use.spent, place, state.view(), made, found};
    const auto verdict = script::verify(progress.unlocking, use.lock, host);
    if (!verdict.ok()) return fail(ErrorKind::Denied, std::string{script::explain(verdict.error)});
    return progress.unlocking;
}

Result<ledger::SharedTx> KeystoreSigner::sign(const ledger::Tx& draft, const api::User& user,
                                              const state::StateView& view) {
    const NamedKeys usable = usable_by(user);
    TRY(const auto checked, ledger::check_tx(draft));
    const auto state = state_for(*checked, view);
    const auto uses = ledger::uses_of_inputs(*checked, *state);
    const ledger::Moment next = next_();
    std::vector<ledger::SharedTx> ways;
    // All that waits is said first: signatures cover it.
    for (ledger::Tx& waited : drafts_that_waited(draft, uses, next)) {
        TRY(auto said, ledger::check_tx(std::move(waited)));
        ways.push_back(std::move(said));
    }
    ways.push_back(checked);
    std::optional<Error> first;
    for (const ledger::SharedTx& tx : ways) {
        auto done = sign_one(*tx, uses, user, usable, *state, next);
        if (done || done.error().kind != ErrorKind::Denied) return done;
        if (!first) first = done.error();
    }
    return Fail{*std::move(first)};
}

Result<ledger::SharedTx> KeystoreSigner::sign_one(const ledger::CheckedTx& tx,
                                                  const std::vector<ledger::InputUse>& uses, const api::User& user,
                                                  const NamedKeys& usable, const ledger::LedgerState& state,
                                                  const ledger::Moment& next) const {
    std::vector<Bytes> scripts;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        scripts.push_back(tx.tx.inputs[i].unlocking);
        if (!is_opened(uses[i])) continue;
        const Attempt attempt{tx, i, uses[i], state, next};
        auto unlocking = open(attempt, usable);
        // All keys together may have taken a way whose time is over; each alone takes the one that it knows.
        for (std::size_t k = 0; !unlocking && usable.size() > 1 && k < usable.size(); ++k)
            if (auto alone = open(attempt, {usable[k]})) unlocking = std::move(alone);
        if (!unlocking && !user.vouched_by.empty()) return fail(ErrorKind::Denied, api::only_reads_here(user));
        if (!unlocking) {
            if (unlocking.error().kind != ErrorKind::Denied) return Fail{unlocking.error()};
            const std::string of = uses[i].of == nullptr ? "" : " of " + uses[i].of->path().text();
            return fail(ErrorKind::Denied,
                        fmt::format("User \"{}\" cannot open the lock{} with the keys of this machine: {}", user.name,
                                    of, usable.empty() ? "there is none for this user" : unlocking.error().message));
        }
        scripts.back() = *std::move(unlocking);
    }
    TRY(auto finished, ledger::with_unlocking(tx, std::move(scripts)));
    return finished;
}

std::string KeystoreSigner::explain_lock(ByteView lock) { return script::explain(lock).sentence; }

}  // namespace rhizome::node
