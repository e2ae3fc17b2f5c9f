// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/chain_source.h"
#include "cli/commands/chain/shared.h"
#include "cli/commands/chain/verbs.h"
#include "cli/commands/key/passphrase.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "ledger/block_json.h"
#include "ledger/codec.h"

/// `chain block` and `chain tx`.
namespace rhizome::cli::chain {
namespace {

std::string joined_wishes(const ledger::Tx& tx) {
    constexpr std::size_t kShown = 3;
    std::string text;
    for (std::size_t i = 0; i < tx.outputs.size() && i < kShown; ++i)
        text += (i == 0 ? "" : ", ") + wish_text(tx.outputs[i]);
    if (tx.outputs.empty()) return "delete what its inputs name";
    if (tx.outputs.size() > kShown) text += fmt::format(", and {} more", tx.outputs.size() - kShown);
    return text;
}

bool is_true(const json::Value& value, std::string_view key) {
    const json::Value* found = value.find(key);
    return found != nullptr && found->if_boolean().value_or(false);
}
std::string time_text(const Console& console, const json::Value& of) {
    const auto time = from_rfc3339(of.text_at({"time"}));
    return time ? fmt::format("{} ({} ago)", of.text_at({"time"}), age_text(console.now() - *time)) : "-";
}

std::string block_text(const Console& console, const json::Value& about, const ledger::Block& block) {
    const ledger::Header& header = block.header;
    Fields fields;
    fields.add("hash", hash_of(header).hex());
    fields.add("height", fmt::format("{}", header.height));
    fields.add("time", time_text(console, about));
    fields.add("previous", header.previous.hex());
    fields.add("Merkle root", header.merkle_root.hex());
    fields.add("state root", header.state_root.hex());
    fields.add("consensus", std::string{ledger::name(header.consensus)});
    if (header.consensus == ledger::ConsensusId::Work)
        fields.add("work", fmt::format("bits {:08x}, nonce {}", header.bits, header.nonce));
    fields.add("sealed by", std::string{about.text_at({"sealedBy"})});
    fields.add("size", size_text(static_cast<std::uint64_t>(about.number_at({"bytes"}))));
    if (!is_true(about, "onChain")) fields.add("branch", Cell{"not on the chain", Tone::Warning});
    std::string text = fields.render(console.out_style);
    if (block.txs.empty()) return text;
    Table table{{"INDEX", "TXID", "SIZE", "CHANGES"}};
    for (std::size_t i = 0; i < block.txs.size(); ++i)
        table.add({fmt::format("{}", i), ledger::id_of(block.txs[i]).hex(),
                   size_text(ledger::encoded_size(block.txs[i])), joined_wishes(block.txs[i])});
    return text + "\n" + table.render(console.out_style);
}

Result<void> run_block(Invocation& call) {
    TRY(auto source, ChainSource::open(call));
    TRY(const auto about, source.header(call.argument("BLOCK")));
    // By its hash: what stands at a height may be another one by now.
    TRY(const auto block, source.block(std::string{about.text_at({"hash"})}));
    print_data(call, ledger::to_json(block), [&] { return block_text(call.console, about, block); });
    return ok();
}

std::string tx_text(const Console& console, const json::Value& about, const ledger::Tx& tx) {
    const std::string_view status = about.text_at({"status"});
    Fields fields;
    fields.add("txid", std::string{about.text_at({"txid"})});
    if (status == "refused") {
        fields.add("status", Cell{"refused", Tone::Bad});
        fields.add("why", fmt::format("{}: {}", about.text_at({"refused", "code"}), about.text_at({"refused", "why"})));
        return fields.render(console.out_style);
    }
    fields.add("wire id", ledger::wire_id_of(tx).hex());
    if (status == "pending") {
        fields.add("status", Cell{"pending: no block has it yet", Tone::Warning});
    } else {
        fields.add("status", Cell{std::string{status}, status == "final" ? Tone::Good : Tone::Plain});
        fields.add("block", fmt::format("height {}, transaction {} of {}", about.number_at({"height"}),
                                        about.number_at({"index"}) + 1, about.number_at({"count"})));
        fields.add("block hash", std::string{about.text_at({"block"})});
        fields.add("time", time_text(console, about));
    }
    fields.add("size", size_text(ledger::encoded_size(tx)));
    std::string text = fields.render(console.out_style) + "\n";
    const json::Value* changes = about.find("changes");
    if (changes == nullptr || !changes->is_array() || changes->if_array()->empty()) {
        Table table{{"OUTPUT", "SAYS"}};
        for (std::size_t i = 0; i < tx.outputs.size(); ++i) table.add({fmt::format("{}", i), wish_text(tx.outputs[i])});
        return text + table.render(console.out_style, console.out_width);
    }
    Table table{{"CHANGE", "PATH", "KIND"}};
    for (const json::Value& change : *changes->if_array())
        table.add({std::string{change.text_at({"verb"})}, std::string{change.text_at({"path"})},
                   std::string{change.text_at({"kind"})}});
    return text + table.render(console.out_style, console.out_width);
}

Result<void> run_tx(Invocation& call) {
    TRY(auto source, ChainSource::open(call));
    TRY(const auto found, source.tx(call.argument("ID")));
    json::Object about;
    for (const auto& [key, value] : *found.about.if_object())
        if (key != "transaction" && key != "txid") about.set(key, value);
    json::Object form = found.about.text_at({"status"}) == "refused"
                            ? json::Object{{"txid", found.about.text_at({"txid"})}}
                            : ledger::to_json(found.tx);
    form.set("about", std::move(about));
    print_data(call, form, [&] { return tx_text(call.console, found.about, found.tx); });
    return ok();
}

std::vector<Candidate> special_blocks(const Console&) { return {{"latest", "the block at the tip"}}; }

}  // namespace

Command block_command() {
    return {
        .name = "block",
        .summary = "Show one block",
        .details =
            "Prints a block's header and what its transactions say. With -o json it is the whole block in the form "
            "that "
            "'chain import' reads: documents keep their bytes, so do not reformat them.",
        .examples = {{"the latest", "rhizome chain block latest"},
                     {"the first, as a file", "rhizome chain block 0 -o json > genesis.json"}},
        .arguments = {{.name = "BLOCK",
                       .help = "a height, a block hash, or latest",
                       .completion = Completion::of(special_blocks)}},
        .options = with_node_options({data_option(), output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_block,
    };
}

Command tx_command() {
    return {
        .name = "tx",
        .summary = "Show where a transaction stands and what it did",
        .details =
            "Finds a transaction by its id, says in which block it is and since when, whether that is final, and what "
            "it "
            "created, updated and deleted. A running node also knows those that wait and those it refused. With -o "
            "json it is the transaction in the form that 'tx decode' "
            "prints; what is about it stands under \"about\".",
        .examples = {{"what a change did", "rhizome chain tx $TXID"},
                     {"the transaction itself", "rhizome chain tx $TXID -o json"}},
        .arguments = {{.name = "ID", .help = "the transaction's id, 64 hexadecimal digits"}},
        .options = with_node_options({data_option(), output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_tx,
    };
}

}  // namespace rhizome::cli::chain
