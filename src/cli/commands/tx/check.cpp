// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/key/shared.h"
#include "cli/commands/tx/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/script_view.h"
#include "cli/text.h"
#include "consensus/consensus_rules.h"
#include "ledger/check.h"
#include "ledger/limits.h"
#include "ledger/tx_host.h"
#include "ledger/validator.h"
#include "script/assembler.h"
#include "script/tracer.h"

/// `tx check`.
namespace rhizome::cli::tx {
namespace {

using ledger::Effects;
using ledger::InputRole;
using ledger::InputUse;
using ledger::Reject;

/// How long after the state's own block the next one is taken to come, when nothing else is said.
constexpr seconds kNextBlock{1};

Result<ledger::NextBlock> next_block(const Invocation& call, const World& world) {
    Time time = world.of_file ? world.at.time + kNextBlock : std::max(world.now, world.at.time + milliseconds{1});
    if (const auto text = call.if_text("at")) {
        auto at = from_rfc3339(*text);
        if (const auto moment = script::parse_moment(*text); !at && moment) at = Time::from_unix_seconds(*moment);
        if (const auto wait = parse_duration(*text); !at && wait) at = world.at.time + *wait;
        if (!at)
            return fail(ErrorKind::Usage,
                        fmt::format("--at {} is no date, time or duration such as 2d", printable(*text)));
        time = Time::from_unix_millis(at->unix_millis());
        if (time <= world.at.time)
            return fail(ErrorKind::Usage, fmt::format("--at {}: the next block comes after the state's, which is of {}",
                                                      printable(*text), to_rfc3339(world.at.time, Precision::Millis)));
    }
    return ledger::NextBlock{
        .parent = world.at.tip, .height = world.at.height + 1, .time = time, .parent_time = world.at.time};
}

/// Roles as the decision had them: it, not the guess before signing, says what was consumed.
InputRole role_of(const ledger::Outpoint& outpoint, const InputUse& use, const Effects& effects) {
    const auto in = [&](const std::vector<ledger::Outpoint>& list) {
        return std::find(list.begin(), list.end(), outpoint) != list.end();
    };
    if (in(effects.consumed)) return use.role == InputRole::VersionOnly ? InputRole::VersionOnly : InputRole::Consumed;
    return in(effects.locks_used) ? InputRole::Authority : use.role;
}

struct Outcome {
    std::vector<std::string> creates{}, updates{}, deletes{};
};
Outcome outcome_of(const Effects& effects) {
    Outcome outcome;
    for (const std::size_t output : effects.stores) {
        const state::Path& path = effects.tx->outputs[output].resource.path;
        const bool created = std::find(effects.creates.begin(), effects.creates.end(), path) != effects.creates.end();
        (created ? outcome.creates : outcome.updates).push_back(path.text());
    }
    for (const state::Path& path : effects.removes) outcome.deletes.push_back(path.text());
    return outcome;
}

json::Array texts(const std::vector<std::string>& list) {
    json::Array array;
    for (const std::string& text : list) array.emplace_back(text);
    return array;
}

json::Object block_data(const ledger::NextBlock& next) {
    return {{"height", next.height.number()}, {"time", to_rfc3339(next.time, Precision::Millis)}};
}

Result<void> accepted(Invocation& call, const Effects& effects, const std::vector<InputUse>& uses,
                      const ledger::NextBlock& next) {
    const Outcome outcome = outcome_of(effects);
    json::Array inputs;
    std::string lines;
    const auto line = [&](std::string_view what, const std::string& value) {
        lines += fmt::format("  {:<10}{}\n", what, printable(value));
    };
    for (const std::string& path : outcome.creates) line("creates", path);
    for (const std::string& path : outcome.updates) line("updates", path);
    for (const std::string& path : outcome.deletes) line("deletes", path + ", and all below it");
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const auto& outpoint = effects.tx->tx.inputs[i].previous;
        const InputRole role = role_of(outpoint, uses[i], effects);
        const std::string path = uses[i].of != nullptr ? uses[i].of->path().text() : outpoint_text(outpoint);
        inputs.push_back(json::Object{{"input", i},
                                      {"role", name(role)},
                                      {"path", path},
                                      {"txid", outpoint.change.hex()},
                                      {"vout", outpoint.index}});
        line(role == InputRole::Authority ? "by" : "consumes", path);
    }
    const json::Object data{{"ok", true},
                            {"txid", effects.tx->id.hex()},
                            {"block", block_data(next)},
                            {"creates", texts(outcome.creates)},
                            {"updates", texts(outcome.updates)},
                            {"deletes", texts(outcome.deletes)},
                            {"inputs", std::move(inputs)},
                            {"signatureChecks", effects.checks},
                            {"dependsOnBlock", effects.depends_on_block}};
    print_data(call, data, [&] {
        std::string text = call.console.out_style.paint(Tone::Good, "OK");
        text += fmt::format(": good in the block of height {} at {}, {} signature check{}{}\n", next.height,
                            to_rfc3339(next.time, Precision::Millis), effects.checks, effects.checks == 1 ? "" : "s",
                            effects.depends_on_block ? "; another block may judge otherwise" : "");
        return text + lines;
    });
    return ok();
}

struct TracedInput {
    script::Trace trace;
    Bytes unlocking;
    Bytes locking;
};

Result<void> refused(Invocation& call, const Reject& reject, const TracedInput* traced, const KnownKeys& keys,
                     const ledger::NextBlock& next) {
    json::Object data{{"ok", false}, {"code", name(reject.code)}, {"why", reject.why}};
    if (reject.input) data.set("input", *reject.input);
    if (!reject.script_error.empty()) data.set("scriptError", reject.script_error);
    if (reject.position) data.set("position", *reject.position);
    data.set("block", block_data(next));
    if (traced != nullptr) data.set("trace", trace_data(traced->trace));
    print_data(call, data, [&] {
        std::string text = call.console.out_style.paint(Tone::Bad, name(reject.code)) + "\n";
        if (traced != nullptr)
            text += "\n" + trace_table(traced->trace, traced->unlocking, traced->locking, keys, call.console);
        return text;
    });
    Error error = error_of(reject);
    if (!reject.script_error.empty() && !call.flag("trace")) error.message += "\n--trace shows the script step by step";
    return Fail{std::move(error)};
}

Result<void> run_check(Invocation& call) {
    TRY(const ledger::Tx tx, read_tx(call.console, call.argument("FILE")));
    TRY(const World world, world_of(call));
    TRY(const auto next, next_block(call, world));
    const KnownKeys keys = keys_of(call);
    const auto checked = ledger::check_tx(tx);
    if (!checked) return refused(call, checked.error(), nullptr, keys, next);

    const auto uses = ledger::uses_of_inputs(**checked, world.state);
    const ledger::WorkingState working{world.state.view(), world.state.index()};
    const ledger::Place place = ledger::place_of(world.state, next);
    const ledger::Rules kinds;
    const consensus::CurveSignatures signatures;
    const consensus::ConsensusRules rules{signatures, kinds};
    ledger::SignatureCache cache;
    const auto effects = ledger::decide(*checked, working, place, rules, cache, ledger::kBlockChecksMax);
    if (effects) return accepted(call, *effects, uses, next);

    const Reject& reject = effects.error();
    if (!call.flag("trace") || !reject.input || reject.script_error.empty())
        return refused(call, reject, nullptr, keys, next);
    const std::size_t index = *reject.input;
    std::vector<ledger::SignatureCache::Key> found;
    const ledger::TxHost host{**checked, index, uses[index].spent, place, world.state.view(), cache, found};
    TracedInput traced{.trace = {}, .unlocking = tx.inputs[index].unlocking, .locking = uses[index].lock};
    const auto limit = static_cast<std::uint32_t>(ledger::checks_allowed((*checked)->bytes));
    traced.trace =
        script::trace(traced.unlocking, traced.locking, host, script::kChainRules, {.signature_checks = limit});
    return refused(call, reject, &traced, keys, next);
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
        .options = {state_option(),
                    data_option(),
                    {.name = "at", .value_name = "TIME", .help = "the block's time, or how long after the state's"},
                    {.name = "trace", .help = "show the script that refused, step by step"},
                    output_option(),
                    key::keys_option()},
        .run = run_check,
    };
}

}  // namespace rhizome::cli::tx
