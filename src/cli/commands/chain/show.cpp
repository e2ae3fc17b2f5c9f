// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/chain/shared.h"
#include "cli/commands/chain/verbs.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/values.h"
#include "ledger/block_json.h"

/// `chain show`.
namespace rhizome::cli::chain {
namespace {

struct Summary {
    store::Store::Extent extent{};
    store::Store::Usage usage{};
    std::vector<store::BlockInfo> last{};
};

Result<Summary> summarise(const OfflineChain& at, std::uint64_t last) {
    Summary summary;
    TRY(summary.extent, at.store().extent());
    TRY(summary.usage, at.store().usage());
    for (ledger::Height height = at.height(); summary.last.size() < last; --height) {
        TRY(const auto info, at.store().info_at(height));
        summary.last.push_back(info);
        if (height == summary.extent.headers_from) break;
    }
    return summary;
}

json::Value block_row(const store::BlockInfo& info, const OfflineChain& at) {
    return json::Object{{"height", info.height().number()},
                        {"hash", info.hash.hex()},
                        {"time", to_rfc3339(info.header.time, Precision::Millis)},
                        {"transactions", info.tx_count},
                        {"bytes", info.bytes},
                        {"sealedBy", sealed_by(info, at)}};
}

json::Value data_of(const OfflineChain& at, const Summary& summary) {
    const store::Store::Usage& usage = summary.usage;
    const auto& view = at.chain->state().view();
    const auto documents = view.totals(state::Prefix::documents());
    json::Array last;
    for (const auto& info : summary.last) last.push_back(block_row(info, at));
    const auto& tip = at.chain->tip();
    return json::Object{{"cluster", cluster_name(view)},
                        {"chainId", at.id().hex()},
                        {"consensus", ledger::name(tip.consensus)},
                        {"height", tip.height.number()},
                        {"tip", hash_of(tip).hex()},
                        {"time", to_rfc3339(tip.time, Precision::Millis)},
                        {"stateRoot", tip.state_root.hex()},
                        {"documents", documents.count},
                        {"documentBytes", documents.bytes},
                        {"blocks", summary.extent.blocks},
                        {"transactions", summary.extent.transactions},
                        {"final", at.store().final_block().height().number()},
                        {"checkpoint", usage.checkpoint.number()},
                        {"prunedBelow", summary.extent.bodies_from.number()},
                        {"base", at.store().base().height().number()},
                        {"data", at.folder.native()},
                        {"disk", json::Object{{"logBytes", usage.log_bytes},
                                              {"indexBytes", usage.index_bytes},
                                              {"freeBytes", usage.free_bytes}}},
                        {"last", std::move(last)}};
}

std::string text_of(const Console& console, const OfflineChain& at, const Summary& summary) {
    const store::Store::Usage& usage = summary.usage;
    const auto& view = at.chain->state().view();
    const auto& tip = at.chain->tip();
    const auto documents = view.totals(state::Prefix::documents());
    const auto ago = [&](Time time) { return age_text(console.now() - time); };
    Fields fields;
    fields.add("cluster", cluster_name(view));
    fields.add("chain id", at.id().hex());
    fields.add("consensus", std::string{ledger::name(tip.consensus)});
    fields.add("height", fmt::format("{}", tip.height));
    fields.add("tip", hash_of(tip).hex());
    fields.add("time", fmt::format("{} ({} ago)", to_rfc3339(tip.time, Precision::Millis), ago(tip.time)));
    fields.add("state root", tip.state_root.hex());
    fields.add("documents", fmt::format("{} ({})", documents.count, size_text(documents.bytes)));
    fields.add("blocks", fmt::format("{} with {} transactions", summary.extent.blocks, summary.extent.transactions));
    fields.add("final", fmt::format("height {}", at.store().final_block().height()));
    fields.add("checkpoint", fmt::format("height {}", usage.checkpoint));
    fields.add("pruned", summary.extent.bodies_from == ledger::Height{0}
                             ? std::string{"nothing"}
                             : fmt::format("bodies below height {}", summary.extent.bodies_from));
    fields.add("data", at.folder.native());
    fields.add("disk", fmt::format("log {}, index {}; {} free", size_text(usage.log_bytes),
                                   size_text(usage.index_bytes), size_text(usage.free_bytes)));
    std::string text = fields.render(console.out_style);
    if (summary.last.empty()) return text;
    Table table{{"HEIGHT", "AGE", "TXS", "SIZE", "SEALED-BY", "HASH"}};
    for (const auto& info : summary.last)
        table.add({fmt::format("{}", info.height()), ago(info.header.time), fmt::format("{}", info.tx_count),
                   size_text(info.bytes), sealed_by(info, at), info.hash.hex().substr(0, 16) + ".."});
    return text + "\n" + table.render(console.out_style);
}

Result<void> run_show(Invocation& call) {
    TRY(const auto last, whole_number(call, "last", 100'000));
    TRY(const auto at, open_chain(call));
    TRY(const auto summary, summarise(*at, last));
    print_data(call, data_of(*at, summary), [&] { return text_of(call.console, *at, summary); });
    return ok();
}

}  // namespace

Command show_command() {
    return {
        .name = "show",
        .summary = "Give an overview of the chain",
        .details =
            "Prints which cluster and chain this is, how far it goes, how much stands in its state, what it takes on "
            "the disk, and its latest blocks.",
        .examples = {{"of this machine", "rhizome chain show"},
                     {"of another directory, with more blocks", "rhizome chain show --data /srv/edge --last 50"},
                     {"only the height, for a script", "rhizome chain show -o json | jq .height"}},
        .options = {data_option(),
                    {.name = "last", .value_name = "N", .help = "how many blocks to list", .fallback = "10"},
                    output_option()},
        .run = run_show,
    };
}

}  // namespace rhizome::cli::chain
