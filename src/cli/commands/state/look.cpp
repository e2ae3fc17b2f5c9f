// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "base/yaml.h"
#include "cli/commands/key/shared.h"
#include "cli/commands/state/verbs.h"
#include "cli/commands/tx/shared.h"
#include "cli/data_option.h"
#include "cli/offline_chain.h"
#include "cli/print.h"
#include "cli/resources.h"
#include "ledger/chain_records.h"
#include "ledger/special_kinds.h"
#include "script/explain.h"

/// `state get` and `state list`.
namespace rhizome::cli::state_verbs {
namespace {

using state::Entry;

/// Who decides about a document: what its lock means, or whose lock decides in its place.
std::string lock_text(const Entry& entry, const state::StateView& view, const KnownKeys& keys) {
    if (!entry.is_written()) return "-";
    if (!entry.script().empty()) return tx::with_names(script::explain(entry.script()).sentence, keys);
    for (const state::Path& above : entry.path().ancestors()) {
        const Entry* ancestor = view.get(above);
        if (ancestor != nullptr && !ancestor->script().empty()) return fmt::format("as {}", above.text());
    }
    return "nobody";
}

/// The names of your keys, and of the members' where they stand in the state.
KnownKeys names_in(const Invocation& call, const state::StateView& view) {
    KnownKeys keys = tx::keys_of(call);
    state::Cursor cursor = view.walk(ledger::records::all_members());
    while (const Entry* entry = cursor.next()) {
        const auto member = ledger::decode_member(entry->bytes());
        const auto key = member
                             ? crypto::PublicKey::parse(member->chain)
                             : Result<crypto::PublicKey, crypto::SignatureFault>{Fail{crypto::SignatureFault::BadKey}};
        if (key) keys.add("node " + member->node, *key);
    }
    return keys;
}

std::string mark_text(const state::Mark& mark, const Console& console) {
    return fmt::format("height {}, {} ({} ago), by {}", mark.height, to_rfc3339(mark.time, Precision::Millis),
                       age_text(console.now() - mark.time), tx::outpoint_text(mark.output));
}

std::string entry_text(const Invocation& call, const Entry& entry, const state::StateView& view) {
    const Console& console = call.console;
    Fields fields;
    fields.add("path", entry.path().text());
    if (!entry.is_written()) {
        fields.add("bytes", to_hex(entry.bytes()));
        return fields.render(console.out_style);
    }
    const auto& origin = entry.origin();
    fields.add("kind", std::string{entry.path().kind()});
    fields.add("created", mark_text(origin.born, console));
    fields.add("version", mark_text(origin.latest, console));
    fields.add("lock set", mark_text(origin.lock, console));
    fields.add("lock", lock_text(entry, view, names_in(call, view)));
    fields.add("size", size_text(entry.weight()));
    return fields.render(console.out_style) + "\n" + yaml::print(ledger::parse_checked(entry.document()));
}

Result<void> run_get(Invocation& call) {
    TRY(const auto at, open_chain(call));
    TRY(const auto height, height_of(call, "at", *at));
    TRY(const auto state, state_of(call, *at, height));
    TRY(const Entry* entry, find_resource(state.view, call.argument("RESOURCE"), call.text("namespace"), "RESOURCE"));
    const json::Value data =
        entry->is_written()
            ? ledger::parse_checked(entry->document())
            : json::Value{json::Object{{"path", entry->path().text()}, {"bytes", to_hex(entry->bytes())}}};
    print_data(call, data, [&] { return entry_text(call, *entry, state.view); });
    return ok();
}

json::Value row_data(const Entry& entry, const std::string& lock) {
    const state::Path path = entry.path();
    json::Object row{{"path", path.text()}};
    if (!entry.is_written()) {
        row.set("bytes", to_hex(entry.bytes()));
        return row;
    }
    const auto& origin = entry.origin();
    row.set("group", path.group());
    row.set("kind", path.kind());
    row.set("namespace", path.namespace_name());
    row.set("name", path.name());
    row.set("height", origin.latest.height.number());
    row.set("txid", origin.latest.output.change.hex());
    row.set("created", to_rfc3339(origin.born.time, Precision::Millis));
    row.set("updated", to_rfc3339(origin.latest.time, Precision::Millis));
    row.set("lock", lock);
    row.set("bytes", entry.weight());
    return row;
}

Result<void> run_list(Invocation& call) {
    const std::string prefix_text = call.argument("PREFIX").empty() ? "/" : call.argument("PREFIX");
    TRY(const auto prefix, parse_prefix(prefix_text, "PREFIX"));
    TRY(const auto at, open_chain(call));
    TRY(const auto height, height_of(call, "at", *at));
    TRY(const auto state, state_of(call, *at, height));
    const KnownKeys keys = names_in(call, state.view);
    json::Array rows;
    Table table{{"PATH", "KIND", "HEIGHT", "AGE", "LOCK"}};
    state::Cursor cursor = state.view.walk(prefix);
    while (const Entry* entry = cursor.next()) {
        const std::string lock = lock_text(*entry, state.view, keys);
        if (format_of(call) != Format::Table) {
            rows.push_back(row_data(*entry, lock));
        } else if (entry->is_written()) {
            const auto& origin = entry->origin();
            table.add({entry->path().text(), std::string{entry->path().kind()}, fmt::format("{}", origin.latest.height),
                       age_text(call.console.now() - origin.born.time), lock});
        } else {
            table.add({entry->path().text(), "record", "-", "-", fmt::format("{} bytes", entry->bytes().size())});
        }
    }
    if (table.empty() && rows.empty() && format_of(call) == Format::Table) {
        call.console.err << fmt::format("nothing stands below {} at height {}\n", prefix_text, height);
        return ok();
    }
    const json::Object data{{"height", height.number()}, {"items", std::move(rows)}};
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
        .arguments = {{.name = "RESOURCE", .help = "KIND/NAME, or a path such as /namespaces/web"}},
        .options = {data_option(),
                    {.name = "namespace",
                     .letter = 'n',
                     .value_name = "NAME",
                     .help = "where KIND/NAME looks",
                     .fallback = "default"},
                    at_option(),
                    key::keys_option(),
                    output_option()},
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
        .options = {data_option(), at_option(), key::keys_option(), output_option()},
        .run = run_list,
    };
}

}  // namespace rhizome::cli::state_verbs
