// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/state/verbs.h"
#include "cli/data_option.h"
#include "cli/json_diff.h"
#include "cli/offline_chain.h"
#include "cli/print.h"
#include "cli/text.h"
#include "ledger/special_kinds.h"
#include "state/delta.h"

/// `state diff`.
namespace rhizome::cli::state_verbs {
namespace {

struct Difference {
    std::string path;
    std::string kind;
    std::string_view verb;
    std::vector<FieldChange> fields{};
    std::vector<std::string> notes{};  ///< what differs outside of the document
};

json::Value content_of(const state::Entry& entry) {
    if (entry.is_written()) return ledger::parse_checked(entry.document());
    return to_hex(entry.bytes());
}

Difference difference_of(const state::Change& change) {
    const state::Entry& any = change.before ? *change.before : *change.after;
    const state::Path path = any.path();
    Difference out{.path = path.text(),
                   .kind = any.is_written() ? std::string{path.kind()} : "record",
                   .verb = !change.before  ? "created"
                           : !change.after ? "deleted"
                                           : "updated"};
    if (!change.before || !change.after) return out;
    out.fields = field_changes(content_of(*change.before), content_of(*change.after));
    if (!any.is_written()) return out;
    if (change.before->origin().born != change.after->origin().born) out.notes.emplace_back("made anew");
    if (as_text(change.before->script()) != as_text(change.after->script())) out.notes.emplace_back("another lock");
    if (out.fields.empty() && out.notes.empty()) out.notes.emplace_back("written again, the same content");
    return out;
}

json::Value data_of(const Difference& difference) {
    json::Array fields;
    for (const FieldChange& change : difference.fields) {
        json::Object row{{"field", change.field}};
        if (change.before) row.set("before", *change.before);
        if (change.after) row.set("after", *change.after);
        fields.push_back(std::move(row));
    }
    json::Array notes;
    for (const std::string& note : difference.notes) notes.emplace_back(note);
    return json::Object{{"path", difference.path},
                        {"kind", difference.kind},
                        {"verb", difference.verb},
                        {"fields", std::move(fields)},
                        {"notes", std::move(notes)}};
}

std::string value_text(const std::optional<json::Value>& value) {
    constexpr std::size_t kShown = 100;
    if (!value) return "(nothing)";
    const std::string text = printable(json::print(*value));
    return text.size() <= kShown ? text : fmt::format("{}..", text.substr(0, kShown));
}

std::string text_of(const Style& style, const std::vector<Difference>& all) {
    std::string text;
    for (const Difference& difference : all) {
        const Tone tone = difference.verb == "created"   ? Tone::Good
                          : difference.verb == "deleted" ? Tone::Bad
                                                         : Tone::Warning;
        text += style.paint(tone, fmt::format("{:<10}", difference.verb)) + printable(difference.path) + "\n";
        for (const std::string& note : difference.notes) text += "            " + note + "\n";
        for (const FieldChange& change : difference.fields) {
            const std::string field = change.field.empty() ? "" : printable(change.field) + ": ";
            text += fmt::format("            {}{} -> {}\n", field, value_text(change.before), value_text(change.after));
        }
    }
    return text;
}

Result<void> run_diff(Invocation& call) {
    TRY(const auto at, open_chain(call));
    TRY(const auto first, parse_height(call.argument("FROM"), "FROM", *at));
    TRY(const auto second, parse_height(call.argument("TO"), "TO", *at));
    TRY(const auto before, state_of(call, *at, first));
    TRY(const auto after, state_of(call, *at, second));
    std::vector<Difference> all;
    state::diff(before.view, after.view).visit([&](const state::Change& change) {
        const state::Entry& any = change.before ? *change.before : *change.after;
        if (any.is_written() || call.flag("records")) all.push_back(difference_of(change));
    });
    json::Array changes;
    for (const Difference& difference : all) changes.push_back(data_of(difference));
    const json::Object data{{"from", first.number()}, {"to", second.number()}, {"changes", std::move(changes)}};
    print_data(call, data, [&] { return text_of(call.console.out_style, all); });
    if (all.empty() && format_of(call) == Format::Table)
        call.console.err << fmt::format("no document differs between heights {} and {}\n", first, second);
    return ok();
}

}  // namespace

Command diff_command() {
    return {
        .name = "diff",
        .summary = "Show what differs between two heights",
        .details =
            "Lists every document that was created, updated or deleted between the states after two blocks, with the "
            "fields that changed. FROM may lie above TO: then it shows what going back would do.",
        .examples = {{"what a block changed", "rhizome state diff 41 42"},
                     {"since then", "rhizome state diff 1000 latest"},
                     {"with the chain's own records", "rhizome state diff 41 42 --records -o yaml"}},
        .arguments = {{.name = "FROM", .help = "a height"}, {.name = "TO", .help = "a height, or latest"}},
        .options = {data_option(),
                    {.name = "records", .help = "show the chain's own records under /chain, too"},
                    output_option()},
        .run = run_diff,
    };
}

}  // namespace rhizome::cli::state_verbs
