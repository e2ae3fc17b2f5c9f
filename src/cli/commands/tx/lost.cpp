// SPDX-License-Identifier: Apache-2.0
// `tx lost`: what a node had accepted and a heal took back.
#include <fmt/core.h>

#include "cli/commands/key/shared.h"
#include "cli/commands/tx/verbs.h"
#include "cli/data_option.h"
#include "cli/node_option.h"
#include "cli/print.h"
#include "cli/text.h"

namespace rhizome::cli::tx {
namespace {

/// `write /namespaces/web/core/ConfigMap/a, delete …`
std::string changes_text(const json::Value& row) {
    const json::Value* changes = row.find("changes");
    std::string out;
    if (changes != nullptr && changes->is_array())
        for (const json::Value& one : *changes->if_array())
            out += fmt::format("{}{} {}", out.empty() ? "" : ", ", one.text_at({"verb"}), one.text_at({"path"}));
    return out.empty() ? "delete what its inputs name" : printable(out);
}

Result<void> run_lost(Invocation& call) {
    TRY(const auto client, asked_node(call));
    TRY(const auto answer, client->get("/rhizome/v1/lost"));
    const json::Value* rows = answer.find("lost");
    Table table{{"ID", "LOST", "ACCEPTED", "AGAIN", "WHAT", "WHY"}};
    std::size_t count = 0;
    if (rows != nullptr && rows->is_array())
        for (const json::Value& row : *rows->if_array()) {
            ++count;
            const auto ago = [&](std::string_view word) -> std::string {
                const auto when = from_rfc3339(row.text_at({word}));
                return when ? age_text(call.console.now() - *when) : std::string{row.text_at({word})};
            };
            table.add(
                {std::string{row.text_at({"txid"})}.substr(0, 16), ago("lost"), ago("accepted"),
                 row.find("madeAgain") == nullptr ? "no" : std::string{row.text_at({"madeAgain"})}.substr(0, 16),
                 changes_text(row),
                 printable(fmt::format("{}: {}", row.text_at({"refused", "code"}), row.text_at({"refused", "why"})))});
        }
    print_data(call, answer,
               [&] { return count == 0 ? std::string{"nothing is lost\n"} : table.render(call.console.out_style); });
    return ok();
}

}  // namespace

Command lost_command() {
    return {.name = "lost",
            .summary = "List what a node had accepted and a heal took back",
            .details =
                "Each side of a cut takes writes. Where both wrote the same, one of them stays when they are linked "
                "again: that of the side whose blocks become final. The node that had accepted the other tells so: "
                "in a Warning Event on the object, in its log, to 'rhizome why', and here, also after it was started "
                "again. It remembers the last 4,096. A patch or an apply that named no version is made again by itself "
                "where nobody "
                "else changed the same fields: AGAIN names that transaction. All else has to be done again, if it is "
                "still wanted; "
                "'-o json' has whole ids for 'rhizome chain tx'.",
            .examples = {{"what this node took back", "rhizome tx lost"},
                         {"their ids, for a script", "rhizome tx lost -o json"}},
            .options = with_node_options({data_option(), output_option()}),
            .run = run_lost};
}

}  // namespace rhizome::cli::tx
