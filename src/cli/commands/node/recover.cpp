// SPDX-License-Identifier: Apache-2.0
// `rhizome recover`: new voters where too many are lost for good.
#include <algorithm>

#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/commands/key/passphrase.h"
#include "cli/commands/node/change.h"
#include "cli/commands/node/moved.h"
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

std::string names_of_records(const MovedPlan& plan) {
    std::vector<std::string> names;
    for (const auto& [name, record] : plan.records) names.push_back(name);
    return join(names, ", ");
}

/// The owner's word that the directories which wait are the only ones.
Result<void> run_moved(Invocation& call) {
    TRY(const auto client, running_node(call));
    TRY(const auto status, client->get("/rhizome/v1/status"));
    TRY(const auto entries, entries_below(*client, "/nodes"));
    TRY(auto cluster_document, document_at(*client, state::Path::cluster()));
    if (!cluster_document) return fail(ErrorKind::Failed, "the node's state has no Cluster");
    json::Value cluster = *std::move(cluster_document);
    TRY(const MovedPlan plan, plan_moved(node_rows(entries, status), status, cluster, wanted_voters(call)));
    if (plan.is_done) {
        print_data(
            call,
            json::Object{{"generation", cluster.number_at({"spec", "recovery", "generation"})}, {"stage", "final"}},
            [&] { return plan.story; });
        return ok();
    }
    call.console.err << plan.story << '\n';
    if (plan.doubt && !call.flag("force"))
        return fail(ErrorKind::Conflict, *plan.doubt + "\n--force recovers all the same");
    if (!call.flag("yes")) {
        if (!call.console.in_is_terminal)
            return fail(ErrorKind::Usage, "a recovery cannot be taken back\n--yes says that you mean it");
        TRY(const bool meant, call.console.confirm("Are these directories the only ones that will ever be used?"));
        if (!meant) return fail(ErrorKind::Denied, "nothing was changed");
    }
    json::Array voters;
    for (const std::string& name : plan.voters) voters.emplace_back(name);
    json::Object records;
    for (const auto& [name, record] : plan.records) records[name] = record;
    cluster["spec"]["recovery"] =
        json::Object{{"generation", plan.generation}, {"voters", std::move(voters)}, {"records", std::move(records)}};
    if (cluster.number_at({"spec", "rulesVersion"}) < std::int64_t{consensus::kRulesForgetting})
        cluster["spec"]["rulesVersion"] = consensus::kRulesForgetting;
    TRY(const auto answer, write_changes(call, *client, {{.document = json::print(cluster)}}));
    print_data(call, answer, [&] {
        return fmt::format("generation {}, voters from now on: {}; begun anew: {}{}\n", plan.generation,
                           join(plan.voters, ", "), names_of_records(plan),
                           answer.text_at({"stage"}) == "final"
                               ? ""
                               : "\nnot final yet: the machines seal again some seconds after their start; 'status' "
                                 "shows it, and the same command says how far it is");
    });
    return ok();
}

Result<void> run_recover(Invocation& call) {
    if (call.flag("moved")) return run_moved(call);
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
        {.name = "moved",
         .help = "the machines that do not know what they signed before (see 'status') begin anew: no other directory "
                 "with their keys is ever used again"},
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
            "asks. 'status' shows the generation of recovery for ever.\n"
            "\n"
            "--moved is for machines whose data directories were moved to other disks, copied or restored, all or most "
            "of them at once. None of them knows what it signed since the copy was made, so none votes. It names the "
            "directories that wait, each by a number that it drew when it started: they begin anew, and only they. "
            "With it you say that no other directory with their keys will ever be used again. Where few were moved "
            "nothing need be said: the others show them when they may vote. Given again, it says how far it is.",
        .examples = {{"with all machines that can be heard", "rhizome recover"},
                     {"with these two", "rhizome recover --voter n1 --voter n4"},
                     {"all machines' disks were moved", "rhizome recover --moved"}},
        .options = std::move(options),
        .variables = {key::passphrase_variable()},
        .run = run_recover,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
