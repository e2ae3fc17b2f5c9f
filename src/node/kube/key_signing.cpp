// SPDX-License-Identifier: Apache-2.0
#include "node/kube/key_signing.h"

#include <algorithm>

#include "ledger/chain_records.h"
#include "node/judging.h"
#include "script/locks.h"
#include "script/policy.h"
#include "script/template.h"

namespace rhizome::node {
namespace {

/// Names of keys, as templates may use them.
class Names final : public script::KeyResolver {
public:
    explicit Names(std::vector<std::pair<std::string, crypto::PublicKey>> keys) : keys_(std::move(keys)) {}
    [[nodiscard]] std::optional<crypto::PublicKey> find(std::string_view name) const override {
        for (const auto& [known, key] : keys_)
            if (known == name) return key;
        return std::nullopt;
    }
    [[nodiscard]] std::vector<std::string> names() const override {
        std::vector<std::string> all;
        for (const auto& [known, key] : keys_) all.push_back(known);
        return all;
    }

private:
    std::vector<std::pair<std::string, crypto::PublicKey>> keys_;
};

/// In which units a transaction says that it waited: it can count blocks or time, from a lock and from the beginning.
struct Units {
    bool relative_time = false;
    bool absolute_time = false;
};

/// Lets input `i` say the longest wait of its lock that is over in the block `next`, as far as `units` can say it.
void say_waited(const script::Policy& policy, const state::Mark& since, const ledger::Moment& next, Units units,
                ledger::Tx& tx, std::size_t i) {
    if (policy.kind == script::PolicyKind::After && policy.number > 0) {
        const auto count = static_cast<std::uint32_t>(policy.number);
        std::uint32_t& sequence = tx.inputs[i].sequence;
        const auto longer = [&](std::uint32_t wanted) {
            if (sequence == script::kSequenceFinal || !script::waits_as_long_as(wanted, sequence)) sequence = wanted;
        };
        switch (policy.wait) {
            case script::WaitKind::RelativeBlocks:
                if (!units.relative_time && next.height >= since.height + count) longer(count & script::kSequenceMask);
                break;
            case script::WaitKind::RelativeTime:
                if (units.relative_time &&
                    next.time >= since.time + seconds{policy.number * script::kSequenceUnitSeconds})
                    longer((count & script::kSequenceMask) | script::kSequenceCountsTime);
                break;
            case script::WaitKind::Height:
                if (!units.absolute_time && static_cast<std::int64_t>(next.height.number()) > policy.number)
                    tx.lock_time = std::max(tx.lock_time, count);
                break;
            case script::WaitKind::Time:
                if (units.absolute_time && next.time.unix_seconds() > policy.number)
                    tx.lock_time = std::max(tx.lock_time, count);
                break;
            case script::WaitKind::None: break;
        }
    }
    for (const script::Policy& inner : policy.inner) say_waited(inner, since, next, units, tx, i);
}

bool waits(const script::Policy& policy) {
    return policy.kind == script::PolicyKind::After ||
           std::any_of(policy.inner.begin(), policy.inner.end(),
                       [](const script::Policy& inner) { return waits(inner); });
}

/// Whether a wait may open it.
bool has_wait(const ledger::InputUse& use) {
    if (!is_opened(use) || use.of == nullptr) return false;
    const auto policy = script::recognise(use.lock);
    return policy && waits(*policy);
}

/// The next block, as far as a state knows: how many came before it.
ledger::Moment next_moment(const state::StateView& view, Time now) {
    ledger::Moment moment{.time = now};
    if (const state::Entry* record = view.get(ledger::records::history()))
        if (const auto history = ledger::records::decode_history(record->bytes()))
            moment.height = state::Height{history->count + 1};
    return moment;
}

Result<SignedSoFar> sign_once(const ledger::Tx& draft, const NamedKeys& keys, const ledger::ChainId& chain,
                              const ledger::LedgerState& state) {
    TRY(const auto checked, ledger::check_tx(draft));
    const auto uses = ledger::uses_of_inputs(*checked, state);
    SignedSoFar so_far{.tx = draft, .complete = true};
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (!is_opened(uses[i])) continue;
        auto progress = advance_with(keys, *checked, i, uses[i], chain, state, nullptr);
        so_far.signatures += progress.signatures;
        if (!progress.complete && so_far.complete) {
            so_far.complete = false;
            so_far.closed = uses[i].of == nullptr ? "" : " of " + uses[i].of->path().text();
            so_far.missing = progress.missing;
        }
        so_far.tx.inputs[i].unlocking = std::move(progress.unlocking);
    }
    return so_far;
}

}  // namespace

bool is_opened(const ledger::InputUse& use) {
    return use.role == ledger::InputRole::Consumed || use.role == ledger::InputRole::Authority;
}

ledger::InputProgress advance_with(const NamedKeys& keys, const ledger::CheckedTx& tx, std::size_t input,
                                   const ledger::InputUse& use, const ledger::ChainId& chain,
                                   const ledger::LedgerState& state, ledger::SignatureCache* made) {
    auto progress = ledger::advance(tx, input, use, chain, state, nullptr);
    for (const auto& one : keys) {
        if (progress.complete) break;
        if (!ledger::can_help(one->key, use.lock, state)) continue;
        const ledger::Signer signer{one->secret, one->key};
        progress = ledger::advance(tx, input, std::move(progress.unlocking), use, chain, state, &signer);
        if (made != nullptr && progress.made) made->insert(*progress.made);
    }
    return progress;
}

std::vector<ledger::Tx> drafts_that_waited(const ledger::Tx& draft, const std::vector<ledger::InputUse>& uses,
                                           const ledger::Moment& next) {
    std::vector<ledger::Tx> all;
    if (std::none_of(uses.begin(), uses.end(), has_wait)) return all;
    for (const bool relative_time : {false, true})
        for (const bool absolute_time : {false, true}) {
            ledger::Tx waited = draft;
            for (std::size_t i = 0; i < uses.size(); ++i) {
                if (!is_opened(uses[i]) || uses[i].of == nullptr) continue;
                if (const auto policy = script::recognise(uses[i].lock))
                    say_waited(*policy, uses[i].of->origin().lock, next, {relative_time, absolute_time}, waited, i);
            }
            if (waited != draft && std::find(all.begin(), all.end(), waited) == all.end())
                all.push_back(std::move(waited));
        }
    return all;
}

Result<SignedSoFar> sign_with_keys(const ledger::Tx& draft, const NamedKeys& keys, const ledger::ChainId& chain,
                                   const state::StateView& view, Time now) {
    TRY(const auto checked, ledger::check_tx(draft));
    const ledger::LedgerState state{context_of_draft(*checked, view)};
    TRY(auto plain, sign_once(draft, keys, chain, state));
    if (plain.complete) return plain;
    for (const ledger::Tx& waited :
         drafts_that_waited(draft, ledger::uses_of_inputs(*checked, state), next_moment(view, now))) {
        auto signed_later = sign_once(waited, keys, chain, state);
        if (signed_later && signed_later->complete) return signed_later;
    }
    return plain;
}

Result<Bytes> compile_lock_with(const Keystore& store, std::string_view text) {
    std::vector<std::pair<std::string, crypto::PublicKey>> known;
    if (const auto entries = store.list())
        for (const Keystore::Entry& entry : *entries)
            if (entry.info) known.emplace_back(entry.name, entry.info->public_key);
    const Names names{std::move(known)};
    auto compiled = script::compile(text, &names);
    if (!compiled) return Fail{Error{to_error(compiled.error())}};
    return *std::move(compiled);
}

}  // namespace rhizome::node
