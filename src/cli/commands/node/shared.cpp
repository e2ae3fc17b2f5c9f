// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/node/shared.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "http/message.h"

namespace rhizome::cli {
namespace {

bool is_true(const json::Value& value, std::string_view name) {
    const json::Value* found = value.find(name);
    return found != nullptr && found->if_boolean().value_or(false);
}
/// How long ago the time at that place is.
std::string age_at(const json::Value& value, std::initializer_list<std::string_view> path, Time now) {
    const auto time = from_rfc3339(value.text_at(path));
    return time ? age_text(now - *time) : "-";
}

/// When a block was, by its stamp.
std::string stamp_at(const json::Value& value, std::initializer_list<std::string_view> path, Time now) {
    const auto time = from_rfc3339(value.text_at(path));
    // A clock is wrong, or was: a stamp that lies ahead is no age.
    if (time && *time >= now + seconds{1}) return age_text(*time - now) + " ahead of this machine's clock";
    return age_at(value, path, now) + " ago";
}

std::string members_table(const Console& console, const json::Value& status) {
    Table table{{"NODE", "STATUS", "ROLE", "LINK", "PING", "HEARD"}};
    const std::string_view self = status.text_at({"key"});
    const json::Value* members = status.find("members");
    const json::Value* peers = status.find("peers");
    if (members == nullptr || !members->is_array()) return "";
    for (const json::Value& member : *members->if_array()) {
        const std::string_view key = member.text_at({"key"});
        std::string link = key == self ? "itself" : "-";
        std::string ping = "-";
        if (peers != nullptr && peers->is_array())
            for (const json::Value& peer : *peers->if_array()) {
                if (peer.text_at({"key"}) != key) continue;
                link = std::string{peer.text_at({"address"})};
                if (const auto micros = peer.number_at({"pingMicros"}))
                    ping = fmt::format("{}.{} ms", micros / 1'000, micros / 100 % 10);
            }
        const bool ready = is_true(member, "ready");
        const Cell state = is_true(member, "accused") ? Cell{"Accused", Tone::Bad}
                           : ready                    ? Cell{"Ready", Tone::Good}
                                                      : Cell{"Silent", Tone::Warning};
        table.add({std::string{member.text_at({"node"})}, state, is_true(member, "voter") ? "voter" : "member", link,
                   ping, fmt::format("{}s ago", member.number_at({"silentSeconds"}))});
    }
    return table.render(console.out_style);
}

/// How far this machine's clock is from those of its peers: the middle one counts, since one may be wrong.
std::string clock_text(const json::Value& status) {
    std::vector<std::int64_t> offsets;
    if (const json::Value* peers = status.find("peers"); peers != nullptr && peers->is_array())
        for (const json::Value& peer : *peers->if_array())
            if (const json::Value* offset = peer.find("clockOffsetMicros"))
                offsets.push_back(offset->if_int64().value_or(0));
    if (offsets.empty()) return "nobody to compare it with";
    std::sort(offsets.begin(), offsets.end());
    const std::int64_t middle = offsets[offsets.size() / 2];
    const std::int64_t apart = std::abs(middle);
    return fmt::format("{}.{} ms {} {} peer{}", apart / 1'000, apart / 100 % 10, middle > 0 ? "behind" : "ahead of",
                       offsets.size(), offsets.size() == 1 ? "" : "s");
}

/// What a watchtower told, newest first.
std::string alerts_text(const json::Value& status) {
    std::string text;
    const json::Value* alerts = status.find_path({"watching", "alerts"});
    if (alerts == nullptr || !alerts->is_array()) return text;
    for (const json::Value& alert : *alerts->if_array())
        text += fmt::format("\nalert: {} {} ({}): {}\n", alert.text_at({"at"}),
                            alert.text_at({"node"}).empty() ? alert.text_at({"key"}) : alert.text_at({"node"}),
                            alert.text_at({"kind"}), alert.text_at({"what"}));
    return text;
}

/// What was unusual on the chain since the start, newest first.
std::string unusual_text(const json::Value& status) {
    std::string text;
    const json::Value* last = status.find_path({"unusual", "last"});
    if (last == nullptr || !last->is_array()) return text;
    for (const json::Value& one : *last->if_array())
        text +=
            fmt::format("\nunusual: {} ({}): {}\n", one.text_at({"at"}), one.text_at({"kind"}), one.text_at({"what"}));
    if (!text.empty())
        text +=
            "  try: 'rhizome watch' shows who changes what; quotas, cooldown and locks bound it (spec of the "
            "Cluster)\n";
    return text;
}

std::string warnings_text(const json::Value& status) {
    std::string text;
    const json::Value* warnings = status.find("warnings");
    if (warnings == nullptr || !warnings->is_array()) return text;
    for (const json::Value& warning : *warnings->if_array())
        text += fmt::format("\nwarning: {}\n  try: {}\n", warning.text_at({"what"}), warning.text_at({"hint"}));
    return text;
}

}  // namespace

Result<std::unique_ptr<node::RpcClient>> running_node(const Invocation& call) {
    TRY(const auto data, data_folder_of(call));
    auto client = node::RpcClient::connect(data);
    if (client) return client;
    return fail(ErrorKind::NotFound, fmt::format("no node runs on {}\n'{} up{}' starts one; --data names another "
                                                 "directory",
                                                 printable(data.native()), call.program, data_words(call)));
}

std::unique_ptr<node::RpcClient> if_running_node(const Invocation& call) {
    const auto data = data_folder_of(call);
    if (!data) return nullptr;
    auto client = node::RpcClient::connect(*data);
    return client ? *std::move(client) : nullptr;
}

Result<std::vector<json::Value>> entries_below(node::RpcClient& client, std::string_view prefix) {
    std::vector<json::Value> entries;
    std::string after;
    for (;;) {
        TRY(const auto page, client.get(fmt::format("/rhizome/v1/state/list?prefix={}&documents=true{}",
                                                    http::percent_encode(prefix), after)));
        if (const json::Value* items = page.find("items"); items != nullptr && items->is_array())
            entries.insert(entries.end(), items->if_array()->begin(), items->if_array()->end());
        const std::string_view next = page.text_at({"next"});
        if (next.empty()) return entries;
        after = "&after=" + http::percent_encode(next);
    }
}

Result<std::optional<json::Value>> document_at(node::RpcClient& client, const state::Path& path) {
    const auto entry = client.get("/rhizome/v1/state?path=" + http::percent_encode(path.text()));
    if (!entry && entry.error().kind == ErrorKind::NotFound) return std::optional<json::Value>{};
    if (!entry) return Fail{entry.error()};
    const json::Value* document = entry->find("document");
    return document == nullptr ? std::optional<json::Value>{} : std::optional{*document};
}

namespace {

/// `2 deployments.apps, 7 pods`.
std::string only_stored_text(const json::Value& status) {
    const json::Value* kinds = status.find("onlyStored");
    std::string text;
    if (kinds == nullptr || !kinds->is_array()) return text;
    for (const json::Value& one : *kinds->if_array())
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one.number_at({"count"}), one.text_at({"resource"}));
    return text;
}

}  // namespace

std::string status_text(const Console& console, const json::Value& status) {
    const Time now = from_rfc3339(status.text_at({"now"})).value_or(console.now());
    Fields fields;
    fields.add("cluster",
               fmt::format("{} ({}..)", status.text_at({"cluster"}), status.text_at({"chainId"}).substr(0, 16)));
    const std::string role{status.text_at({"role"})};
    if (role.empty() || role == "member") {
        fields.add("node", is_true(status, "member") ? Cell{std::string{status.text_at({"node"})}}
                                                     : Cell{"not a member yet", Tone::Warning});
    } else if (is_true(status, "member")) {
        fields.add("node", {fmt::format("{}, a member that runs as {}: it neither seals nor votes",
                                        status.text_at({"node"}), role),
                            Tone::Warning});
    } else {
        fields.add("role", role);
    }
    const bool is_light = role == "light";
    if (!is_light) fields.add("key", std::string{status.text_at({"key"})});
    fields.add("height", fmt::format("{} ({})", status.number_at({"height"}), stamp_at(status, {"time"}, now)));
    fields.add("final",
               fmt::format("{} ({})", status.number_at({"final", "height"}), stamp_at(status, {"final", "time"}, now)));
    if (const auto from = status.number_at({"historyFrom"}); from > 0)
        fields.add("history", fmt::format("from block {} on; older ones are not kept here", from));
    const auto coming = status.number_at({"votersToCome"});
    fields.add("voters",
               fmt::format("{}, {} make a quorum{}", status.number_at({"voters"}), status.number_at({"quorum"}),
                           coming > 0 ? fmt::format("; {} from the next change on", coming) : ""));
    const json::Value* peers = status.find("peers");
    if (!is_light)
        fields.add("peers", fmt::format("{}", peers != nullptr && peers->is_array() ? peers->if_array()->size() : 0));
    if (!is_light) fields.add("clock", clock_text(status));
    if (const auto generation = status.number_at({"generation"}); generation > 0)
        fields.add("recoveries", {fmt::format("{}", generation), Tone::Warning});
    if (!is_light) fields.add("pending", fmt::format("{} transactions", status.number_at({"pending"})));
    fields.add("documents", fmt::format("{}", status.number_at({"documents"})));
    if (const std::string kinds = only_stored_text(status); !kinds.empty())
        fields.add("not acted on", {kinds + ": stored and shown, nothing more in this version", Tone::Warning});
    fields.add("version", std::string{status.text_at({"version"})});
    fields.add("up for", age_at(status, {"started"}, now));
    if (const json::Value* watching = status.find("watching"))
        fields.add("watched",
                   fmt::format("{} blocks, of which {} left something out; {} alerts", watching->number_at({"blocks"}),
                               watching->number_at({"shortBlocks"}), watching->number_at({"alertsTotal"})));
    std::string text = fields.render(console.out_style) + "\n" + members_table(console, status);
    return text + alerts_text(status) + unusual_text(status) + warnings_text(status);
}

}  // namespace rhizome::cli
