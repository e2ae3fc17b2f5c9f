// SPDX-License-Identifier: Apache-2.0
#include "node/metrics.h"

#include <algorithm>

#include <fmt/core.h>

#include "node/status.h"
#include "runtime/clock.h"

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
          core::Condition::DiskFull, core::Condition::Accused, core::Condition::OutOfReach}) {
        add("condition", first ? "Whether something keeps the node from doing its part." : "", "gauge",
            view.conditions.contains(condition) ? "1" : "0", fmt::format("{{condition=\"{}\"}}", name(condition)));
        first = false;
    }
    first = true;
    for (std::size_t i = 0; i < view.unusual->counts.size(); ++i) {
        add("anomalies_total", first ? "What was unusual: floods and sizes of changes; of work nonces and pace." : "",
            "counter", fmt::format("{}", view.unusual->counts[i]),
            fmt::format("{{kind=\"{}\"}}", follow::name(static_cast<follow::UnusualKind>(i))));
        first = false;
    }
    if (const auto usage = store.usage()) {
        gauge("disk_log_bytes", "Size of the block log.", usage->log_bytes);
        gauge("disk_index_bytes", "Size of the index.", usage->index_bytes);
        gauge("disk_free_bytes", "Room left on the disk.", usage->free_bytes);
    }
    return text;
}

http::Response metrics_response(const Host& host) {
    return {.status = 200,
            .headers = {{"Content-Type", "text/plain; version=0.0.4; charset=utf-8"}},
            .body = metrics_text(*host.view(), host.store(), runtime::now())};
}

http::Handler make_metrics_handler(const Host& host, std::function<std::string()> more) {
    return [&host, more = std::move(more)](http::Exchange& exchange) -> stream::Task<void> {
        const http::Request& request = exchange.request();
        const bool is_read = request.method == "GET" || request.method == "HEAD";
        const bool is_metrics = request.path() == "/metrics";
        http::Response response = is_read && is_metrics
                                      ? metrics_response(host)
                                      : http::Response{.status = is_metrics ? 405u : 404u,
                                                       .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                                                       .body = "only GET /metrics is answered here\n"};
        if (is_read && is_metrics && more) response.body += more();
        (void)co_await exchange.respond(std::move(response));
    };
}

std::string gossip_metrics(const core::Passing::Usage& usage) {
    std::string text;
    const auto add = [&](std::string_view metric, std::string_view type, std::string_view help, std::uint64_t value) {
        text += fmt::format("# HELP rhizome_passing_{0} {2}\n# TYPE rhizome_passing_{0} {1}\nrhizome_passing_{0} {3}\n",
                            metric, type, help, value);
    };
    add("documents", "gauge", "Events and leases off the chain, and deletions of them that are remembered.",
        usage.records);
    add("bytes", "gauge", "Their size.", usage.bytes);
    add("taken_total", "counter", "Versions of them taken from other members.", usage.taken);
    add("left_out_total", "counter", "Versions not taken because their members wrote too many.", usage.left_out);
    return text;
}

std::string watching_metrics(const json::Object& watching) {
    std::string text;
    const auto counter = [&](std::string_view metric, std::string_view help, std::string_view member) {
        const json::Value* value = watching.find(member);
        text += fmt::format("# HELP rhizome_watch_{0} {1}\n# TYPE rhizome_watch_{0} counter\nrhizome_watch_{0} {2}\n",
                            metric, help, value == nullptr ? 0 : value->if_int64().value_or(0));
    };
    counter("blocks_total", "Blocks that the watchtower judged.", "blocks");
    counter("short_blocks_total", "Of those, how many left out what was broadcast in time.", "shortBlocks");
    counter("left_out_total", "Transactions left out, once for each block that lacks them.", "leftOut");
    counter("alerts_total", "Alerts about members.", "alertsTotal");
    return text;
}

}  // namespace rhizome::node
