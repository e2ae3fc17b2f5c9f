// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "base/yaml.h"
#include "cli/chain_source.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/state/verbs.h"
#include "cli/commands/tx/shared.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/resource_names.h"
#include "script/explain.h"

/// `state get` and `state list`.
namespace rhizome::cli::state_verbs {
namespace {

/// Who decides about a document: what its lock means, or whose lock decides in its place.
std::string lock_text(const json::Value& row, const KnownKeys& keys) {
    if (row.find("record") != nullptr) return "-";
    const auto script = from_hex(row.text_at({"script"}));
    if (script && !script->empty()) return tx::with_names(script::explain(*script).sentence, keys);
    const std::string_view by = row.text_at({"decidedBy"});
    return by.empty() ? "nobody" : fmt::format("as {}", by);
}

/// The names of your keys, and of the members'.
KnownKeys names_in(const Invocation& call, ChainSource& source) {
    KnownKeys keys = tx::keys_of(call);
    if (const auto members = source.members())
        for (const auto& [node, key] : *members) keys.add("node " + node, key);
    return keys;
}

std::string age_at(const json::Value& mark, const Console& console) {
    const auto time = from_rfc3339(mark.text_at({"time"}));
    return time ? age_text(console.now() - *time) : "-";
}

std::string mark_text(const json::Value& row, std::string_view key, const Console& console) {
    const json::Value* mark = row.find(key);
    if (mark == nullptr) return "-";
    return fmt::format("height {}, {} ({} ago), by {}..:{}", mark->number_at({"height"}), mark->text_at({"time"}),
                       age_at(*mark, console), mark->text_at({"txid"}).substr(0, 16), mark->number_at({"vout"}));
}

std::string entry_text(const Invocation& call, const json::Value& row, ChainSource& source) {
    const Console& console = call.console;
    Fields fields;
    fields.add("path", std::string{row.text_at({"path"})});
    if (row.find("record") != nullptr) {
        fields.add("bytes", std::string{row.text_at({"record"})});
        return fields.render(console.out_style);
    }
    fields.add("kind", std::string{row.text_at({"kind"})});
    fields.add("created", mark_text(row, "born", console));
    fields.add("version", mark_text(row, "written", console));
    fields.add("lock set", mark_text(row, "locked", console));
    fields.add("lock", lock_text(row, names_in(call, source)));
    fields.add("size", size_text(static_cast<std::uint64_t>(row.number_at({"bytes"}))));
    const json::Value* document = row.find("document");
    return fields.render(console.out_style) + "\n" + yaml::print(document == nullptr ? json::Value{} : *document);
}

Result<void> run_get(Invocation& call) {
    TRY(auto source, ChainSource::open(call));
    TRY(const auto row, source.entry(call.argument("RESOURCE"), call.text("namespace"), call.text("at")));
    const json::Value* document = row.find("document");
    const json::Value data =
        document != nullptr
            ? *document
            : json::Value{json::Object{{"path", row.text_at({"path"})}, {"bytes", row.text_at({"record"})}}};
    print_data(call, data, [&] { return entry_text(call, row, source); });
    return ok();
}

json::Value row_data(const json::Value& row, const std::string& lock) {
    json::Object out{{"path", row.text_at({"path"})}};
    if (row.find("record") != nullptr) {
        out.set("bytes", row.text_at({"record"}));
        return out;
    }
    for (const std::string_view key : {"group", "kind", "namespace", "name"}) out.set(key, row.text_at({key}));
    out.set("height", row.number_at({"written", "height"}));
    out.set("txid", row.text_at({"written", "txid"}));
    out.set("created", row.text_at({"born", "time"}));
    out.set("updated", row.text_at({"written", "time"}));
    out.set("lock", lock);
    out.set("bytes", row.number_at({"bytes"}));
    return out;
}

Result<void> run_list(Invocation& call) {
    const std::string prefix = call.argument("PREFIX").empty() ? "/" : call.argument("PREFIX");
    TRY(auto source, ChainSource::open(call));
    TRY(const auto listed, source.list(prefix, call.text("at")));
    const KnownKeys keys = names_in(call, source);
    json::Array rows;
    Table table{{"PATH", "KIND", "HEIGHT", "AGE", "LOCK"}};
    for (const json::Value& row : *listed.find("items")->if_array()) {
        const std::string lock = lock_text(row, keys);
        if (format_of(call) != Format::Table) {
            rows.push_back(row_data(row, lock));
        } else if (row.find("record") == nullptr) {
            table.add({std::string{row.text_at({"path"})}, std::string{row.text_at({"kind"})},
                       fmt::format("{}", row.number_at({"written", "height"})), age_at(*row.find("born"), call.console),
                       lock});
        } else {
            table.add({std::string{row.text_at({"path"})}, "record", "-", "-",
                       fmt::format("{} bytes", row.text_at({"record"}).size() / 2)});
        }
    }
    if (table.empty() && rows.empty() && format_of(call) == Format::Table) {
        call.console.err << fmt::format("nothing stands below {} at height {}\n", prefix, listed.number_at({"height"}));
        return ok();
    }
    const json::Object data{{"height", listed.number_at({"height"})}, {"items", std::move(rows)}};
    print_data(call, data, [&] { return table.render(call.console.out_style, call.console.out_width); });
    return ok();
}

}  // namespace

Command get_command() {
    return {
        .name = "get",
        .summary = "Show one document of the state",
        .details =
            "Prints a document with what the chain knows of it: when and by which transaction it was created, written "
            "and locked, and who decides about it. With -o json or yaml the document alone. Paths under /chain show "
            "the chain's own records as bytes.",
        .examples = {{"a pod", "rhizome state get pod/db -n web"},
                     {"by its path, as it was", "rhizome state get /namespaces/web/core/Pod/db --at 100"},
                     {"the cluster's rules", "rhizome state get / -o yaml"}},
        .arguments = {{.name = "RESOURCE",
                       .help = "KIND/NAME, or a path such as /namespaces/web",
                       .completion = Completion::of(resource_names)}},
        .options = with_node_options({data_option(),
                                      {.name = "namespace",
                                       .letter = 'n',
                                       .value_name = "NAME",
                                       .help = "where KIND/NAME looks",
                                       .fallback = "default"},
                                      at_option(),
                                      key::keys_option(),
                                      output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_get,
    };
}

Command list_command() {
    return {
        .name = "list",
        .summary = "List what stands in the state",
        .details =
            "Lists documents in the order of their paths: the height of the block that wrote the present version, how "
            "long they exist, and who decides about them. 'as /' means: no lock of its own, the one of / decides. The "
            "names of keys in your key folder stand in place of their addresses.",
        .examples = {{"everything", "rhizome state list"},
                     {"pods of a namespace", "rhizome state list /namespaces/web/core/Pod"},
                     {"what the chain keeps for itself", "rhizome state list /chain"}},
        .arguments = {{.name = "PREFIX",
                       .help = "only what lies below this path; default: all documents",
                       .required = false}},
        .options = with_node_options({data_option(), at_option(), key::keys_option(), output_option()}),
        .variables = {key::passphrase_variable()},
        .run = run_list,
    };
}

}  // namespace rhizome::cli::state_verbs
