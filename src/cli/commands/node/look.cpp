// SPDX-License-Identifier: Apache-2.0
// `rhizome status`, `peers` and `watch`: what a running node says.
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/node/shared.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "runtime/interrupt.h"

namespace rhizome::cli {
namespace {

Result<void> run_status(Invocation& call) {
    TRY(const auto client, running_node(call));
    TRY(const auto status, client->get("/rhizome/v1/status"));
    print_data(call, status, [&] { return status_text(call.console, status); });
    return ok();
}

Result<void> run_peers(Invocation& call) {
    TRY(const auto client, running_node(call));
    TRY(const auto reply, client->get("/rhizome/v1/peers"));
    print_data(call, reply, [&]() -> std::string {
        const json::Value* peers = reply.find("peers");
        if (peers == nullptr || !peers->is_array() || peers->if_array()->empty())
            return "no peers: this node is alone, or cannot reach the others\n";
        Table table{{"NODE", "ADDRESS", "DIRECTION", "PING", "CLOCK", "AGE", "SCORE", "KEY"}};
        for (const json::Value& peer : *peers->if_array()) {
            const auto micros = [&](std::string_view name) -> std::string {
                const json::Value* value = peer.find(name);
                const auto number = value == nullptr ? std::nullopt : value->if_int64();
                return number ? fmt::format("{}{}.{} ms", *number < 0 ? "-" : "", std::abs(*number) / 1'000,
                                            std::abs(*number) / 100 % 10)
                              : "-";
            };
            const auto since = from_rfc3339(peer.text_at({"since"}));
            const std::string node{peer.text_at({"node"})};
            const json::Value* score = peer.find("score");
            table.add({node.empty() ? "-" : node, std::string{peer.text_at({"address"})},
                       std::string{peer.text_at({"direction"})}, micros("pingMicros"), micros("clockOffsetMicros"),
                       since ? age_text(call.console.now() - *since) : "-",
                       fmt::format("{}", score == nullptr ? 0 : score->if_int64().value_or(0)),
                       std::string{peer.text_at({"key"}).substr(0, 16)} + ".."});
        }
        return table.render(call.console.out_style);
    });
    return ok();
}

std::string line_of(const Console& console, const json::Value& event) {
    const std::string_view type = event.text_at({"type"});
    const auto number = [&](std::string_view name) {
        const json::Value* value = event.find(name);
        return value == nullptr ? 0 : value->if_int64().value_or(0);
    };
    const std::string time = to_rfc3339(console.now(), Precision::Millis).substr(11, 12);
    if (type == "start")
        return fmt::format("{}  now      height {}, final {}\n", time, number("height"), number("final"));
    if (type == "final")
        return fmt::format("{}  {}    height {}\n", time, console.out_style.paint(Tone::Good, "final"),
                           number("height"));
    if (type == "condition")
        return fmt::format("{}  {} {}\n", time, event.text_at({"condition"}),
                           event.find("holds")->if_boolean().value_or(false) ? "begins" : "is over");
    if (type == "dropped") return fmt::format("{}  the node cut us off: {}\n", time, event.text_at({"why"}));
    std::string text =
        fmt::format("{}  block    height {} {}..", time, number("height"), event.text_at({"hash"}).substr(0, 16));
    const json::Value* undone = event.find("undone");
    if (undone != nullptr && undone->is_array() && !undone->if_array()->empty())
        text += console.out_style.paint(Tone::Warning,
                                        fmt::format("  another branch: {} undone", undone->if_array()->size()));
    text += "\n";
    if (const json::Value* changed = event.find("changed"); changed != nullptr && changed->is_array())
        for (const json::Value& one : *changed->if_array())
            text += fmt::format("{:14}{} {}\n", "", one.text_at({"what"}), one.text_at({"path"}));
    return text;
}

Result<void> run_watch(Invocation& call) {
    TRY(const auto client, running_node(call));
    const bool as_json = format_of(call) != Format::Table;
    return client->lines("/rhizome/v1/watch", [&](std::string_view line) {
        if (as_json) {
            call.console.out << line << '\n';
        } else if (const auto event = json::parse(line)) {
            call.console.out << line_of(call.console, *event);
        }
        call.console.out.flush();
        return call.console.out.good();
    });
}

}  // namespace

Command status_command() {
    return {
        .name = "status",
        .summary = "Show how the node and its cluster are",
        .details =
            "One screen: how far the chain and its finality are, who the members are and whether they are heard "
            "of, and what is wrong, each with what to try.",
        .examples = {{"how it is", "rhizome status"}, {"for programs", "rhizome status -o json"}},
        .options = {data_option(), output_option()},
        .run = run_status,
        .group = std::string{kGroupHost},
    };
}

Command peers_command() {
    return {
        .name = "peers",
        .summary = "List the nodes that this one is linked to",
        .details =
            "CLOCK is how far a peer's clock is ahead of ours; SCORE counts what no honest peer sends, and at 100 "
            "a peer is banned for an hour. Bans are by this node's own evidence only: lists of bad peers are not "
            "exchanged, because whoever could write on them could cut honest nodes off.",
        .examples = {{"who is there", "rhizome peers"}},
        .options = {data_option(), output_option()},
        .run = run_peers,
        .group = std::string{kGroupHost},
    };
}

Command watch_command() {
    return {
        .name = "watch",
        .summary = "Show blocks and changes as they come",
        .details =
            "A line for each block, with what it changed, for finality, and for everything that keeps the node "
            "from doing its part. With -o json one object a line. Ctrl-C ends it.",
        .examples = {{"what happens", "rhizome watch"}},
        .options = {data_option(), output_option()},
        .run = run_watch,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
