// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "cli/block_file.h"
#include "cli/commands/chain/shared.h"
#include "cli/commands/chain/verbs.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"

/// `chain import`.
namespace rhizome::cli::chain {
namespace {

struct Counted {
    std::uint64_t added = 0;
    std::uint64_t known = 0;
    bool made = false;  ///< the directory had no chain before
};

/// Makes the chain from its first block, which somebody hands in.
Result<std::unique_ptr<OfflineChain>> make_chain(const std::filesystem::path& folder, const ledger::Block& first) {
    auto at = std::make_unique<OfflineChain>();
    at->folder = folder;
    if (first.header.height != ledger::Height{0})
        return fail(ErrorKind::NotFound, fmt::format("there is no chain in {}, and the file begins at height {}\n"
                                                     "a new directory needs the blocks from height 0 on",
                                                     printable(folder.native()), first.header.height));
    const auto refused = [](const ledger::Reject& reject) {
        return Error{ErrorKind::Invalid, fmt::format("the genesis block is refused: {}", to_text(reject))};
    };
    const auto part = at->judge.judge_genesis(first);
    if (!part) return Fail{refused(part.error())};
    auto commit = ledger::apply_genesis(first, *part);
    if (!commit) return Fail{refused(commit.error())};
    TRY(at->chain, store::Chain::create(folder, {.block = first, .commit = *std::move(commit)}, at->block_rules(),
                                        at->pool, {}, store::ChainOrigin::FromElsewhere));
    return at;
}

Fail<Error> another_chain(const OfflineChain& at, const ledger::Block& genesis) {
    return fail(ErrorKind::Conflict, fmt::format("the file is of another chain: {}, and this one is {}\n"
                                                 "--data names a directory of its own for it",
                                                 hash_of(genesis.header), at.id()));
}

/// Adds a block, or passes over one that is here.
Result<void> take(OfflineChain& at, const ledger::Block& block, Counted& counted) {
    const ledger::Height height = block.header.height;
    const auto hash = hash_of(block.header);
    const ledger::Height tip = at.height();
    if (height <= tip) {
        const auto ours = at.store().info_at(height);
        if (!ours && ours.error().kind != ErrorKind::NotFound) return Fail{ours.error()};
        if (ours && ours->hash != hash) {
            if (height == ledger::Height{0}) return another_chain(at, block);
            const auto parent = at.store().info_at(height - 1);
            const bool fork = parent && parent->hash == block.header.previous;
            return fail(ErrorKind::Conflict,
                        fork ? fmt::format("the file is of another branch: the chains part after height {}; block {} "
                                           "is {} here and {} in the file\n"
                                           "choosing between branches is the node's work, with all of its peers",
                                           height - 1, height, ours->hash, hash)
                             : fmt::format("block {} is {} here and {} in the file, and they have different parents: "
                                           "another chain, or a branch that parted further down\n"
                                           "a file that begins at height 0 tells which",
                                           height, ours->hash, hash));
        }
        ++counted.known;
        return ok();
    }
    if (height > tip + 1)
        return fail(ErrorKind::NotFound,
                    fmt::format("the chain here ends at height {}, and the file goes on at height {}\n"
                                "'chain export --from {}' where the file was made gives what is missing",
                                tip, height, tip + 1));
    if (block.header.previous != hash_of(at.chain->tip()))
        return fail(ErrorKind::Conflict,
                    fmt::format("block {} of the file does not follow this chain's tip {}: it is of another chain, or "
                                "of a branch that parted at or below height {}",
                                height, hash_of(at.chain->tip()), tip));
    auto added = at.chain->add(block);
    if (!added) return Fail{with_context(fmt::format("block {}", height), std::move(added).error())};
    ++counted.added;
    return ok();
}

Result<void> run_all(Invocation& call, BlockFileReader& reader, std::unique_ptr<OfflineChain>& at, Counted& counted) {
    TRY(const auto folder, data_folder_of(call));
    Progress progress{call.console, "Importing", reader.count()};
    for (;;) {
        TRY(const auto block, reader.next());
        if (!block) return ok();
        if (!at) {
            std::error_code ignored;
            if (std::filesystem::exists(folder / "format", ignored)) {
                TRY(at, open_chain(call));
            } else {
                TRY(at, make_chain(folder, *block));
                counted.made = true;
                ++counted.added;
                progress.advance();
                continue;
            }
        }
        TRY(take(*at, *block, counted));
        progress.advance();
    }
}

Result<void> run_import(Invocation& call) {
    const std::string file = call.argument("FILE");
    std::ifstream from_file;
    if (file != "-") {
        from_file.open(file, std::ios::binary);
        if (!from_file)
            return fail(std::filesystem::exists(file) ? ErrorKind::Failed : ErrorKind::NotFound,
                        fmt::format("cannot open {}", printable(file)));
    }
    TRY(auto reader,
        BlockFileReader::open(file == "-" ? call.console.in : from_file, file == "-" ? "stdin" : printable(file)));
    std::unique_ptr<OfflineChain> at;
    Counted counted;
    const auto done = run_all(call, reader, at, counted);
    // What was good is kept also when the rest was not.
    if (at && counted.added > 0) {
        TRY(at->chain->store().sync());
    }
    const std::string tip = at ? hash_of(at->chain->tip()).hex() : "";
    const std::uint64_t height = at ? at->height().number() : 0;
    const std::string chain_id = at ? at->id().hex() : "";
    if (at && counted.added > 0) TRY(at->close());
    if (!done) {
        Error error = done.error();
        if (counted.added > 0)
            error.message += fmt::format("\n{} block{} before it were added: the chain now ends at height {}",
                                         counted.added, counted.added == 1 ? "" : "s", height);
        return Fail{std::move(error)};
    }
    if (!at) return fail(ErrorKind::Invalid, fmt::format("{}: there are no blocks in it", printable(file)));
    const json::Object data{{"added", counted.added}, {"known", counted.known}, {"made", counted.made},
                            {"chainId", chain_id},    {"height", height},       {"tip", tip}};
    print_data(call, data, [&] {
        return fmt::format("{} block{} added, {} known already; the chain {} at height {}, {}\n", counted.added,
                           counted.added == 1 ? "" : "s", counted.known, counted.made ? "was made and ends" : "ends",
                           height, tip);
    });
    return ok();
}

}  // namespace

Command import_command() {
    return {
        .name = "import",
        .summary = "Add blocks from a file to the chain",
        .details =
            "Reads what 'chain export' wrote, in any of its forms. Blocks that are here already are passed over, those "
            "that follow the tip are checked like a stranger's and added. Blocks of another chain or of another branch "
            "are refused (exit code 5) and nothing is undone.\n"
            "\n"
            "Into a directory without a chain, the file has to begin with the genesis block. Such a chain has no keys "
            "of this machine: it can be read and verified, and a node can start from it.",
        .examples = {{"what another machine has and this one lacks", "rhizome chain import chain.blocks"},
                     {"a copy to look at", "rhizome chain import chain.jsonl --data /tmp/copy"},
                     {"in a pipe", "ssh n2 rhizome chain export | rhizome chain import -"}},
        .arguments = {{.name = "FILE", .help = "blocks; - for stdin", .completion = Completion::files()}},
        .options = {data_option(), output_option()},
        .run = run_import,
    };
}

}  // namespace rhizome::cli::chain
