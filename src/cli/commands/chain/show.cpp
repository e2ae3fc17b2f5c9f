// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/chain_source.h"
#include "cli/commands/chain/verbs.h"
#include "cli/commands/key/passphrase.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/values.h"

/// `chain show`.
namespace rhizome::cli::chain {
namespace {

std::string size_at(const json::Value& value, std::string_view key) {
    return size_text(static_cast<std::uint64_t>(value.number_at({key})));
}

std::string text_of(const Console& console, const json::Value& chain) {
    const auto ago = [&](const json::Value& row) {
        const auto time = from_rfc3339(row.text_at({"time"}));
        return time ? age_text(console.now() - *time) : "-";
    };
    const auto text_at = [&](std::string_view key) { return std::string{chain.text_at({key})}; };
    Fields fields;
    fields.add("cluster", text_at("cluster"));
    fields.add("chain id", text_at("chainId"));
    fields.add("consensus", text_at("consensus"));
    fields.add("height", fmt::format("{}", chain.number_at({"height"})));
    fields.add("tip", text_at("tip"));
    fields.add("time", fmt::format("{} ({} ago)", text_at("time"), ago(chain)));
    fields.add("state root", text_at("stateRoot"));
    fields.add("documents", fmt::format("{} ({})", chain.number_at({"documents"}), size_at(chain, "documentBytes")));
    fields.add("blocks",
               fmt::format("{} with {} transactions", chain.number_at({"blocks"}), chain.number_at({"transactions"})));
    fields.add("final", fmt::format("height {}", chain.number_at({"final"})));
    fields.add("checkpoint", fmt::format("height {}", chain.number_at({"checkpoint"})));
    const auto pruned = chain.number_at({"prunedBelow"});
    fields.add("pruned", pruned == 0 ? std::string{"nothing"} : fmt::format("bodies below height {}", pruned));
    fields.add("data", text_at("data"));
    if (const json::Value* disk = chain.find("disk"))
        fields.add("disk", fmt::format("log {}, index {}; {} free", size_at(*disk, "logBytes"),
                                       size_at(*disk, "indexBytes"), size_at(*disk, "freeBytes")));
    std::string text = fields.render(console.out_style);
    const json::Value* last = chain.find("last");
    if (last == nullptr || !last->is_array() || last->if_array()->empty()) return text;
    Table table{{"HEIGHT", "AGE", "TXS", "SIZE", "SEALED-BY", "HASH"}};
    for (const json::Value& row : *last->if_array())
        table.add({fmt::format("{}", row.number_at({"height"})), ago(row),
                   fmt::format("{}", row.number_at({"transactions"})), size_at(row, "bytes"),
                   std::string{row.text_at({"sealedBy"})}, std::string{row.text_at({"hash"}).substr(0, 16)} + ".."});
    return text + "\n" + table.render(console.out_style);
}

Result<void> run_show(Invocation& call) {
    TRY(const auto last, whole_number(call, "last", 1'000));
    TRY(auto source, ChainSource::open(call));
    TRY(const auto chain, source.overview(last));
    print_data(call, chain, [&] { return text_of(call.console, chain); });
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
                     {"as another machine has it", "rhizome chain show --node 10.0.0.7:7701"},
                     {"only the height, for a script", "rhizome chain show -o json | jq .height"}},
        .options = with_node_options(
            {data_option(),
             {.name = "last", .value_name = "N", .help = "how many blocks to list, up to 1000", .fallback = "10"},
             output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_show,
    };
}

}  // namespace rhizome::cli::chain
