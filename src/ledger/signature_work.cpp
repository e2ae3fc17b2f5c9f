// SPDX-License-Identifier: Apache-2.0
#include "ledger/signature_work.h"

#include "ledger/limits.h"
#include "ledger/tx_host.h"
#include "script/interpreter.h"

namespace rhizome::ledger {
namespace {

struct FoundLock {
    const state::Entry* of = nullptr;
    bool authority = false;
};

/// The lock that an input has to open. Its role decides what is signed: an output that some document here lies below
/// is taken as authority, another as a version. Where that guess is wrong, `execute` asks again.
FoundLock find_lock(const CheckedTx& tx, std::size_t input, const LedgerState& state) {
    const Outpoint& outpoint = tx.tx.inputs[input].previous;
    for (const NamedOutput& output : tx.outputs) {
        if (output.wish == Wish::Nothing) continue;
        for (auto above = output.resource.path.parent(); above; above = above->parent()) {
            const state::Entry* entry = state.view().get(*above);
            if (entry != nullptr && entry->origin().lock.output == outpoint) return {entry, true};
        }
    }
    return {state.index().find(outpoint), false};
}

/// Whether running its script can bring anything.
bool is_worth_running(const CheckedTx& tx, std::size_t input) { return !tx.tx.inputs[input].unlocking.empty(); }

/// Runs one script, collecting the good signatures.
void run(const CheckedTx& tx, std::size_t input, FoundLock lock, const Place& place, const state::StateView& view,
         const SignatureCache& known, std::vector<SignatureCache::Key>& found, crypto::RecentKeys& keys) {
    if (lock.of->script().empty()) return;
    const SpentValue spent =
        lock.authority ? SpentValue::of_authority() : SpentValue::of_document(lock.of->document_hash());
    const TxHost host{tx, input, spent, place, view, known, found, &keys};
    const auto limit = static_cast<std::uint32_t>(checks_allowed(tx.bytes));
    (void)script::verify(tx.tx.inputs[input].unlocking, lock.of->script(), host, script::kChainRules,
                         {.signature_checks = limit});
}

}  // namespace

SignatureWork::SignatureWork(const LedgerState& state, const NextBlock& next, std::span<const SharedTx> txs)
    : view_(state.view()), place_(place_of(state, next)) {
    place_.parameters = nullptr;
    locks_.reserve(txs.size());
    for (const SharedTx& tx : txs) {
        bool all_found = true;
        for (std::size_t i = 0; i < tx->tx.inputs.size(); ++i) {
            if (!is_worth_running(*tx, i)) continue;
            const FoundLock lock = find_lock(*tx, i, state);
            if (lock.of != nullptr) {
                locks_.push_back({.tx = tx, .input = i, .of = state::EntryPtr{lock.of}, .authority = lock.authority});
            } else {
                all_found = false;
            }
        }
        if (!all_found) left_over_.push_back(tx);
    }
    found_.resize(locks_.size());
}

void SignatureWork::verify(std::size_t begin, std::size_t end) {
    // Whoever has the cache may be writing to it.
    const SignatureCache none;
    crypto::RecentKeys keys;
    std::vector<SignatureCache::Key> found;
    found.reserve(end - begin);
    for (std::size_t i = begin; i < end; ++i) {
        const Lock& lock = locks_[i];
        run(*lock.tx, lock.input, {lock.of.get(), lock.authority}, place_, view_, none, found, keys);
    }
    found_[begin] = std::move(found);
}

void SignatureWork::remember(SignatureCache& cache) const {
    for (const auto& keys : found_)
        for (const auto& key : keys) cache.insert(key);
}

void verify_ahead(const LedgerState& state, const NextBlock& next, std::span<const SharedTx> txs, SignatureCache& cache,
                  Parallel& parallel) {
    const Place place = place_of(state, next);
    std::vector<std::vector<SignatureCache::Key>> found(txs.size());  // what a range found stands at its first place
    parallel.for_ranges(txs.size(), [&](std::size_t begin, std::size_t end) {
        crypto::RecentKeys keys;
        std::vector<SignatureCache::Key> good;
        good.reserve(end - begin);
        for (std::size_t i = begin; i < end; ++i)
            for (std::size_t input = 0; input < txs[i]->tx.inputs.size(); ++input) {
                if (!is_worth_running(*txs[i], input)) continue;
                const FoundLock lock = find_lock(*txs[i], input, state);
                if (lock.of != nullptr) run(*txs[i], input, lock, place, state.view(), cache, good, keys);
            }
        found[begin] = std::move(good);
    });
    for (const auto& keys : found)
        for (const auto& key : keys) cache.insert(key);
}

}  // namespace rhizome::ledger
