// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/key/shared.h"
#include "cli/commands/tx/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/print.h"
#include "cli/text.h"
#include "ledger/codec.h"
#include "ledger/json_form.h"
#include "ledger/resource.h"
#include "script/assembler.h"
#include "script/explain.h"
#include "script/script.h"

/// `tx decode`.
namespace rhizome::cli::tx {
namespace {

std::string lock_meaning(ByteView locking, const KnownKeys& keys) {
    if (locking.empty()) return "no lock: only its ancestors";
    return with_names(script::explain(locking).sentence, keys);
}

std::size_t pushes_in(ByteView unlocking) {
    std::size_t count = 0;
    script::InstructionReader reader{unlocking};
    while (reader.next()) ++count;
    return count;
}

std::string unlocking_text(ByteView unlocking) {
    if (unlocking.empty()) return "not signed";
    const std::size_t count = pushes_in(unlocking);
    return fmt::format("{} item{}, {} bytes", count, count == 1 ? "" : "s", unlocking.size());
}

std::string sequence_text(std::uint32_t sequence) {
    return sequence == ledger::kSequenceFinal ? "final" : fmt::format("{:#x}", sequence);
}

std::string lock_time_text(std::uint32_t lock_time) {
    if (lock_time == 0) return "none";
    if (lock_time < ledger::kLockTimeThreshold) return fmt::format("after height {}", lock_time);
    return fmt::format("after {}", to_rfc3339(Time::from_unix_seconds(lock_time)));
}

std::string expiry_text(std::uint32_t expiry) {
    return expiry == 0 ? "never" : to_rfc3339(Time::from_unix_seconds(expiry));
}

/// What an output says it does, or what is wrong with it.
struct OutputSaid {
    std::string change;
    std::string resource;
    std::string path{};
    bool good = true;
};
OutputSaid said(const ledger::Output& output) {
    const auto named = ledger::name_output(output.value);
    if (!named) return {.change = "malformed", .resource = to_text(named.error()), .good = false};
    switch (named->wish) {
        case ledger::Wish::Nothing: return {.change = "delete", .resource = "what an input names"};
        case ledger::Wish::Delete: return {"delete", named->resource.label(), named->resource.path.text()};
        case ledger::Wish::Store: return {"write", named->resource.label(), named->resource.path.text()};
    }
    unreachable("a Wish is one of three");
}

json::Value about(const ledger::Tx& tx, const KnownKeys& keys) {
    json::Array outputs;
    for (const ledger::Output& output : tx.outputs) {
        const OutputSaid what = said(output);
        json::Object row{{"change", what.change}, {"resource", what.resource}};
        if (!what.path.empty()) row.set("path", what.path);
        row.set("lock", lock_meaning(output.locking, keys));
        outputs.push_back(std::move(row));
    }
    return json::Object{{"wireId", ledger::wire_id_of(tx).hex()},
                        {"bytes", ledger::encoded_size(tx)},
                        {"lockTime", lock_time_text(tx.lock_time)},
                        {"expires", expiry_text(tx.expiry)},
                        {"outputs", std::move(outputs)}};
}

std::string table_of(const ledger::Tx& tx, const KnownKeys& keys, const Console& console) {
    const Style& style = console.out_style;
    std::string text;
    const auto line = [&](std::string_view what, const std::string& value) {
        text += style.paint(Tone::Heading, fmt::format("{:<11}", what)) + value + "\n";
    };
    line("txid", ledger::id_of(tx).hex());
    line("wire id", ledger::wire_id_of(tx).hex());
    line("size", fmt::format("{} bytes", ledger::encoded_size(tx)));
    line("lock time", lock_time_text(tx.lock_time));
    line("expires", expiry_text(tx.expiry));
    Table inputs{{"INPUT", "NAMES", "UNLOCKED WITH", "SEQUENCE"}};
    for (std::size_t i = 0; i < tx.inputs.size(); ++i) {
        const ledger::Input& input = tx.inputs[i];
        inputs.add({fmt::format("{}", i), outpoint_text(input.previous), unlocking_text(input.unlocking),
                    sequence_text(input.sequence)});
    }
    text += "\n" + inputs.render(style, console.out_width);
    if (tx.outputs.empty()) return text;
    Table outputs{{"OUTPUT", "CHANGE", "RESOURCE", "LOCK"}};
    for (std::size_t i = 0; i < tx.outputs.size(); ++i) {
        const OutputSaid what = said(tx.outputs[i]);
        outputs.add({fmt::format("{}", i), Cell{what.change, what.good ? Tone::Plain : Tone::Bad}, what.resource,
                     lock_meaning(tx.outputs[i].locking, keys)});
    }
    return text + "\n" + outputs.render(style, console.out_width);
}

Result<void> run_decode(Invocation& call) {
    TRY(const ledger::Tx tx, read_tx(call.console, call.argument("TRANSACTION")));
    if (call.flag("hex")) {
        call.console.out << to_hex(ledger::encode(tx)) << '\n';
        return ok();
    }
    const KnownKeys keys = keys_of(call);
    json::Object data = ledger::to_json(tx);
    data.set("about", about(tx, keys));
    print_data(call, data, [&] { return table_of(tx, keys, call.console); });
    return ok();
}

}  // namespace

Command decode_command() {
    return {
        .name = "decode",
        .summary = "Show what is in a transaction",
        .details =
            "Reads a transaction as bytes, hexadecimal digits or JSON and says what it is: its ids, what it writes or "
            "deletes, and who could change that afterwards. With -o json it is the form that the other commands read; "
            "what "
            "stands under 'about' is for people and not part of it. With --hex it is the bytes that nodes exchange.",
        .examples = {{"look at a file", "rhizome tx decode tx.json"},
                     {"what somebody sent as digits", "rhizome tx decode 01000000... -o json > tx.json"},
                     {"the bytes for a node", "rhizome tx decode tx.json --hex"}},
        .arguments = {{.name = "TRANSACTION",
                       .help = "a file, - for stdin, or hexadecimal digits",
                       .completion = Completion::files()}},
        .options = {output_option(), {.name = "hex", .help = "print the bytes in hexadecimal"}, key::keys_option()},
        .run = run_decode,
    };
}

}  // namespace rhizome::cli::tx
