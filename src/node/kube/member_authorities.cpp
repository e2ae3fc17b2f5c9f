// SPDX-License-Identifier: Apache-2.0
#include "node/kube/member_authorities.h"

#include <algorithm>

#include "base/json.h"
#include "cluster/base64.h"
#include "consensus/evidence.h"
#include "ledger/chain_records.h"
#include "ledger/member.h"

namespace rhizome::node {
namespace {

/// Members that are looked at; a cluster has far fewer.
constexpr std::size_t kMembersMax = 1'024;
/// Base64 of a certificate with a name of six letters and one key: ours have about 600.
constexpr std::size_t kAuthorityTextMax = 4'096;
/// Certificates remembered: clients that come again and again.
constexpr std::size_t kFoundMax = 1'024;

/// What a member's report says that its API vouches with.
std::optional<stream::Certificate> authority_in(const state::StateView& state, std::string_view node) {
    const auto path = state::Path::node_report(node);
    const state::Entry* entry = path ? state.get(*path) : nullptr;
    if (entry == nullptr) return std::nullopt;
    const auto report = json::parse(entry->document());
    if (!report) return std::nullopt;
    const std::string_view text = report->text_at({"status", "apiAuthority"});
    if (text.empty() || text.size() > kAuthorityTextMax) return std::nullopt;
    const auto der = cluster::from_base64(text);
    if (!der) return std::nullopt;
    auto certificate = stream::Certificate::from_der(*der);
    if (!certificate || !certificate->is_authority()) return std::nullopt;
    return *std::move(certificate);
}

}  // namespace

void MemberAuthorities::read(const state::StateView& state) {
    if (seen_.is_same(state)) return;
    others_.clear();
    for (const state::Entry* entry : state.list(ledger::records::all_members(), std::nullopt, kMembersMax).entries) {
        const auto member = ledger::decode_member(entry->bytes());
        if (!member || consensus::is_accused(member->chain, state)) continue;
        if (auto authority = authority_in(state, member->node))
            others_.push_back({member->node, *std::move(authority)});
    }
    seen_ = state;
}

const MemberAuthorities::Vouching* MemberAuthorities::find(ByteView fingerprint) const {
    const auto at = std::find_if(others_.begin(), others_.end(), [&](const Vouching& one) {
        return std::ranges::equal(one.authority.fingerprint(), fingerprint);
    });
    return at == others_.end() ? nullptr : &*at;
}

void MemberAuthorities::keep(const Bytes& shown, Found found) {
    if (found_.size() >= kFoundMax) found_.clear();
    found_[shown] = std::move(found);
}

std::optional<std::string> MemberAuthorities::voucher_of(const stream::Certificate& shown,
                                                         const state::StateView& state, Time now) {
    const Bytes& print = shown.fingerprint();
    const std::lock_guard hold{mutex_};
    if (const auto known = found_.find(print); known != found_.end()) {
        const bool in_time = now >= shown.not_before() && now <= known->second.until;
        if (in_time && known->second.authority == own_print_) return std::string{};
        if (in_time) {
            read(state);
            if (const Vouching* still = find(known->second.authority)) return still->node;
        }
        found_.erase(known);
    }
    const auto until = [&](const stream::Certificate& authority) {
        return std::min(shown.not_after(), authority.not_after());
    };
    if (shown.is_client_of(own_, now)) {
        keep(print, {.authority = own_print_, .until = until(own_)});
        return std::string{};
    }
    read(state);
    for (const Vouching& one : others_) {
        if (!shown.is_client_of(one.authority, now)) continue;
        keep(print, {.authority = one.authority.fingerprint(), .until = until(one.authority)});
        return one.node;
    }
    return std::nullopt;
}

}  // namespace rhizome::node
