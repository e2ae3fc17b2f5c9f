// SPDX-License-Identifier: Apache-2.0
#include "node/metrics.h"

#include <algorithm>

#include <fmt/core.h>

#include "node/status.h"

namespace rhizome::node {

std::string metrics_text(const NodeView& view, const store::Store& store, Time now) {
    std::string text;
    const auto add = [&](std::string_view name, std::string_view help, std::string_view type, std::string_view value,
                         std::string_view labels = "") {
        if (!help.empty()) text += fmt::format("# HELP rhizome_{0} {1}\n# TYPE rhizome_{0} {2}\n", name, help, type);
        text += fmt::format("rhizome_{}{} {}\n", name, labels, value);
    };
    const auto gauge = [&](std::string_view name, std::string_view help, auto value) {
        add(name, help, "gauge", fmt::format("{}", value));
    };
    const auto seconds_text = [](microseconds time) {
        return fmt::format("{}.{:06}", time.count() / 1'000'000, time.count() % 1'000'000);
    };
    const auto age = [&](Time time) { return seconds_text(std::max(microseconds{0}, now - time)); };
    gauge("height", "Height of the newest block.", view.tip.height.number());
    gauge("final_height", "Height of the newest final block.", view.final_height.number());
    gauge("tip_age_seconds", "Age of the newest block.", age(view.tip.time));
    gauge("final_age_seconds", "Age of the newest final block.", age(view.final_time));
    gauge("pending_transactions", "Transactions that no block has taken yet.", view.pending);
    gauge("pending_bytes", "Their size.", view.usage.pending_bytes);
    gauge("documents", "Documents in the state.", view.state.totals(state::Prefix::documents()).count);
    gauge("peers", "Links to other nodes.", view.usage.peers);
    gauge("votes_held", "Votes in memory.", view.usage.votes);
    gauge("headers_held", "Headers in memory.", view.usage.headers);
    gauge("branches", "Branches of the chain that are followed.", view.usage.tips);
    gauge("headers_ahead", "Headers of a chain that is being caught up with.", view.usage.headers_ahead);
    const auto counter = [&](std::string_view metric, std::string_view help, std::uint64_t value) {
        add(metric, help, "counter", fmt::format("{}", value));
    };
    const core::Node::Traffic& traffic = view.traffic;
    counter("transactions_sent_total", "Transactions sent whole to peers.", traffic.txs_sent);
    counter("transactions_named_total", "Transactions announced to peers by id.", traffic.txs_named);
    counter("transactions_asked_total", "Transactions asked of peers by id.", traffic.txs_asked);
    counter("compact_blocks_sent_total", "Blocks sent as short ids.", traffic.compact_sent);
    counter("compact_bytes_saved_total", "Bytes less than those blocks have whole.", traffic.compact_saved);
    counter("compact_blocks_heard_total", "Blocks that came as short ids.", traffic.compact_heard);
    counter("compact_fill_ins_total", "Of those, how many lacked transactions that were asked for.",
            traffic.compact_fill_ins);
    counter("compact_fallbacks_total", "Of those, how many were asked for whole.", traffic.compact_fallbacks);
    counter("headers_heard_total", "Headers that came while catching up.", traffic.headers_heard);
    counter("bodies_heard_total", "Block bodies that came while catching up.", traffic.bodies_heard);
    counter("bodies_asked_again_total", "Block bodies that were asked of another peer after a timeout.",
            traffic.bodies_asked_again);
    counter("false_guides_total", "Peers that were followed and led nowhere.", traffic.false_guides);
    const auto members = members_of(view);
    gauge("members", "Members of the cluster.", members.size());
    gauge("members_ready", "Members heard of within their lease.",
          std::count_if(members.begin(), members.end(), [](const MemberStatus& one) { return one.in_lease; }));
    bool first = true;
    for (const core::Condition condition :
         {core::Condition::ClockOff, core::Condition::VotesLost, core::Condition::ConflictingFinals,
          core::Condition::DiskFull, core::Condition::Accused}) {
        add("condition", first ? "Whether something keeps the node from doing its part." : "", "gauge",
            view.conditions.contains(condition) ? "1" : "0", fmt::format("{{condition=\"{}\"}}", name(condition)));
        first = false;
    }
    if (const auto usage = store.usage()) {
        gauge("disk_log_bytes", "Size of the block log.", usage->log_bytes);
        gauge("disk_index_bytes", "Size of the index.", usage->index_bytes);
        gauge("disk_free_bytes", "Room left on the disk.", usage->free_bytes);
    }
    return text;
}

}  // namespace rhizome::node
