// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/chain/shared.h"
#include "cli/commands/chain/verbs.h"
#include "cli/data_option.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/text.h"
#include "ledger/proof_files.h"

/// `chain verify` and `chain anchor`.
namespace rhizome::cli::chain {
namespace {

using ledger::Anchor;

Result<Anchor> anchor_of(Invocation& call, OfflineChain& at, ledger::Height height) {
    TRY(const auto info, at.store().info_at(height));
    TRY(const auto history, history_root(call, at, height));
    return Anchor{.chain = at.id(),
                  .height = height,
                  .block = info.hash,
                  .state_root = info.header.state_root,
                  .history_root = history};
}

/// What an anchor says of this chain that is not so; empty when all holds.
Result<std::string> mismatch(Invocation& call, OfflineChain& at, const Anchor& anchor) {
    if (anchor.chain != at.id())
        return fmt::format("it is of another chain: {}, and this one is {}", anchor.chain, at.id());
    if (anchor.height > at.height())
        return fmt::format("it is of height {}, but this chain ends at height {}: {} blocks are missing", anchor.height,
                           at.height(), anchor.height - at.height());
    const auto info = at.store().info_at(anchor.height);
    if (!info) return fmt::format("the block of height {} is not here any more", anchor.height);
    if (info->hash != anchor.block)
        return fmt::format(
            "the block of height {} is {} here, the anchor says {}: history was rewritten at or below "
            "that height",
            anchor.height, info->hash, anchor.block);
    TRY(const Anchor ours, anchor_of(call, at, anchor.height));
    if (ours.state_root != anchor.state_root)
        return fmt::format("the state root of height {} is {} here, the anchor says {}", anchor.height, ours.state_root,
                           anchor.state_root);
    if (ours.history_root != anchor.history_root)
        return fmt::format("the blocks below height {} are others than when the anchor was made", anchor.height);
    return std::string{};
}

struct CheckedAnchor {
    std::string file;
    Anchor anchor;
    std::string mismatch;  ///< empty: it holds
};

Result<std::vector<std::pair<std::string, Anchor>>> read_anchors(Invocation& call) {
    std::vector<std::pair<std::string, Anchor>> anchors;
    for (const std::string& file : call.texts("anchor")) {
        const std::string shown = file == "-" ? "stdin" : printable(file);
        TRY(const std::string text, read_input(call.console, file, ledger::kProofFileBytesMax));
        auto anchor = ledger::anchor_from_json(text);
        if (!anchor) return Fail{with_context(shown, std::move(anchor).error())};
        anchors.emplace_back(shown, *anchor);
    }
    return anchors;
}

json::Value data_of(const store::VerifyReport& report, const std::vector<CheckedAnchor>& anchors) {
    bool good = !report.fault;
    json::Array checked;
    for (const CheckedAnchor& each : anchors) {
        json::Object row{{"file", each.file},
                         {"height", each.anchor.height.number()},
                         {"block", each.anchor.block.hex()},
                         {"ok", each.mismatch.empty()}};
        if (!each.mismatch.empty()) row.set("why", each.mismatch);
        good = good && each.mismatch.empty();
        checked.push_back(std::move(row));
    }
    json::Object data{{"ok", good},
                      {"from", report.from.number()},
                      {"to", report.to.number()},
                      {"blocks", report.blocks},
                      {"transactions", report.transactions}};
    if (report.fault) {
        json::Object fault{{"height", report.fault->height.number()}};
        if (report.fault->transaction) fault.set("transaction", *report.fault->transaction);
        fault.set("rule", report.fault->rule);
        fault.set("why", report.fault->why);
        data.set("fault", std::move(fault));
    }
    data.set("anchors", std::move(checked));
    return data;
}

std::string text_of(const Style& style, const store::VerifyReport& report, const std::vector<CheckedAnchor>& anchors) {
    std::string text = report.fault ? style.paint(Tone::Bad, "BAD") : style.paint(Tone::Good, "OK");
    text += fmt::format(": {} block{} with {} transaction{} executed, of heights {} to {}\n", report.blocks,
                        report.blocks == 1 ? "" : "s", report.transactions, report.transactions == 1 ? "" : "s",
                        report.from, report.to);
    if (report.fault) {
        Fields fields;
        fields.add("  height", fmt::format("{}", report.fault->height));
        if (report.fault->transaction) fields.add("  transaction", fmt::format("{}", *report.fault->transaction));
        fields.add("  rule", Cell{report.fault->rule, Tone::Bad});
        fields.add("  why", report.fault->why.substr(0, report.fault->why.find('\n')));
        text += fields.render(style);
    }
    for (const CheckedAnchor& each : anchors)
        text += each.mismatch.empty()
                    ? fmt::format("{}: anchor {} of height {} holds\n", style.paint(Tone::Good, "OK"), each.file,
                                  each.anchor.height)
                    : fmt::format("{}: anchor {}: {}\n", style.paint(Tone::Bad, "BAD"), each.file, each.mismatch);
    return text;
}

/// What is wrong with a chain that cannot even be opened because some block behind the last checkpoint is not good.
Result<store::VerifyReport> verify_unopened(Invocation& call, const Error& why) {
    TRY(const auto folder, data_folder_of(call));
    OfflineChain world;  // for its rules and cores
    const auto store = store::Store::open(folder);
    if (!store) return Fail{why};
    StoreProgress progress{call.console, "Verifying"};
    return store::verify(**store, world.block_rules(), world.pool, progress.sink());
}

Result<void> run_verify(Invocation& call) {
    TRY(const auto anchors, read_anchors(call));
    const auto at = open_chain(call);
    std::vector<CheckedAnchor> checked;
    store::VerifyReport report;
    if (!at) {
        if (at.error().kind != ErrorKind::Corrupt && at.error().kind != ErrorKind::Invalid) return Fail{at.error()};
        TRY(report, verify_unopened(call, at.error()));
        if (!report.fault) return Fail{at.error()};
    } else {
        for (const auto& [file, anchor] : anchors) {
            TRY(auto why, mismatch(call, **at, anchor));
            checked.push_back({file, anchor, std::move(why)});
        }
        StoreProgress progress{call.console, "Verifying"};
        TRY(report, store::verify((*at)->store(), (*at)->block_rules(), (*at)->pool, progress.sink()));
    }
    print_data(call, data_of(report, checked), [&] { return text_of(call.console.out_style, report, checked); });
    if (report.fault) {
        std::string place = fmt::format("height {}", report.fault->height);
        if (report.fault->transaction) place += fmt::format(", transaction {}", *report.fault->transaction);
        return fail(ErrorKind::Corrupt,
                    fmt::format("the chain does not hold from {} on: {}\n"
                                "all below that height is good and can be carried elsewhere with '{} chain export --to "
                                "{}'",
                                place, report.fault->rule, call.program,
                                report.fault->height == ledger::Height{0} ? 0 : report.fault->height.number() - 1));
    }
    for (const CheckedAnchor& each : checked)
        if (!each.mismatch.empty())
            return fail(ErrorKind::Corrupt,
                        fmt::format("this is not the chain that {} was made of: {}", each.file, each.mismatch));
    return ok();
}

Result<void> run_anchor(Invocation& call) {
    TRY(const auto at, open_chain(call));
    TRY(const auto height, height_of(call, "at", *at));
    TRY(const auto anchor, anchor_of(call, *at, height));
    return put_out(call, json::print_pretty(ledger::to_json(anchor)));
}

}  // namespace

Command verify_command() {
    return {
        .name = "verify",
        .summary = "Execute all blocks again and name the first fault",
        .details =
            "Reads every block from the disk, checks its seal, every signature and rule, and compares the state that "
            "it "
            "leads to with the one it names. Nothing is changed. Exits with 1 when something does not hold and names "
            "height, transaction and rule.\n"
            "\n"
            "Somebody who holds the keys of all proposers could write another history that holds as well. An anchor "
            "(see 'chain anchor') that was kept elsewhere shows that: give it with --anchor.",
        .examples = {{"is everything as it should be", "rhizome chain verify"},
                     {"is it still the same history", "rhizome chain verify --anchor last-week.json"}},
        .options = {data_option(),
                    {.name = "anchor",
                     .value_name = "FILE",
                     .help = "where the chain stood once; - for stdin",
                     .repeatable = true,
                     .completion = Completion::files()},
                    output_option()},
        .run = run_verify,
    };
}

Command anchor_command() {
    return {
        .name = "anchor",
        .summary = "Print where the chain stands, to be kept elsewhere",
        .details =
            "Prints a few hashes as JSON: the chain's id, a block's height and hash, the roots of its state and of all "
            "history before it. Kept where this machine's administrators cannot change it (mail it, print it, put it "
            "into another chain), it shows later with 'chain verify --anchor' whether history was rewritten.",
        .examples = {{"keep one every night", "rhizome chain anchor --out /mnt/elsewhere/$(date -I).json"},
                     {"of an older block", "rhizome chain anchor --at 1000"}},
        .options = {data_option(), at_option("the block; default: the latest"),
                    out_option("write the anchor to this file instead of stdout")},
        .run = run_anchor,
    };
}

}  // namespace rhizome::cli::chain
