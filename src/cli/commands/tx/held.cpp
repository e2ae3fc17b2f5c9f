// SPDX-License-Identifier: Apache-2.0
// `tx held`: what `rhizome proxy` holds until enough people have signed.
#include <fmt/core.h>

#include "cli/commands/key/shared.h"
#include "cli/commands/tx/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "node/proxy/held.h"

namespace rhizome::cli::tx {
namespace {

/// What it writes or deletes, in a few words.
std::string about(const ledger::Tx& tx) {
    std::string out;
    for (const ledger::Output& output : tx.outputs) {
        const auto named = ledger::name_output(output.value);
        if (!named || named->wish == ledger::Wish::Nothing) continue;
        out += (out.empty() ? "" : ", ") + std::string{named->wish == ledger::Wish::Delete ? "delete " : "write "} +
               named->resource.label();
    }
    return out.empty() ? "delete what its inputs name" : out;
}

/// What its signatures still lack in the node's present state; an error when the node cannot say.
Result<std::string> missing_of(Invocation& call, const ledger::Tx& tx, const KnownKeys& keys) {
    TRY(const auto world, world_for(call, tx));
    TRY(const auto checked, ledger::check_tx(tx));
    const auto uses = ledger::uses_of_inputs(*checked, world.state);
    std::string out;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const auto progress = ledger::advance(*checked, i, uses[i], world.at.chain, world.state, nullptr);
        if (progress.complete) continue;
        out += (out.empty() ? "" : "; ") + with_names(progress.missing, keys);
    }
    return out;
}

Result<void> run_held(Invocation& call) {
    TRY(const auto config, call.console.environment.config_folder());
    const auto folder = node::held_folder(config);
    if (const auto id = call.if_text("forget")) {
        TRY(const auto all, node::held_txs(folder));
        for (const node::HeldTx& one : all) {
            if (!one.id.starts_with(*id)) continue;
            std::error_code failed;
            std::filesystem::remove(one.file, failed);
            if (failed) return fail(ErrorKind::Failed, fmt::format("{}: {}", one.file.native(), failed.message()));
            call.console.err << fmt::format("forgot {}\n", one.id);
            return ok();
        }
        return fail(ErrorKind::NotFound, fmt::format("nothing is held as {}", printable(*id)));
    }
    TRY(const auto all, node::held_txs(folder));
    const KnownKeys keys = keys_of(call);
    json::Array rows;
    Table table{{"ID", "WHAT", "HELD", "NEEDS", "FILE"}};
    for (const node::HeldTx& one : all) {
        const auto missing = missing_of(call, one.tx, keys);
        const std::string needs =
            !missing           ? "not known: " + missing.error().message.substr(0, missing.error().message.find('\n'))
            : missing->empty() ? std::string{"nothing: tx submit"}
                               : *missing;
        rows.push_back(json::Object{{"txid", one.id},
                                    {"what", about(one.tx)},
                                    {"since", to_rfc3339(one.since)},
                                    {"needs", needs},
                                    {"file", one.file.native()}});
        table.add(
            {one.id.substr(0, 16), about(one.tx), age_text(call.console.now() - one.since), needs, one.file.native()});
    }
    const bool none = rows.empty();
    print_data(call, json::Object{{"held", std::move(rows)}},
               [&] { return none ? std::string{"nothing is held\n"} : table.render(call.console.out_style); });
    return ok();
}

}  // namespace

Command held_command() {
    std::vector<Option> options{data_option(),
                                state_option(),
                                output_option(),
                                {.name = "forget", .value_name = "ID", .help = "take one away, done or not"}};
    return {.name = "held",
            .summary = "List changes that wait for more signatures",
            .details =
                "What 'proxy' holds because one signature is not enough. Each is a file that 'tx sign' adds a "
                "signature to and 'tx submit' sends; give it to the others who have to sign.",
            .examples = {{"what waits, and for whom", "rhizome tx held"},
                         {"sign one that a colleague sent", "rhizome tx sign FILE --key bob --out FILE"}},
            .options = with_node_options(std::move(options)),
            .run = run_held};
}

}  // namespace rhizome::cli::tx
