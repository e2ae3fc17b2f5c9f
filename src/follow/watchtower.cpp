// SPDX-License-Identifier: Apache-2.0
#include "follow/watchtower.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/bytes.h"
#include "base/ensure.h"

namespace rhizome::follow {
namespace {

/// Occasions remembered of one proposer: enough for a judgement, whatever the window.
constexpr std::size_t kOccasionsMax = 256;

}  // namespace

std::string_view name(AlertKind kind) {
    switch (kind) {
        case AlertKind::Censorship: return "censorship";
        case AlertKind::Equivocation: return "equivocation";
    }
    unreachable("an AlertKind is one of these");
}

std::vector<Alert> Watchtower::step(const WatchEvent& event) {
    std::vector<Alert> alerts;
    if (const auto* seen = std::get_if<PendingSeen>(&event.kind)) {
        note_pending(seen->pending, event.now);
    } else if (const auto* block = std::get_if<BlockSeen>(&event.kind)) {
        alerts = judge(*block, event.now);
        note_pending(block->pending, event.now);
    } else if (const auto* accused = std::get_if<AccusedSeen>(&event.kind)) {
        alerts.push_back({.kind = AlertKind::Equivocation,
                          .at = event.now,
                          .who = accused->who,
                          .what = "it signed two things that contradict each other; the proof is on the chain, and it "
                                  "neither seals nor votes any more"});
    }
    counts_.alerts += alerts.size();
    return alerts;
}

void Watchtower::note_pending(const std::vector<ledger::TxId>& pending, Time now) {
    std::map<ledger::TxId, Time> since;
    for (const ledger::TxId& id : pending) {
        if (since.size() >= rules_.pending_max) break;
        const auto before = since_.find(id);
        since.emplace(id, before == since_.end() ? now : before->second);
    }
    since_ = std::move(since);
}

std::vector<Alert> Watchtower::judge(const BlockSeen& block, Time now) {
    const Time time = block.header.time;
    // Late, or so full that leaving something out needs no reason.
    if (now - time > rules_.fresh || block.bytes > block.bytes_max / 4 * 3) return {};
    const auto is_due = [&](const ledger::TxId& id) {
        const auto since = since_.find(id);
        return since != since_.end() && since->second + rules_.bound <= time;
    };
    std::size_t left_out = 0;
    std::optional<std::pair<Time, ledger::TxId>> oldest;
    for (const ledger::TxId& id : block.pending) {
        if (!is_due(id)) continue;
        ++left_out;
        const std::pair<Time, ledger::TxId> one{since_.at(id), id};
        if (!oldest || one < *oldest) oldest = one;
    }
    const bool had_due = left_out > 0 || std::any_of(block.txs.begin(), block.txs.end(), is_due);
    ++counts_.blocks;
    counts_.left_out += left_out;
    if (!had_due) return {};
    if (left_out > 0) ++counts_.short_blocks;

    Record& record = records_[block.proposer];
    record.occasions.push_back({now, left_out > 0});
    while (record.occasions.size() > kOccasionsMax || record.occasions.front().at + rules_.window < now)
        record.occasions.pop_front();
    const auto short_blocks = static_cast<std::size_t>(std::count_if(record.occasions.begin(), record.occasions.end(),
                                                                     [](const Occasion& one) { return one.is_short; }));
    if (left_out == 0 || short_blocks < rules_.short_blocks || short_blocks * 2 <= record.occasions.size()) return {};
    if (record.told != Time{} && now < record.told + rules_.window) return {};
    record.told = now;
    return {{.kind = AlertKind::Censorship,
             .at = now,
             .who = block.proposer,
             .block = block.hash,
             .tx = oldest->second,
             .short_blocks = short_blocks,
             .occasions = record.occasions.size(),
             .what = fmt::format("it left out what was broadcast: {} of its last {} blocks that should have had "
                                 "something lack it, the newest {} transactions, the oldest of which had waited for {} "
                                 "ms before that block's time",
                                 short_blocks, record.occasions.size(), left_out,
                                 std::chrono::duration_cast<milliseconds>(time - oldest->first).count())}};
}

Watchtower::Counts Watchtower::counts() const {
    Counts counts = counts_;
    counts.watched = since_.size();
    return counts;
}

}  // namespace rhizome::follow
