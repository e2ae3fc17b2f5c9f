// SPDX-License-Identifier: Apache-2.0
#include "ledger/signing.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include <fmt/core.h>

#include "ledger/chain_records.h"
#include "ledger/special_kinds.h"
#include "script/locks.h"
#include "script/policy.h"
#include "script/script.h"

namespace rhizome::ledger {
namespace {

using crypto::PublicKey;
using script::Policy;
using script::PolicyKind;
using state::Entry;
using state::Path;

// ---- what inputs are for --------------------------------------------------------------------------------------------

Bytes lock_of(const Entry& entry, const Path& about, const WorkingState& state) {
    if (about.shape() == Path::Shape::NodeReport) {
        if (const auto key = member_key_of(about.name(), state))
            return script::compile(Policy{.kind = PolicyKind::KeyHash, .address = crypto::hash160(*key)});
    }
    return to_bytes(entry.script());
}

/// What a transaction writes or deletes, as far as its outputs and inputs say so.
std::vector<Path> touched_by(const CheckedTx& tx, const std::vector<const Entry*>& latest) {
    std::vector<Path> paths;
    for (const NamedOutput& output : tx.outputs)
        if (output.wish != Wish::Nothing) paths.push_back(output.resource.path);
    for (const Entry* entry : latest)
        if (entry != nullptr) paths.push_back(entry->path());
    return paths;
}

bool is_named(const CheckedTx& tx, const Path& path) {
    return std::any_of(tx.outputs.begin(), tx.outputs.end(), [&](const NamedOutput& output) {
        return output.wish != Wish::Nothing && output.resource.path == path;
    });
}

// ---- signatures -----------------------------------------------------------------------------------------------------

/// Good signatures of one input, with the hash type behind them, by key.
using Signatures = std::map<PublicKey::Array, Bytes>;

/// What one script pushes; nothing when it does anything else.
std::optional<std::vector<Bytes>> items_of(ByteView unlocking) {
    std::vector<Bytes> items;
    script::InstructionReader reader{unlocking};
    while (const auto instruction = reader.next()) {
        if (instruction->broken) return std::nullopt;
        items.push_back(to_bytes(instruction->data));  // small numbers come as empty items: they are no signatures
    }
    return items;
}

void collect_keys(const Policy& policy, std::vector<PublicKey::Array>& keys) {
    keys.insert(keys.end(), policy.keys.begin(), policy.keys.end());
    for (const Policy& inner : policy.inner) collect_keys(inner, keys);
}

/// The signatures among `items` that one of the keys (of the lock, or pushed beside them) made; counts the others.
Signatures good_signatures(const std::vector<Bytes>& items, std::vector<PublicKey::Array> keys,
                           const crypto::Digest& digest, std::size_t& unfitting) {
    for (const Bytes& item : items) {
        if (item.size() != PublicKey::kSize) continue;
        PublicKey::Array key;
        std::copy(item.begin(), item.end(), key.begin());
        keys.push_back(key);
    }
    Signatures good;
    for (const Bytes& item : items) {
        if (item.size() < 2 || item.size() == PublicKey::kSize || item.back() != kHashTypeAll) continue;
        const ByteView der = ByteView{item}.first(item.size() - 1);
        const auto owner = std::find_if(keys.begin(), keys.end(), [&](const PublicKey::Array& key) {
            return crypto::verify_der(key, digest, der).has_value();
        });
        if (owner == keys.end()) {
            ++unfitting;
        } else {
            good.insert_or_assign(*owner, item);
        }
    }
    return good;
}

bool times_fit(const Policy& policy, const Tx& tx, std::uint32_t sequence) {
    if (policy.kind != PolicyKind::After) return true;
    switch (policy.wait) {
        case script::WaitKind::RelativeBlocks: return script::waits_as_long_as(policy.number, sequence);
        case script::WaitKind::RelativeTime:
            return script::waits_as_long_as(policy.number | script::kSequenceCountsTime, sequence);
        default: return script::waits_for(policy.number, tx.lock_time, 0);
    }
}

/// One way through a policy with the signatures at hand.
struct Way {
    std::vector<Bytes> pushes{};
    std::size_t used = 0;     ///< signatures
    std::size_t missing = 0;  ///< signatures
    bool in_time = true;
    std::string want{};
};

std::string join_text(std::string left, const std::string& right) {
    if (left.empty()) return right;
    return right.empty() ? left : left + ", and " + right;
}

class WayFinder {
public:
    WayFinder(const Signatures& signatures, const Tx& tx, std::uint32_t sequence, const state::StateView& state)
        : signatures_(signatures), tx_(tx), sequence_(sequence), state_(state) {}

    Way find(const Policy& policy) const {
        switch (policy.kind) {
            case PolicyKind::KeyHash: return by_address(policy.address);
            case PolicyKind::Key: return by_key(policy.keys.front());
            case PolicyKind::Multisig: return by_many(policy);
            case PolicyKind::Member: return by_member();
            case PolicyKind::After: {
                Way way = find(policy.inner.front());
                if (!times_fit(policy, tx_, sequence_)) {
                    way.in_time = false;
                    way.want = join_text(way.want, "a sequence or lock time as long as the lock asks for");
                }
                return way;
            }
            case PolicyKind::Until: return find(policy.inner.front());
            case PolicyKind::Either: return better(policy);
            case PolicyKind::Cosigned: {
                Way way = find(policy.inner.front());
                Way top = policy.keys.empty() ? by_address(policy.address) : by_key(policy.keys.front());
                way.pushes.insert(way.pushes.end(), top.pushes.begin(), top.pushes.end());
                way.used += top.used;
                way.missing += top.missing;
                way.want = join_text(way.want, top.want);
                return way;
            }
        }
        unreachable("a PolicyKind has a way");
    }

private:
    Way by_address(const crypto::Hash160& address) const {
        for (const auto& [key, signature] : signatures_)
            if (crypto::hash160(key) == address) return {.pushes = {signature, to_bytes(key)}, .used = 1};
        return {.missing = 1, .want = fmt::format("the signature of {}", address)};
    }
    Way by_key(const PublicKey::Array& key) const {
        const auto at = signatures_.find(key);
        if (at != signatures_.end()) return {.pushes = {at->second}, .used = 1};
        return {.missing = 1, .want = fmt::format("the signature of {}", to_hex(key))};
    }
    Way by_many(const Policy& policy) const {
        Way way{.pushes = {Bytes{}}};  // the extra item that CHECKMULTISIG takes
        std::string others;
        for (const PublicKey::Array& key : policy.keys) {
            const auto at = signatures_.find(key);
            if (at == signatures_.end()) {
                others += (others.empty() ? "" : ", ") + to_hex(key);
            } else if (way.used < policy.needed) {
                way.pushes.push_back(at->second);
                ++way.used;
            }
        }
        way.missing = policy.needed - way.used;
        if (way.missing > 0) way.want = fmt::format("{} more of {}", way.missing, others);
        if (way.used == 0) way.pushes.clear();  // nobody has signed: the script stays empty
        return way;
    }
    Way by_member() const {
        for (const auto& [key, signature] : signatures_)
            if (state_.contains(records::member(key))) return {.pushes = {signature, to_bytes(key)}, .used = 1};
        return {.missing = 1, .want = "the signature of a member"};
    }
    Way better(const Policy& policy) const {
        Way first = find(policy.inner[0]);
        Way second = find(policy.inner[1]);
        // Never one that would lose a signature for one that has none, unless nothing more is needed.
        const auto rank = [](const Way& way) {
            return std::tuple{way.missing == 0 && way.in_time, way.used > 0, way.in_time, way.used,
                              SIZE_MAX - way.missing};
        };
        const bool take_second = rank(second) > rank(first);
        Way way = std::move(take_second ? second : first);
        if (way.used > 0) way.pushes.push_back(take_second ? Bytes{} : Bytes{1});
        return way;
    }

    const Signatures& signatures_;
    const Tx& tx_;
    std::uint32_t sequence_;
    const state::StateView& state_;
};

Bytes script_of(const std::vector<Bytes>& pushes) {
    script::ScriptBuilder out;
    for (const Bytes& item : pushes) out.data(item);
    return std::move(out).take();
}

bool names_key(const Policy& policy, const PublicKey& key, const state::StateView& state) {
    if (std::find(policy.keys.begin(), policy.keys.end(), key.bytes()) != policy.keys.end()) return true;
    const bool by_hash =
        policy.kind == PolicyKind::KeyHash || (policy.kind == PolicyKind::Cosigned && policy.keys.empty());
    if (by_hash && policy.address == key.address()) return true;
    if (policy.kind == PolicyKind::Member && state.contains(records::member(key.bytes()))) return true;
    return std::any_of(policy.inner.begin(), policy.inner.end(),
                       [&](const Policy& inner) { return names_key(inner, key, state); });
}

}  // namespace

std::string_view name(InputRole role) {
    switch (role) {
        case InputRole::Unknown: return "unknown";
        case InputRole::Consumed: return "consumed";
        case InputRole::VersionOnly: return "version";
        case InputRole::Authority: return "authority";
    }
    unreachable("an InputRole has a name");
}

std::vector<InputUse> uses_of_inputs(const CheckedTx& tx, const LedgerState& state) {
    const WorkingState working{state.view(), state.index()};
    const auto& inputs = tx.tx.inputs;
    std::vector<const Entry*> latest;
    for (const Input& input : inputs) latest.push_back(state.index().find(input.previous));
    std::vector<InputUse> uses(inputs.size());
    const std::vector<Path> touched = touched_by(tx, latest);

    // Authority: the lock point of an ancestor of something touched, unless an output writes or deletes that very
    // resource and the input is its version.
    std::map<Outpoint, std::pair<Path, Path>> authorities;  // lock point → whose, and for what
    for (const Path& path : touched)
        for (const Path& above : path.ancestors())
            if (const Entry* ancestor = state.view().get(above))
                authorities.try_emplace(ancestor->origin().lock.output, above, path);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (latest[i] != nullptr && is_named(tx, latest[i]->path())) continue;
        const auto at = authorities.find(inputs[i].previous);
        if (at == authorities.end()) continue;
        const Entry* ancestor = state.view().get(at->second.first);
        uses[i] = {
            .role = InputRole::Authority, .of = ancestor, .lock = lock_of(*ancestor, at->second.second, working)};
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (uses[i].role != InputRole::Unknown || latest[i] == nullptr) continue;
        const Path path = latest[i]->path();
        const bool covered = std::any_of(uses.begin(), uses.end(), [&](const InputUse& use) {
            return use.role == InputRole::Authority && use.of->path().is_ancestor_of(path);
        });
        uses[i] = {.role = covered && inputs[i].unlocking.empty() && path.shape() != Path::Shape::NodeReport
                               ? InputRole::VersionOnly
                               : InputRole::Consumed,
                   .of = latest[i],
                   .lock = lock_of(*latest[i], path, working),
                   .spent = SpentValue::of_document(latest[i]->document_hash())};
    }
    return uses;
}

bool can_help(const PublicKey& key, ByteView lock, const state::StateView& view) {
    const auto policy = script::recognise(lock);
    return policy && names_key(*policy, key, view);
}

InputProgress advance(const CheckedTx& tx, std::size_t index, const InputUse& use, const ChainId& chain,
                      const LedgerState& state, const Signer* signer) {
    return advance(tx, index, tx.tx.inputs[index].unlocking, use, chain, state, signer);
}

InputProgress advance(const CheckedTx& tx, std::size_t index, Bytes unlocking, const InputUse& use,
                      const ChainId& chain, const LedgerState& state, const Signer* signer) {
    InputProgress progress{.unlocking = std::move(unlocking)};
    if (use.role == InputRole::Unknown) {
        progress.missing = "an output that is current: it names none";
        return progress;
    }
    if (use.role == InputRole::VersionOnly) {
        progress.complete = true;
        return progress;
    }
    if (use.lock.empty()) {
        progress.missing = "the authority of an ancestor: the resource has no lock of its own";
        return progress;
    }
    const auto policy = script::recognise(use.lock);
    const auto items = items_of(progress.unlocking);
    if (!policy || !items) {
        progress.missing = "a script written by hand: its lock is of no known form";
        return progress;
    }
    const crypto::Digest digest = signature_digest(tx, chain, index, use.lock, use.spent);
    std::vector<PublicKey::Array> keys;
    collect_keys(*policy, keys);
    Signatures signatures = good_signatures(*items, std::move(keys), digest, progress.unfitting);
    const WayFinder finder{signatures, tx.tx, tx.tx.inputs[index].sequence, state.view()};
    Way way = finder.find(*policy);
    if (way.missing > 0 && signer != nullptr && names_key(*policy, signer->key, state.view()) &&
        !signatures.contains(signer->key.bytes())) {
        Bytes signature = crypto::sign(signer->secret, digest).to_der();
        progress.made = SignatureCache::key_of(digest, signer->key.bytes(), signature);
        signature.push_back(kHashTypeAll);
        signatures.emplace(signer->key.bytes(), std::move(signature));
        progress.signed_now = true;
        way = finder.find(*policy);
    }
    progress.signatures = way.used;
    progress.complete = way.missing == 0 && way.in_time;
    progress.missing = progress.complete ? std::string{} : way.want;
    if (progress.signed_now) progress.unlocking = script_of(way.pushes);
    return progress;
}

}  // namespace rhizome::ledger
