// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/chain_source.h"
#include "cli/commands/chain/shared.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/state/verbs.h"
#include "cli/data_option.h"
#include "cli/input.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/proof_check.h"
#include "cli/text.h"
#include "ledger/proof_files.h"
#include "node/resources.h"

/// `state proof`.
namespace rhizome::cli::state_verbs {
namespace {

Result<void> make(Invocation& call) {
    TRY(const auto path, node::parse_path(call.argument("PATH"), "PATH"));
    TRY(auto source, ChainSource::open(call));
    TRY(const auto proof, source.state_proof(path, call.text("at")));
    TRY(ledger::check(proof));
    return chain::put_out(call, json::print_pretty(ledger::to_json(proof)));
}

Result<void> check_file(Invocation& call, const std::string& file) {
    TRY(const std::string text, read_input(call.console, file, ledger::kProofFileBytesMax));
    const std::string shown = file == "-" ? "stdin" : printable(file);
    const auto proof = ledger::state_proof_from_json(text);
    if (!proof) return Fail{with_context(shown, proof.error())};
    const auto found = ledger::check(*proof);
    if (!found) return Fail{with_context(shown, found.error())};
    TRY(const auto trust, trust_of(call, proof->chain, proof->header));
    const bool present = std::holds_alternative<state::Presence>(*found);
    json::Object data{{"ok", true}, {"path", proof->path.text()}, {"present", present}};
    if (proof->content && proof->content->written) data.set("document", proof->content->document);
    add_block(data, proof->chain, proof->header, trust);
    print_data(call, data, [&] {
        Fields fields;
        fields.add("path", proof->path.text());
        add_block(fields, proof->chain, proof->header, trust);
        std::string out = call.console.out_style.paint(Tone::Good, "OK");
        out += present ? ": this stood there after the block\n" : ": nothing stood there after the block\n";
        out += fields.render(call.console.out_style);
        if (proof->content && proof->content->written) out += "\n" + printable(proof->content->document) + "\n";
        return out;
    });
    return ok();
}

Result<void> run_proof(Invocation& call) {
    const auto file = call.if_text("check");
    if (file.has_value() == !call.argument("PATH").empty())
        return fail(ErrorKind::Usage, "give a path to prove, or --check FILE to check a proof");
    return file ? check_file(call, *file) : make(call);
}

}  // namespace

Command proof_command() {
    return {
        .name = "proof",
        .summary = "Show to somebody without the chain what stands at a path, or that nothing does",
        .details =
            "Prints a file with a block's header, the hashes that lead from its state root to the path, and the "
            "document. Where nothing stands, it shows just that. --check reads such a file; that needs no data "
            "directory.\n"
            "\n"
            "A proof is worth as much as the block hash it leads to. Compare it with one that you trust: --block names "
            "it, or --anchor a file of 'chain anchor' for the same height.",
        .examples = {{"make one", "rhizome state proof /namespaces/web --out proof.json"},
                     {"check it elsewhere", "rhizome state proof --check proof.json --anchor anchor.json"}},
        .arguments = {{.name = "PATH", .help = "such as /namespaces/web/core/Pod/db", .required = false}},
        .options =
            with_node_options({data_option(), at_option(), check_option(), block_option(), anchor_option(),
                               chain::out_option("write the proof to this file instead of stdout"), output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_proof,
    };
}

}  // namespace rhizome::cli::state_verbs
