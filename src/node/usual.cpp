// SPDX-License-Identifier: Apache-2.0
#include "node/usual.h"

#include "ledger/apply.h"

namespace rhizome::node {
namespace {

/// Blocks that come later than this after their time are being caught up with: the changes of hours come at once.
constexpr seconds kFresh{30};

}  // namespace

json::Object to_json(const UnusualSeen& seen) {
    json::Object all;
    for (std::size_t i = 0; i < seen.counts.size(); ++i)
        all.set(follow::name(static_cast<follow::UnusualKind>(i)), seen.counts[i]);
    json::Array last;
    for (const follow::Unusual& one : seen.last)
        last.push_back(json::Object{{"kind", follow::name(one.kind)},
                                    {"at", to_rfc3339(one.at, Precision::Millis)},
                                    {"subject", one.subject},
                                    {"what", one.what}});
    all.set("last", std::move(last));
    return all;
}

void UsualFollower::follow(const core::TipMoved& moved, const std::vector<ledger::Header>& headers,
                           const ledger::LedgerState& state, Time now) {
    if (headers.empty() || now - headers.back().time > kFresh) return;
    std::vector<follow::Unusual> found;
    // What a heal brings together was usual on the side it came from.
    if (moved.undone.empty()) found = watch_.changed(headers.back().time, moved.change);
    if (state.parameters().consensus == ledger::ConsensusId::Work)
        for (const ledger::Header& header : headers)
            for (follow::Unusual& one : watch_.worked(header.time, header.nonce, state.parameters().work.block_time))
                found.push_back(std::move(one));
    if (watch_.counts() == seen_->counts) return;
    auto next = std::make_shared<UnusualSeen>(*seen_);
    next->counts = watch_.counts();
    for (follow::Unusual& one : found) {
        log_.warn("this is unusual", {{"kind", follow::name(one.kind)}, {"what", one.what}});
        next->last.push_front(std::move(one));
    }
    while (next->last.size() > UnusualSeen::kKept) next->last.pop_back();
    seen_ = std::move(next);
}

}  // namespace rhizome::node
