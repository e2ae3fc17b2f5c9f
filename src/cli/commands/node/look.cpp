// SPDX-License-Identifier: Apache-2.0
// `rhizome status`, `peers` and `watch`: what a running node says.
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/node/shared.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "ledger/block.h"

namespace rhizome::cli {
namespace {

Result<void> run_status(Invocation& call) {
    TRY(const auto client, asked_node(call));
    TRY(const auto status, client->get("/rhizome/v1/status"));
    print_data(call, status, [&] { return status_text(call.console, status); });
    return ok();
}

Result<void> run_peers(Invocation& call) {
    TRY(const auto client, asked_node(call));
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
        return fmt::format("{}  from     height {}; the newest is {}, final {}\n", time, number("height"),
                           number("tip"), number("final"));
    if (type == "final")
        return fmt::format("{}  {}    height {}\n", time, console.out_style.paint(Tone::Good, "final"),
                           number("height"));
    if (type == "condition")
        return fmt::format("{}  {} {}\n", time, event.text_at({"condition"}),
                           event.find("holds")->if_boolean().value_or(false) ? "begins" : "is over");
    const std::string word = type == "undone" ? console.out_style.paint(Tone::Warning, "undone") + "  " : "block   ";
    std::string text =
        fmt::format("{}  {} height {} {}..\n", time, word, number("height"), event.text_at({"hash"}).substr(0, 16));
    if (const json::Value* changed = event.find("changes"); changed != nullptr && changed->is_array())
        for (const json::Value& one : *changed->if_array())
            text += fmt::format("{:14}{} {}\n", "", one.text_at({"verb"}), printable(one.text_at({"path"})));
    return text;
}

Result<void> run_watch(Invocation& call) {
    TRY(const auto client, asked_node(call));
    const bool as_json = format_of(call) != Format::Table;
    json::Object wish;
    if (const auto prefix = call.if_text("prefix")) wish.set("prefix", *prefix);
    if (const auto after = call.if_text("after")) {
        const auto hash = ledger::BlockHash::from_hex(*after);
        const auto height = json::Number::from_text(*after);
        if (!hash && !height)
            return fail(ErrorKind::Usage, fmt::format("--after {} is neither a height nor a hash", printable(*after)));
        wish.set("after", hash ? json::Object{{"hash", *after}} : json::Object{{"height", *height}});
    }
    return client->subscribe(wish, [&](const json::Value& event) {
        if (as_json) {
            call.console.out << json::print(event) << '\n';
        } else {
            call.console.out << line_of(call.console, event);
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
        .options = with_node_options({data_option(), output_option()}),
        .variables = {key::passphrase_variable()},
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
        .options = with_node_options({data_option(), output_option()}),
        .variables = {key::passphrase_variable()},
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
            "from doing its part. When the chain goes over to another branch, the blocks that are left are told as "
            "undone, newest first, before those that take their place. With -o json one object a line; --after goes on "
            "where an earlier call ended. Ctrl-C ends it; so does reading more slowly than the chain grows.",
        .examples = {{"what happens", "rhizome watch"},
                     {"what happens to one namespace", "rhizome watch --prefix /namespaces/web"},
                     {"all since block 120, for a program", "rhizome watch --after 120 -o json"}},
        .options = with_node_options(
            {data_option(),
             {.name = "prefix", .value_name = "PATH", .help = "tell changes of what lies below this path only"},
             {.name = "after",
              .value_name = "BLOCK",
              .help = "begin behind this block: a height, or a hash, which tells also what was undone since"},
             output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_watch,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
