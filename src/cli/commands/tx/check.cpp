// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/tx/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/script_view.h"
#include "cli/text.h"
#include "http/message.h"
#include "ledger/json_form.h"
#include "node/judging.h"
#include "script/assembler.h"
#include "script/trace_json.h"

/// `tx check`.
namespace rhizome::cli::tx {
namespace {

/// How long after the state's own block the next one is taken to come, when nothing else is said.
constexpr seconds kNextBlock{1};

/// The time of `--at`, which counts from that of the state.
Result<std::optional<Time>> time_wished(const Invocation& call, Time of_state) {
    const auto text = call.if_text("at");
    if (!text) return std::optional<Time>{};
    auto at = from_rfc3339(*text);
    if (const auto moment = script::parse_moment(*text); !at && moment) at = Time::from_unix_seconds(*moment);
    if (const auto wait = parse_duration(*text); !at && wait) at = of_state + *wait;
    if (!at)
        return fail(ErrorKind::Usage, fmt::format("--at {} is no date, time or duration such as 2d", printable(*text)));
    const Time time = Time::from_unix_millis(at->unix_millis());
    if (time <= of_state)
        return fail(ErrorKind::Usage, fmt::format("--at {}: the next block comes after the state's, which is of {}",
                                                  printable(*text), to_rfc3339(of_state, Precision::Millis)));
    return std::optional{time};
}

Result<json::Value> judged_here(Invocation& call, const ledger::Tx& tx) {
    TRY(const World world, world_of(call));
    const Time soon = world.of_file ? world.at.time + kNextBlock : std::max(world.now, world.at.time + milliseconds{1});
    TRY(const auto wished, time_wished(call, world.at.time));
    const ledger::NextBlock next{.parent = world.at.tip,
                                 .height = world.at.height + 1,
                                 .time = wished.value_or(soon),
                                 .parent_time = world.at.time};
    return json::Value{node::judge_tx(tx, world.state, next, call.flag("trace"))};
}

Result<json::Value> judged_by_node(const Invocation& call, node::RpcClient& client, const ledger::Tx& tx) {
    std::string target = "/rhizome/v1/txs?dryRun=true";
    if (call.flag("trace")) target += "&trace=true";
    if (call.if_text("at")) {
        TRY(const auto tip, client.get("/rhizome/v1/tip"));
        const auto of_state = from_rfc3339(tip.text_at({"time"}));
        if (!of_state) return fail(ErrorKind::Failed, "the node's answer cannot be read");
        TRY(const auto wished, time_wished(call, *of_state));
        target += "&time=" + http::percent_encode(to_rfc3339(*wished, Precision::Millis));
    }
    return client.post(target, json::print(ledger::to_json(tx)));
}

bool is_true(const json::Value& value, std::string_view key) {
    const json::Value* found = value.find(key);
    return found != nullptr && found->if_boolean().value_or(false);
}
const json::Array& rows_at(const json::Value& value, std::string_view key) {
    static const json::Array kNone;
    const json::Value* found = value.find(key);
    return found != nullptr && found->is_array() ? *found->if_array() : kNone;
}

std::string accepted_text(const Style& style, const json::Value& judged) {
    std::string lines;
    const auto line = [&](std::string_view what, std::string_view value, std::string_view more = "") {
        lines += fmt::format("  {:<10}{}{}\n", what, printable(value), more);
    };
    for (const auto& [key, more] :
         {std::pair{"creates", ""}, std::pair{"updates", ""}, std::pair{"deletes", ", and all below it"}})
        for (const json::Value& path : rows_at(judged, key))
            if (path.is_string()) line(key, *path.if_string(), more);
    for (const json::Value& input : rows_at(judged, "inputs")) {
        const std::string_view path = input.text_at({"path"});
        const std::string unknown =
            fmt::format("{}..:{}", input.text_at({"txid"}).substr(0, 16), input.number_at({"vout"}));
        line(input.text_at({"role"}) == name(ledger::InputRole::Authority) ? "by" : "consumes",
             path.empty() ? std::string_view{unknown} : path);
    }
    const auto checks = judged.number_at({"signatureChecks"});
    return style.paint(Tone::Good, "OK") +
           fmt::format(": good in the block of height {} at {}, {} signature check{}{}\n",
                       judged.number_at({"block", "height"}), judged.text_at({"block", "time"}), checks,
                       checks == 1 ? "" : "s",
                       is_true(judged, "dependsOnBlock") ? "; another block may judge otherwise" : "") +
           lines;
}

std::string refused_text(const Console& console, const json::Value& judged, const KnownKeys& keys) {
    std::string text = console.out_style.paint(Tone::Bad, judged.text_at({"code"})) + "\n";
    const json::Value* form = judged.find("trace");
    if (form == nullptr) return text;
    const auto trace = script::trace_from_json(*form);
    const auto unlocking = from_hex(judged.text_at({"unlocking"}));
    const auto locking = from_hex(judged.text_at({"locking"}));
    if (!trace || !unlocking || !locking) return text;
    return text + "\n" + trace_table(*trace, *unlocking, *locking, keys, console);
}

Result<void> run_check(Invocation& call) {
    TRY(const ledger::Tx tx, read_tx(call.console, call.argument("FILE")));
    TRY(const auto client, node_to_ask(call));
    TRY(const auto judged, client ? judged_by_node(call, *client, tx) : judged_here(call, tx));
    const auto reject = node::refusal_in(judged);
    const KnownKeys keys = keys_of(call);
    print_data(call, judged, [&] {
        return reject ? refused_text(call.console, judged, keys) : accepted_text(call.console.out_style, judged);
    });
    if (!reject) return ok();
    Error error = error_of(*reject);
    if (!reject->script_error.empty() && !call.flag("trace"))
        error.message += "\n--trace shows the script step by step";
    return Fail{std::move(error)};
}

}  // namespace

Command check_command() {
    return {
        .name = "check",
        .summary = "Say what a transaction would do, or why it would be refused",
        .details =
            "Judges a transaction exactly as a node would in the block after the state: its form, its inputs, its "
            "signatures "
            "and its times. Prints what it creates, updates and deletes and by whose authority, or the refusal.\n"
            "\n"
            "The next block is taken to come now, or a second after an exported state's; --at says otherwise. Kinds "
            "and quotas are "
            "judged, "
            "policies and schemas are not: those are the node's.\n"
            "\n"
            "Exits with 0 when it is good; with 4 when nobody allowed it, 5 when something changed since or exists "
            "already, "
            "3 when something it needs is not there, and 1 for every other refusal.",
        .examples = {{"would this be taken", "rhizome tx check tx.json --state state.json"},
                     {"why does a lock not open", "rhizome tx check tx.json --state state.json --trace"},
                     {"in five days", "rhizome tx check tx.json --state state.json --at 5d"}},
        .arguments = {tx_argument()},
        .options = with_node_options(
            {state_option(),
             data_option(),
             {.name = "at", .value_name = "TIME", .help = "the block's time, or how long after the state's"},
             {.name = "trace", .help = "show the script that refused, step by step"},
             output_option(),
             key::keys_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_check,
    };
}

}  // namespace rhizome::cli::tx
