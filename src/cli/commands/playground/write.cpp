// SPDX-License-Identifier: Apache-2.0
// `rhizome playground write`: an order to one node, and what becomes of it.
#include <fmt/core.h>

#include "cli/commands/playground/orders.h"
#include "cli/commands/playground/verbs.h"
#include "cli/print.h"
#include "cli/text.h"
#include "runtime/entropy.h"

namespace rhizome::cli::playground {
namespace {

std::string time_text(microseconds time) {
    return fmt::format("{}.{} ms", time.count() / 1'000, time.count() / 100 % 10);
}

/// Whether those who can talk with this node are enough to make anything final.
struct Voices {
    std::set<unsigned> side{};
    std::int64_t quorum = 0;
    [[nodiscard]] bool are_enough() const { return static_cast<std::int64_t>(side.size()) >= quorum; }
};
Result<Voices> voices_of(const Playground& on, unsigned node, node::RpcClient& client) {
    TRY(const auto status, client.get("/rhizome/v1/status"));
    const json::Value* quorum = status.find("quorum");
    return Voices{.side = side_of(node, on.nodes_up(), broken_ways(on.record().cuts)),
                  .quorum = quorum == nullptr ? 0 : quorum->if_int64().value_or(0)};
}

json::Object data_of(const Order& order, const OrderEnd& end, unsigned node, const Voices& voices) {
    json::Object data{{"node", fmt::format("n{}", node)},
                      {"namespace", order.name},
                      {"txid", order.id},
                      {"stage", end.stage},
                      {"quorumReachable", voices.are_enough()}};
    if (end.height >= 0) data.set("height", end.height);
    if (end.accepted) data.set("acceptedMicros", end.accepted->count());
    if (end.included) data.set("includedMicros", end.included->count());
    if (end.final) data.set("finalMicros", end.final->count());
    return data;
}

std::string text_of(const Style& style, const Order& order, const OrderEnd& end, unsigned node, const Voices& voices,
                    std::string_view wanted) {
    std::string text = fmt::format("n{} is asked for the Namespace {}\n", node, order.name);
    const auto line = [&](std::string_view stage, const std::optional<microseconds>& when, const std::string& more) {
        if (when) text += fmt::format("  {:9} after {:>9}{}\n", stage, time_text(*when), more);
    };
    line("accepted", end.accepted, "");
    line("included", end.included, fmt::format("   block {}", end.height));
    line("final", end.final, "");
    if (!end.final && wanted == "final")
        text += voices.are_enough()
                    ? fmt::format("  {}\n", style.paint(Tone::Warning, "not final in the time given; it may still be"))
                    : fmt::format(
                          "  {}: {} of {} voters that are needed can be reached ({}).\n"
                          "  It is kept, and becomes final when enough are together again.\n",
                          style.paint(Tone::Warning, "not final"), voices.side.size(), voices.quorum,
                          node_names(voices.side));
    return text;
}

Result<void> run_write(Invocation& call) {
    TRY(const auto on, opened(call));
    TRY(const unsigned node, node_of(call, on));
    const auto most = parse_duration(call.text("timeout"));
    if (!most || *most <= microseconds{0})
        return fail(ErrorKind::Usage,
                    fmt::format("--timeout {} is no duration: 10s, 500ms", printable(call.text("timeout"))));
    TRY(const auto client, on.client(node));
    TRY(const auto orders, Orders::open(on.keys()));
    TRY(const auto voices, voices_of(on, node, *client));
    std::string name = call.argument("NAME");
    if (name.empty()) name = fmt::format("play-{:08x}", runtime::random_number() & 0xffffffff);
    TRY(const auto order, orders.make(*client, name));
    const std::string wanted = call.text("wait");
    // Nobody is made to wait for what cannot come.
    const bool in_vain = wanted == "final" && !voices.are_enough();
    TRY(const auto end, send_order(*client, order, in_vain ? "included" : wanted, *most));
    if (end.stage == "refused")
        return fail(ErrorKind::Conflict, fmt::format("n{} refuses it: {}", node, printable(end.why)));
    print_data(call, data_of(order, end, node, voices),
               [&] { return text_of(call.console.out_style, order, end, node, voices, wanted); });
    const bool arrived = wanted == "accepted" || (wanted == "included" ? end.included : end.final).has_value();
    if (arrived || in_vain) return ok();
    return fail(ErrorKind::Unavailable, fmt::format("it is not {} after {}\n'{} playground status' shows how the nodes "
                                                    "are; --timeout waits longer",
                                                    wanted, call.text("timeout"), call.program));
}

}  // namespace

Command write_command() {
    return {.name = "write",
            .summary = "Give a node an order, and tell what becomes of it",
            .details =
                "Asks the node for a new Namespace, with the key of the playground's owner, and tells when that was "
                "accepted (the node has it), included (it is in a block that survives a power failure of this node) "
                "and final (nothing undoes it any more).\n"
                "\n"
                "A side of a cut with too few voters accepts and includes, but makes nothing final; then that is said "
                "and not waited for.",
            .examples = {{"to the second node", "rhizome playground write 2"},
                         {"a Namespace by name", "rhizome playground write 2 from-the-left"},
                         {"only until it is in a block", "rhizome playground write 2 --wait included"}},
            .arguments = {node_argument("which node: 1 or n1"),
                          {.name = "NAME", .help = "of the Namespace; default: one that is new", .required = false}},
            .options = {folder_option(),
                        {.name = "wait",
                         .value_name = "STAGE",
                         .help = "how far to wait",
                         .fallback = "final",
                         .choices = {{"accepted", "the node has taken it"},
                                     {"included", "it is in a block"},
                                     {"final", "nothing undoes it any more"}}},
                        {.name = "timeout", .value_name = "DURATION", .help = "how long to wait", .fallback = "30s"},
                        output_option()},
            .run = run_write};
}

}  // namespace rhizome::cli::playground
