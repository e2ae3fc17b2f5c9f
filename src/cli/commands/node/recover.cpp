// SPDX-License-Identifier: Apache-2.0
// `rhizome recover`: new voters where too many are lost for good.
#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/node/change.h"
#include "cli/commands/node/recovery.h"
#include "cli/data_option.h"
#include "cli/print.h"
#include "cli/text.h"
#include "consensus/judge.h"
#include "ledger/special_kinds.h"

namespace rhizome::cli {
namespace {

std::vector<std::string> wanted_voters(const Invocation& call) {
    std::vector<std::string> names;
    for (const std::string& text : call.texts("voter")) {
        std::string_view left = text;
        while (!left.empty()) {
            const std::size_t end = left.find(',');
            if (end != 0) names.emplace_back(left.substr(0, end));
            left = end == std::string_view::npos ? std::string_view{} : left.substr(end + 1);
        }
    }
    return names;
}

Result<void> run_recover(Invocation& call) {
    TRY(const auto client, running_node(call));
    TRY(const auto status, client->get("/rhizome/v1/status"));
    TRY(const auto entries, entries_below(*client, "/nodes"));
    const auto rows = node_rows(entries, status);
    auto planned = plan_recovery(rows, status, wanted_voters(call));
    if (!planned) return Fail{std::move(planned).error()};
    const RecoveryPlan plan = *std::move(planned);
    call.console.err << plan.story << '\n';
    if (plan.doubt && !call.flag("force"))
        return fail(ErrorKind::Conflict, *plan.doubt + "\n--force recovers all the same");
    if (!call.flag("yes")) {
        if (!call.console.in_is_terminal)
            return fail(ErrorKind::Usage, "a recovery cannot be taken back\n--yes says that you mean it");
        TRY(const bool meant, call.console.confirm("Make these the voters, and give up what is named above?"));
        if (!meant) return fail(ErrorKind::Denied, "nothing was changed");
    }
    TRY(auto cluster_document, document_at(*client, state::Path::cluster()));
    if (!cluster_document) return fail(ErrorKind::Failed, "the node's state has no Cluster");
    json::Value cluster = *std::move(cluster_document);
    json::Array voters;
    for (const std::string& name : plan.voters) voters.emplace_back(name);
    cluster["spec"]["recovery"] = json::Object{{"generation", plan.generation}, {"voters", std::move(voters)}};
    if (cluster.number_at({"spec", "rulesVersion"}) < std::int64_t{consensus::kRulesForgetting})
        cluster["spec"]["rulesVersion"] = consensus::kRulesForgetting;
    TRY(const auto answer, write_changes(call, *client, {{.document = json::print(cluster)}}));
    print_data(call, answer, [&] {
        return fmt::format("generation {}, voters from now on: {}{}\n", plan.generation, join(plan.voters, ", "),
                           answer.text_at({"stage"}) == "final" ? "" : "; not final yet: 'status' shows when");
    });
    return ok();
}

}  // namespace

Command recover_command() {
    std::vector<Option> options{
        data_option(),
        {.name = "voter",
         .value_name = "NAME",
         .help = "a machine that votes from now on; default: all members that are linked or heard of",
         .repeatable = true},
        {.name = "force", .help = "also where nothing seems lost, or the new voters are silent"},
        {.name = "yes", .letter = 'y', .help = "do not ask"}};
    for (Option& option : signing_options()) options.push_back(std::move(option));
    options.push_back(output_option());
    return {
        .name = "recover",
        .summary = "Name new voters where too many are lost for good",
        .details =
            "Nothing becomes final while fewer than a quorum of the voters can be heard; orders are taken all the "
            "same. When the missing machines will come back, wait for them: nothing is lost then. When they are gone "
            "for good, this makes others the voters at once, with the owner's key.\n"
            "\n"
            "It is the only way to undo something final: what the missing machines agreed on among themselves, and no "
            "machine here has heard of, is discarded when they return. The command says what that can be before it "
            "asks. 'status' shows the generation of recovery for ever.",
        .examples = {{"with all machines that can be heard", "rhizome recover"},
                     {"with these two", "rhizome recover --voter n1 --voter n4"}},
        .options = std::move(options),
        .variables = {key::passphrase_variable()},
        .run = run_recover,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
