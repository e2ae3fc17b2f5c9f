// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/core.h>

#include "cli/block_file.h"
#include "cli/block_walk.h"
#include "cli/commands/chain/shared.h"
#include "cli/commands/chain/verbs.h"
#include "cli/data_option.h"
#include "cli/text.h"
#include "ledger/block_json.h"
#include "ledger/codec.h"

/// `chain export`.
namespace rhizome::cli::chain {
namespace {

namespace fs = std::filesystem;

struct Wanted {
    bool blocks = false, transactions = false, changes = false;
};

Result<Wanted> wanted_of(const Invocation& call) {
    Wanted wanted;
    const std::string all = call.text("what");
    for (std::string_view rest = all; !rest.empty();) {
        const auto comma = std::min(rest.find(','), rest.size());
        const auto word = rest.substr(0, comma);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        if (word == "blocks") {
            wanted.blocks = true;
        } else if (word == "transactions") {
            wanted.transactions = true;
        } else if (word == "changes") {
            wanted.changes = true;
        } else {
            return fail(ErrorKind::Usage,
                        fmt::format("--what {}: there are blocks, transactions and changes", printable(word)));
        }
    }
    const bool only_blocks = wanted.blocks && !wanted.transactions && !wanted.changes;
    if (call.text("output") != "jsonl" && !only_blocks)
        return fail(ErrorKind::Usage, "transactions and changes are exported line by line: give -o jsonl");
    if (!wanted.blocks && !wanted.transactions && !wanted.changes)
        return fail(ErrorKind::Usage, "--what needs one of blocks, transactions and changes");
    return wanted;
}

/// Stdout, or a file beside the one asked for that takes its place when everything is in it.
class Sink {
public:
    explicit Sink(Invocation& call) : console_(call.console), file_(call.if_text("out")) {}
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    ~Sink() {
        if (!file_ || done_) return;
        stream_.close();
        std::error_code ignored;
        fs::remove(unfinished(), ignored);
    }

    Result<void> open() {
        if (!file_) return ok();
        stream_.open(unfinished(), std::ios::binary | std::ios::trunc);
        if (!stream_) return fail(ErrorKind::Failed, fmt::format("cannot write {}", printable(unfinished())));
        return ok();
    }
    Result<void> put(std::string_view text) {
        std::ostream& out = file_ ? static_cast<std::ostream&>(stream_) : console_.out;
        out.write(text.data(), static_cast<std::streamsize>(text.size()));
        if (file_ && !out) return fail(ErrorKind::Failed, fmt::format("cannot write {}: is the disk full?", *file_));
        return ok();
    }
    Result<void> finish() {
        if (!file_) return ok();
        stream_.close();
        std::error_code failed;
        if (!stream_) return fail(ErrorKind::Failed, fmt::format("cannot write {}: is the disk full?", *file_));
        fs::rename(unfinished(), *file_, failed);
        if (failed) return fail(ErrorKind::Failed, fmt::format("cannot write {}: {}", *file_, failed.message()));
        done_ = true;
        return ok();
    }

private:
    [[nodiscard]] std::string unfinished() const { return *file_ + ".part"; }

    Console& console_;
    std::optional<std::string> file_;
    std::ofstream stream_;
    bool done_ = false;
};

json::Value raw(std::string_view text) { return json::Raw{std::make_shared<const std::string>(text)}; }

std::string line_of(json::Object object) { return json::print(std::move(object)) + "\n"; }

/// Whether JSON text stands on one line as it is.
bool is_one_line(std::string_view text) { return text.find('\n') == std::string_view::npos; }

json::Value document_of(const state::Entry& entry) {
    if (is_one_line(entry.document())) return raw(entry.document());
    auto parsed = json::parse(entry.document());
    return parsed ? *std::move(parsed) : json::Value{};
}

/// Whether its form is one line: no document of it has line breaks.
bool fits_line(const ledger::Tx& tx) {
    return std::all_of(tx.outputs.begin(), tx.outputs.end(),
                       [](const ledger::Output& output) { return is_one_line(output.value); });
}

/// The form, or the bytes where that would break the line.
void set_block(json::Object& object, const ledger::Block& block) {
    if (std::all_of(block.txs.begin(), block.txs.end(), fits_line)) {
        object.set("block", ledger::to_json(block));
    } else {
        object.set("blockBytes", to_hex(ledger::encode(block)));
    }
}

class Exporter {
public:
    Exporter(Invocation& call, OfflineChain& at, Wanted wanted) : call_(call), at_(at), wanted_(wanted), sink_(call) {}

    Result<void> run(ledger::Height from, ledger::Height to) {
        const std::uint64_t count = to - from + 1;
        const std::string form = call_.text("output");
        TRY(sink_.open());
        if (form == "blocks") TRY(sink_.put(block_file_front(at_.id(), from, count)));
        if (form == "json")
            TRY(sink_.put(fmt::format("{{\"kind\":\"rhizome-blocks\",\"version\":1,\"chainId\":\"{}\",\"blocks\":[\n",
                                      at_.id())));
        std::optional<BlockWalk> walk;
        if (wanted_.changes) {
            TRY(walk, BlockWalk::from(call_, at_, from));
        }
        {
            Progress progress{call_.console, "Exporting", count};
            for (ledger::Height height = from; height <= to; ++height) {
                TRY(one(form, height, height == to, walk));
                progress.advance();
            }
        }
        if (form == "json") TRY(sink_.put("]}\n"));
        TRY(sink_.finish());
        if (const auto file = call_.if_text("out"))
            call_.console.err << fmt::format("wrote {} block{} to {}\n", count, count == 1 ? "" : "s",
                                             printable(*file));
        return ok();
    }

private:
    Result<void> one(const std::string& form, ledger::Height height, bool last, std::optional<BlockWalk>& walk) {
        TRY(const auto info, at_.store().info_at(height));
        if (form == "blocks") {
            auto bytes = at_.store().block_bytes(info.hash);
            if (!bytes) return Fail{pruned(info, std::move(bytes).error())};
            return sink_.put(as_text(*bytes));
        }
        if (!walk) {
            TRY(const auto block, read_block(info, at_));
            if (form == "json") return sink_.put(json::print(ledger::to_json(block)) + (last ? "\n" : ",\n"));
            return lines(block, nullptr);
        }
        TRY(const auto step, walk->next());
        return lines(step.block, &step.applied);
    }

    static Error pruned(const store::BlockInfo& info, Error error) {
        if (error.kind != ErrorKind::NotFound) return error;
        return {ErrorKind::Unavailable,
                fmt::format("the body of the block of height {} was pruned\n--from names a later one", info.height())};
    }

    Result<void> lines(const ledger::Block& block, const ledger::Applied* applied) {
        const ledger::Header& header = block.header;
        const std::string time = to_rfc3339(header.time, Precision::Millis);
        if (wanted_.blocks) {
            json::Object line{{"type", "block"}};
            set_block(line, block);
            TRY(sink_.put(line_of(std::move(line))));
        }
        for (std::size_t i = 0; wanted_.transactions && i < block.txs.size(); ++i) {
            const ledger::Tx& tx = block.txs[i];
            json::Object line{{"type", "transaction"},
                              {"height", header.height.number()},
                              {"time", time},
                              {"index", i},
                              {"txid", ledger::id_of(tx).hex()},
                              {"wireId", ledger::wire_id_of(tx).hex()}};
            if (fits_line(tx)) {
                line.set("transaction", ledger::to_json(tx));
            } else {
                line.set("transactionBytes", to_hex(ledger::encode(tx)));
            }
            TRY(sink_.put(line_of(std::move(line))));
        }
        if (applied == nullptr) return ok();
        for (const DocumentChange& change : changes_of(*applied)) {
            json::Object line{{"type", "change"},
                              {"height", header.height.number()},
                              {"time", time},
                              {"txid", change.tx.hex()},
                              {"verb", name(change.verb)},
                              {"path", change.path.text()},
                              {"group", change.path.group()},
                              {"kind", change.path.kind()},
                              {"namespace", change.path.namespace_name()},
                              {"name", change.path.name()},
                              {"document", change.after ? document_of(*change.after) : json::Value{}}};
            TRY(sink_.put(line_of(std::move(line))));
        }
        return ok();
    }

    Invocation& call_;
    OfflineChain& at_;
    Wanted wanted_;
    Sink sink_;
};

Result<void> run_export(Invocation& call) {
    TRY(const auto wanted, wanted_of(call));
    if (call.text("output") == "blocks" && !call.if_text("out") && call.console.out_is_terminal)
        return fail(ErrorKind::Usage, "-o blocks is binary and would garble this screen\ngive --out FILE, or -o jsonl");
    TRY(const auto at, open_chain(call));
    TRY(const auto from, height_of(call, "from", *at));
    TRY(const auto to, height_of(call, "to", *at));
    if (from > to) return fail(ErrorKind::Usage, fmt::format("--from {} lies above --to {}", from, to));
    return Exporter{call, *at, wanted}.run(from, to);
}

}  // namespace

Command export_command() {
    return {
        .name = "export",
        .summary = "Write blocks, transactions or changes to a file",
        .details =
            "Writes a stretch of the chain in one of three forms. blocks: the blocks' own bytes, smallest and fastest. "
            "json: one object with all of them. jsonl: one JSON object a line, for jq, databases and analytics. "
            "'chain import' reads all three.\n"
            "\n"
            "With jsonl, --what names the lines wanted; each has a \"type\". block: the whole block. transaction: with "
            "height, time and both ids. change: one for each document that a block created, updated or deleted, with "
            "path, kind, transaction and the document as it was afterwards; blocks are executed again for that.\n"
            "\n"
            "Where a document has line breaks of its own, its block or transaction stands in the line as bytes in "
            "hexadecimal (blockBytes, transactionBytes): those breaks are signed and cannot be left out.",
        .examples = {{"a copy to carry", "rhizome chain export --out chain.blocks"},
                     {"what happened to pods",
                      "rhizome chain export -o jsonl --what changes | jq 'select(.kind == "
                      "\"Pod\") | [.time, .verb, .path]'"},
                     {"a stretch", "rhizome chain export -o json --from 10 --to 20 --out part.json"}},
        .options = {data_option(),
                    {.name = "from", .value_name = "HEIGHT", .help = "the first block", .fallback = "0"},
                    {.name = "to", .value_name = "HEIGHT", .help = "the last block", .fallback = "latest"},
                    {.name = "output",
                     .letter = 'o',
                     .value_name = "FORM",
                     .help = "the form of the file",
                     .fallback = "blocks",
                     .choices = {{"blocks", "bytes"}, {"json", "one object"}, {"jsonl", "one object a line"}}},
                    {.name = "what",
                     .value_name = "LIST",
                     .help = "with jsonl: which lines, of blocks, transactions and changes",
                     .fallback = "blocks"},
                    out_option("write to this file instead of stdout")},
        .run = run_export,
    };
}

}  // namespace rhizome::cli::chain
