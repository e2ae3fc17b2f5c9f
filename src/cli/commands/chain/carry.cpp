// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/chain/shared.h"
#include "cli/commands/chain/verbs.h"
#include "cli/commands/node/shared.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "ledger/block_json.h"
#include "store/backup.h"
#include "store/snapshot_file.h"

/// `chain backup`, `chain restore`, `chain snapshot` and `chain prune`: whole chains and whole states in and out.
namespace rhizome::cli::chain {
namespace {

using ledger::Height;

json::Object data_of(const store::BackupSummary& summary, const std::string& file) {
    return {{"file", file},
            {"chainId", summary.chain.hex()},
            {"height", summary.tip.number()},
            {"blocks", summary.blocks},
            {"notes", summary.notes},
            {"bytes", summary.bytes}};
}

/// Of a node that runs, up to its newest final block: it is asked for one block after the other.
Result<store::BackupSummary> backup_of_node(node::RpcClient& client, const std::string& file,
                                            const store::ProgressSink& progress) {
    TRY(const auto status, client.get("/rhizome/v1/status"));
    const auto chain = ledger::ChainId::from_hex(status.text_at({"chainId"}));
    const auto hash = ledger::BlockHash::from_hex(status.text_at({"final", "hash"}));
    const json::Value* height = status.find_path({"final", "height"});
    if (!chain || !hash || height == nullptr) return fail(ErrorKind::Failed, "the node's status cannot be read");
    const auto block_at = [&](Height at) -> Result<ledger::Block> {
        const auto found = client.text("GET", fmt::format("/rhizome/v1/blocks/{}", at), {}, ledger::kBlockJsonBytesMax);
        if (!found)
            return fail(
                found.error().kind,
                fmt::format("the node does not give block {}: its older blocks were pruned, or it stopped\nof a "
                            "pruned chain a backup is made while the node is stopped ('down')",
                            at));
        return ledger::block_from_json(*found);
    };
    return store::write_backup({.chain = *chain,
                                .tip = Height{static_cast<std::uint64_t>(height->if_int64().value_or(0))},
                                .hash = *hash,
                                .block = block_at},
                               file, progress);
}

Result<store::BackupSummary> backup(Invocation& call, const std::string& file) {
    StoreProgress progress{call.console, "Writing the backup"};
    if (const auto client = if_running_node(call)) return backup_of_node(*client, file, progress.sink());
    TRY(const auto at, open_chain(call));
    return store::write_backup(*at->chain, file, progress.sink());
}

Result<void> run_backup(Invocation& call) {
    const std::string file = call.argument("FILE");
    TRY(const auto made, backup(call, file));
    print_data(call, data_of(made, file), [&] {
        return fmt::format(
            "{}: {}, {}\nit has no keys and nothing that this node has signed; keep the keys elsewhere\n",
            printable(file),
            made.blocks > 0 ? fmt::format("{} blocks up to height {}", made.blocks, made.tip)
                            : fmt::format("the state at height {} (older blocks were pruned)", made.tip),
            size_text(made.bytes));
    });
    return ok();
}

Result<void> run_restore(Invocation& call) {
    const std::string file = call.argument("FILE");
    TRY(const auto folder, data_folder_of(call));
    OfflineChain world;  // for its rules and cores
    StoreProgress progress{call.console, "Restoring"};
    TRY(const auto made, store::restore_backup(file, folder, world.block_rules(), world.pool, {}, progress.sink()));
    json::Object data = data_of(made, file);
    data.set("data", folder.native());
    print_data(call, data, [&] {
        return fmt::format(
            "{} holds the chain {} up to height {} again\n"
            "a node that starts from it signs nothing until the others have gone on without it\n",
            printable(folder.native()), made.chain, made.tip);
    });
    return ok();
}

json::Object data_of(const store::SnapshotSummary& summary, const std::string& file) {
    return {{"file", file},
            {"chainId", summary.chain.hex()},
            {"height", summary.header.height.number()},
            {"block", hash_of(summary.header).hex()},
            {"stateRoot", summary.header.state_root.hex()},
            {"entries", summary.documents},
            {"parts", static_cast<std::uint64_t>(summary.parts)},
            {"bytes", summary.bytes}};
}

std::string text_of(const store::SnapshotSummary& summary, const std::string& file) {
    return fmt::format("{}: the state after block {} ({}), {} entries in {} parts, {}\n", printable(file),
                       summary.header.height, hash_of(summary.header), summary.documents, summary.parts,
                       size_text(summary.bytes));
}

Result<void> run_snapshot_export(Invocation& call) {
    const std::string file = call.argument("FILE");
    TRY(const auto at, open_chain(call));
    TRY(const Height height, height_of(call, "at", *at));
    StoreProgress progress{call.console, "Finding the state"};
    TRY(const auto made, store::export_snapshot(*at->chain, file, height, {}, progress.sink()));
    print_data(call, data_of(made, file), [&] {
        return text_of(made, file) + fmt::format(
                                         "whoever imports it should get the block's hash from you, not from the file:\n"
                                         "  {} chain snapshot import FILE --trusted {}\n",
                                         call.program, hash_of(made.header));
    });
    return ok();
}

Result<void> run_snapshot_show(Invocation& call) {
    const std::string file = call.argument("FILE");
    TRY(const auto summary, store::inspect_snapshot(file));
    print_data(call, data_of(summary, file), [&] { return text_of(summary, file); });
    return ok();
}

Result<void> run_snapshot_import(Invocation& call) {
    const std::string file = call.argument("FILE");
    TRY(const auto folder, data_folder_of(call));
    std::optional<ledger::BlockHash> trusted;
    if (const auto word = call.if_text("trusted")) {
        trusted = ledger::BlockHash::from_hex(*word);
        if (!trusted)
            return fail(ErrorKind::Usage,
                        fmt::format("--trusted {} is no block hash: 64 hexadecimal digits", printable(*word)));
    } else {
        print_warning(call.console, "the file's own header is believed: --trusted HASH says which block it must be");
    }
    OfflineChain world;
    TRY(world.chain, store::import_snapshot(file, folder, world.block_rules(), world.pool, {}, trusted));
    const ledger::Header header = world.chain->tip();
    const ledger::ChainId chain = world.id();
    TRY(world.close());
    const json::Object data{{"data", folder.native()},
                            {"chainId", chain.hex()},
                            {"height", header.height.number()},
                            {"block", hash_of(header).hex()},
                            {"trusted", trusted.has_value()}};
    print_data(call, data, [&] {
        return fmt::format("{} holds the chain {} from block {} ({}) on\n", printable(folder.native()), chain,
                           header.height, hash_of(header));
    });
    return ok();
}

Result<void> run_prune(Invocation& call) {
    TRY(const auto at, open_chain(call));
    TRY(const Height below, parse_height(call.text("below"), "--below", *at));
    const std::string what = call.text("what");
    store::Store& store = at->chain->store();
    json::Object data{{"below", below.number()}};
    std::string text;
    for (const auto& [name, kind] :
         {std::pair{"bodies", store::Prune::Bodies}, std::pair{"attestations", store::Prune::Attestations},
          std::pair{"headers", store::Prune::Headers}}) {
        store::Store::Pruned sum;
        Progress progress{call.console, fmt::format("Pruning {}", name)};
        for (bool more = true; more;) {
            TRY(const auto step, store.prune(kind, below));
            sum.blocks += step.blocks;
            sum.bytes += step.bytes;
            more = step.more;
            progress.advance();
        }
        data.set(name, json::Object{{"blocks", sum.blocks}, {"bytes", sum.bytes}});
        text += fmt::format("{}: {} blocks, {}\n", name, sum.blocks, size_text(sum.bytes));
        if (what == name) break;
    }
    TRY(at->close());
    print_data(call, data, [&] { return text; });
    return ok();
}

Argument file_argument(std::string help) {
    return {.name = "FILE", .help = std::move(help), .completion = Completion::files()};
}

}  // namespace

Command backup_command() {
    return {
        .name = "backup",
        .summary = "Write the chain to one file, to keep elsewhere",
        .details =
            "Every block from genesis on, known peers, and the final mark; of a pruned chain the state at its tip "
            "instead of blocks. Not in it: keys, and what this node has signed as a voter. A restored node that "
            "remembered an older vote could sign against itself and be cast out.\n"
            "\n"
            "Also while the node runs: then up to the newest final block, and without known peers.",
        .examples = {{"to another disk", "rhizome chain backup /mnt/usb/rhizome.backup"}},
        .arguments = {file_argument("the file to make; it must not exist")},
        .options = {data_option(), output_option()},
        .run = run_backup,
    };
}

Command restore_command() {
    return {
        .name = "restore",
        .summary = "Make a data directory from a backup",
        .details =
            "Executes every block of the backup again, so a damaged or forged one is found. The directory must not "
            "hold a chain.",
        .examples = {{"where the node looks for it", "rhizome chain restore /mnt/usb/rhizome.backup"},
                     {"beside the present one", "rhizome chain restore rhizome.backup --data /tmp/restored"}},
        .arguments = {file_argument("what 'chain backup' wrote")},
        .options = {data_option(), output_option()},
        .run = run_restore,
    };
}

Command snapshot_command() {
    return {
        .name = "snapshot",
        .summary = "The state after one block as a file, for machines that start from it",
        .details =
            "A machine that joins needs no old blocks: the header of a block names the root of the state after it, "
            "and every entry of a snapshot is checked against that root. What has to be trusted is the header's "
            "hash, and nothing else.",
        .examples = {{"of the latest block", "rhizome chain snapshot export state.snapshot"},
                     {"on another machine", "rhizome chain snapshot import state.snapshot --trusted HASH"}},
        .subcommands = {{.name = "export",
                         .summary = "Write the state after a block to a file",
                         .examples = {{"of the latest block", "rhizome chain snapshot export state.snapshot"}},
                         .arguments = {file_argument("the file to make; it must not exist")},
                         .options = {data_option(), at_option(), output_option()},
                         .run = run_snapshot_export},
                        {.name = "show",
                         .summary = "Which chain and block a snapshot is of",
                         .examples = {{"before importing it", "rhizome chain snapshot show state.snapshot"}},
                         .arguments = {file_argument("a snapshot")},
                         .options = {output_option()},
                         .run = run_snapshot_show},
                        {.name = "import",
                         .summary = "Make a data directory that begins with a snapshot",
                         .examples = {{"of a block whose hash the cluster's operator told",
                                       "rhizome chain snapshot import state.snapshot --trusted HASH"}},
                         .arguments = {file_argument("a snapshot")},
                         .options = {data_option(),
                                     {.name = "trusted",
                                      .value_name = "HASH",
                                      .help = "the hash that the snapshot's block must have"},
                                     output_option()},
                         .run = run_snapshot_import}},
    };
}

Command prune_command() {
    return {
        .name = "prune",
        .summary = "Delete old blocks below a final one",
        .details =
            "Bodies go with whole files of the log, so somewhat fewer than asked for may go. Headers stay, unless "
            "they are named too; what is deleted can be had again from other machines only. The state is not "
            "touched.",
        .examples = {{"keep the last thousand blocks", "rhizome chain prune --below 41000"}},
        .options = {{.name = "below", .value_name = "HEIGHT", .help = "the lowest height that stays", .required = true},
                    {.name = "what",
                     .value_name = "KIND",
                     .help = "how much of the old blocks goes",
                     .fallback = "bodies",
                     .choices = {{"bodies", "transactions"},
                                 {"attestations", "the votes in their seals, too"},
                                 {"headers", "everything"}}},
                    data_option(),
                    output_option()},
        .run = run_prune,
    };
}

}  // namespace rhizome::cli::chain
