// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/chain_source.h"
#include "cli/commands/chain/shared.h"
#include "cli/commands/chain/verbs.h"
#include "cli/commands/key/passphrase.h"
#include "cli/data_option.h"
#include "cli/input.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/proof_check.h"
#include "cli/text.h"
#include "ledger/proof_files.h"

/// `chain proof`.
namespace rhizome::cli::chain {
namespace {

Result<void> make(Invocation& call) {
    TRY(auto source, ChainSource::open(call));
    TRY(const auto proof, source.tx_proof(call.argument("TXID")));
    TRY(ledger::check(proof));
    return put_out(call, json::print_pretty(ledger::to_json(proof)));
}

Result<void> check_file(Invocation& call, const std::string& file) {
    TRY(const std::string text, read_input(call.console, file, ledger::kProofFileBytesMax));
    const std::string shown = file == "-" ? "stdin" : printable(file);
    const auto proof = ledger::tx_proof_from_json(text);
    if (!proof) return Fail{with_context(shown, proof.error())};
    if (const auto good = ledger::check(*proof); !good) return Fail{with_context(shown, good.error())};
    TRY(const auto trust, trust_of(call, proof->chain, proof->header));
    json::Object data{{"ok", true}, {"txid", ledger::id_of(proof->tx).hex()}};
    add_block(data, proof->chain, proof->header, trust);
    print_data(call, data, [&] {
        Fields fields;
        fields.add("transaction", ledger::id_of(proof->tx).hex());
        add_block(fields, proof->chain, proof->header, trust);
        return call.console.out_style.paint(Tone::Good, "OK") + ": the block holds the transaction\n" +
               fields.render(call.console.out_style);
    });
    return ok();
}

Result<void> run_proof(Invocation& call) {
    const auto file = call.if_text("check");
    if (file.has_value() == !call.argument("TXID").empty())
        return fail(ErrorKind::Usage, "give the id of a transaction to prove, or --check FILE to check a proof");
    return file ? check_file(call, *file) : make(call);
}

}  // namespace

Command proof_command() {
    return {
        .name = "proof",
        .summary = "Show to somebody without the chain that it holds a transaction",
        .details =
            "Prints a file with the transaction, the header of its block, and the hashes that lead from the one to the "
            "other. --check reads such a file; that needs no data directory.\n"
            "\n"
            "A proof is worth as much as the block hash it leads to. Compare it with one that you trust: --block names "
            "it, or --anchor a file of 'chain anchor' for the same height.",
        .examples = {{"make one", "rhizome chain proof $TXID --out proof.json"},
                     {"check it elsewhere", "rhizome chain proof --check proof.json --block $HASH"}},
        .arguments = {{.name = "TXID", .help = "the transaction's id, 64 hexadecimal digits", .required = false}},
        .options = with_node_options({data_option(), check_option(), block_option(), anchor_option(),
                                      out_option("write the proof to this file instead of stdout"), output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_proof,
    };
}

}  // namespace rhizome::cli::chain
