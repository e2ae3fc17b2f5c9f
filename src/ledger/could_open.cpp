// SPDX-License-Identifier: Apache-2.0
#include "ledger/could_open.h"

#include <algorithm>

#include "base/ensure.h"
#include "ledger/chain_records.h"
#include "script/locks.h"
#include "script/policy.h"

namespace rhizome::ledger {
namespace {

using crypto::PublicKey;
using script::Policy;
using script::PolicyKind;
using script::WaitKind;

class Asking {
public:
    Asking(const state::Mark& since, std::span<const PublicKey::Array> keys, const Moment& moment,
           const state::StateView& view)
        : since_(since), keys_(keys), moment_(moment), view_(view) {}

    [[nodiscard]] bool opens(const Policy& policy) const {
        switch (policy.kind) {
            case PolicyKind::KeyHash: return has_address(policy.address);
            case PolicyKind::Key: return has(policy.keys.front());
            case PolicyKind::Multisig:
                return std::count_if(policy.keys.begin(), policy.keys.end(),
                                     [&](const auto& key) { return has(key); }) >= std::int64_t{policy.needed};
            case PolicyKind::Member:
                return std::any_of(keys_.begin(), keys_.end(),
                                   [&](const auto& key) { return view_.contains(records::member(key)); });
            case PolicyKind::After: return has_come(policy) && opens(policy.inner.front());
            case PolicyKind::Until: return !is_reached(policy) && opens(policy.inner.front());
            case PolicyKind::Either: return opens(policy.inner[0]) || opens(policy.inner[1]);
            case PolicyKind::Cosigned:
                return (policy.keys.empty() ? has_address(policy.address) : has(policy.keys.front())) &&
                       opens(policy.inner.front());
        }
        unreachable("a PolicyKind opens or not");
    }

private:
    [[nodiscard]] bool has(const PublicKey::Array& key) const {
        return std::find(keys_.begin(), keys_.end(), key) != keys_.end();
    }
    [[nodiscard]] bool has_address(const crypto::Hash160& address) const {
        return std::any_of(keys_.begin(), keys_.end(),
                           [&](const auto& key) { return crypto::hash160(key) == address; });
    }
    [[nodiscard]] bool is_reached(const Policy& policy) const {
        return policy.wait == WaitKind::Height ? moment_.height.number() >= static_cast<std::uint64_t>(policy.number)
                                               : moment_.time.unix_seconds() >= policy.number;
    }
    /// A lock time must be below the block's height or time: one that is just reached opens with the next.
    [[nodiscard]] bool has_come(const Policy& policy) const {
        switch (policy.wait) {
            case WaitKind::RelativeBlocks:
                return moment_.height >= since_.height + static_cast<std::uint64_t>(policy.number);
            case WaitKind::RelativeTime:
                return moment_.time >= since_.time + seconds{policy.number * script::kSequenceUnitSeconds};
            case WaitKind::Height: return moment_.height.number() > static_cast<std::uint64_t>(policy.number);
            case WaitKind::Time: return moment_.time.unix_seconds() > policy.number;
            case WaitKind::None: return true;
        }
        unreachable("a WaitKind comes or not");
    }

    const state::Mark& since_;
    std::span<const PublicKey::Array> keys_;
    const Moment& moment_;
    const state::StateView& view_;
};

}  // namespace

bool could_open(ByteView lock, const state::Mark& since, std::span<const PublicKey::Array> keys, const Moment& moment,
                const state::StateView& view) {
    const auto policy = script::recognise(lock);
    return policy && Asking{since, keys, moment, view}.opens(*policy);
}

std::optional<state::Path> opened_by(const state::Path& path, std::span<const PublicKey::Array> keys,
                                     const Moment& moment, const state::StateView& view) {
    for (std::optional<state::Path> at = path; at; at = at->parent()) {
        const state::Entry* entry = view.get(*at);
        if (entry != nullptr && entry->is_written() && !entry->script().empty() &&
            could_open(entry->script(), entry->origin().lock, keys, moment, view))
            return at;
    }
    return std::nullopt;
}

}  // namespace rhizome::ledger
