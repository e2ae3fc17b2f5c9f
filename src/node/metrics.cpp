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
