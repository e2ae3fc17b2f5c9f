// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/block_walk.h"
#include "cli/commands/chain/shared.h"
#include "cli/commands/chain/verbs.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"
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

std::string block_text(const Console& console, const store::BlockInfo& info, const ledger::Block& block,
                       const OfflineChain& at) {
    const ledger::Header& header = block.header;
    Fields fields;
    fields.add("hash", info.hash.hex());
    fields.add("height", fmt::format("{}", header.height));
    fields.add("time", fmt::format("{} ({} ago)", to_rfc3339(header.time, Precision::Millis),
                                   age_text(console.now() - header.time)));
    fields.add("previous", header.previous.hex());
    fields.add("Merkle root", header.merkle_root.hex());
    fields.add("state root", header.state_root.hex());
    fields.add("consensus", std::string{ledger::name(header.consensus)});
    if (header.consensus == ledger::ConsensusId::Work)
        fields.add("work", fmt::format("bits {:08x}, nonce {}", header.bits, header.nonce));
    fields.add("sealed by", sealed_by(info, at));
    fields.add("size", size_text(info.bytes));
    if (!at.store().on_chain(info)) fields.add("branch", Cell{"not on the chain", Tone::Warning});
    std::string text = fields.render(console.out_style);
    if (block.txs.empty()) return text;
    Table table{{"INDEX", "TXID", "SIZE", "CHANGES"}};
    for (std::size_t i = 0; i < block.txs.size(); ++i)
        table.add({fmt::format("{}", i), ledger::id_of(block.txs[i]).hex(),
                   size_text(ledger::encoded_size(block.txs[i])), joined_wishes(block.txs[i])});
    return text + "\n" + table.render(console.out_style);
}

Result<void> run_block(Invocation& call) {
    TRY(const auto at, open_chain(call));
    TRY(const auto info, find_block(call.argument("BLOCK"), *at));
    TRY(const auto block, read_block(info, *at));
    print_data(call, ledger::to_json(block), [&] { return block_text(call.console, info, block, *at); });
    return ok();
}

/// What the transaction did, by executing its block again; nothing when the state before it is gone.
std::vector<DocumentChange> changes_by(Invocation& call, OfflineChain& at, const store::TxPlace& place,
                                       const ledger::TxId& id) {
    auto walk = BlockWalk::from(call, at, place.block.height());
    if (!walk) return {};
    auto step = walk->next();
    if (!step) return {};
    auto changes = changes_of(step->applied);
    std::erase_if(changes, [&](const DocumentChange& change) { return change.tx != id; });
    return changes;
}

std::string tx_text(const Console& console, const store::TxPlace& place, const ledger::Tx& tx,
                    const std::vector<DocumentChange>& changes) {
    Fields fields;
    fields.add("txid", ledger::id_of(tx).hex());
    fields.add("wire id", ledger::wire_id_of(tx).hex());
    fields.add("block", fmt::format("height {}, transaction {} of {}", place.block.height(), place.index + 1,
                                    place.block.tx_count));
    fields.add("block hash", place.block.hash.hex());
    fields.add("time", fmt::format("{} ({} ago)", to_rfc3339(place.block.header.time, Precision::Millis),
                                   age_text(console.now() - place.block.header.time)));
    fields.add("size", size_text(ledger::encoded_size(tx)));
    std::string text = fields.render(console.out_style) + "\n";
    if (changes.empty()) {
        Table table{{"OUTPUT", "SAYS"}};
        for (std::size_t i = 0; i < tx.outputs.size(); ++i) table.add({fmt::format("{}", i), wish_text(tx.outputs[i])});
        return text + table.render(console.out_style, console.out_width);
    }
    Table table{{"CHANGE", "PATH", "KIND"}};
    for (const DocumentChange& change : changes)
        table.add({std::string{name(change.verb)}, change.path.text(), std::string{change.path.kind()}});
    return text + table.render(console.out_style, console.out_width);
}

Result<void> run_tx(Invocation& call) {
    TRY(const auto at, open_chain(call));
    TRY(const auto place, find_tx(call, call.argument("ID"), *at));
    TRY(const auto block, read_block(place.block, *at));
    if (place.index >= block.txs.size())
        return fail(ErrorKind::Corrupt, "the index names a transaction that its block does not have");
    const ledger::Tx& tx = block.txs[place.index];
    const auto changes = changes_by(call, *at, place, ledger::id_of(tx));
    json::Array did;
    for (const DocumentChange& change : changes)
        did.push_back(
            json::Object{{"verb", name(change.verb)}, {"path", change.path.text()}, {"kind", change.path.kind()}});
    json::Object form = ledger::to_json(tx);
    form.set("about", json::Object{{"wireId", ledger::wire_id_of(tx).hex()},
                                   {"height", place.block.height().number()},
                                   {"block", place.block.hash.hex()},
                                   {"time", to_rfc3339(place.block.header.time, Precision::Millis)},
                                   {"index", place.index},
                                   {"changes", std::move(did)}});
    print_data(call, form, [&] { return tx_text(call.console, place, tx, changes); });
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
        .options = {data_option(), output_option()},
        .run = run_block,
    };
}

Command tx_command() {
    return {
        .name = "tx",
        .summary = "Show where a transaction stands and what it did",
        .details =
            "Finds a transaction by its id, says in which block it is and since when, and what it created, updated and "
            "deleted (by executing its block again). With -o json it is the transaction in the form that 'tx decode' "
            "prints; what is about it stands under \"about\".",
        .examples = {{"what a change did", "rhizome chain tx $TXID"},
                     {"the transaction itself", "rhizome chain tx $TXID -o json"}},
        .arguments = {{.name = "ID", .help = "the transaction's id, 64 hexadecimal digits"}},
        .options = {data_option(), output_option()},
        .run = run_tx,
    };
}

}  // namespace rhizome::cli::chain
