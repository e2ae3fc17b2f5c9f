// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include "cli/commands/commands.h"
#include "cli/doctor/gather.h"
#include "cli/doctor/report.h"
#include "cli/print.h"

namespace rhizome::cli {
namespace {

using namespace doctor;

std::vector<Role> roles_of(const Invocation& call) {
    std::vector<Role> roles;
    for (const auto& text : call.texts("for")) {
        for (const auto role : kRoles) {
            if (name(role) == text) roles.push_back(role);
        }
    }
    if (roles.empty()) roles.assign(std::begin(kClusterRoles), std::end(kClusterRoles));
    return roles;
}

Result<std::filesystem::path> data_folder_of(const Invocation& call, const Console& console) {
    if (const auto given = call.if_text("data-dir")) return std::filesystem::path{*given};
    return console.environment.data_folder();
}

Result<void> run_doctor(Invocation& call) {
    TRY(const auto folder, data_folder_of(call, call.console));
    const auto roles = roles_of(call);
    const auto checks = judge(gather(call.console.environment, folder), roles);
    const auto summary = summarise(checks, roles);
    print_data(call, report_data(checks, summary),
               [&] { return report_text(checks, summary, call.console.out_style, call.console.out_width); });
    if (summary.missing == 0) return ok();
    std::vector<std::string> names;
    for (const auto& check : checks) {
        if (check.status == Status::Missing) names.push_back(check.title);
    }
    return fail(ErrorKind::Failed, missing_sentence(names, summary));
}

}  // namespace

Command doctor_command() {
    return {
        .name = "doctor",
        .summary = "Check what this host can do in a cluster and what it lacks",
        .details =
            "Looks at the kernel, its network and container features, your rights, the programs installed and the room "
            "left, and says for each what it is needed for and what to do when it is not there. It changes nothing; "
            "network features are tried in a namespace that goes away again.\n"
            "\n"
            "A host can take several roles. Without --for it is checked for all that hosts have in a cluster.\n"
            "\n"
            "Exits with 1 when something required is missing.",
        .examples = {{"check this host", "rhizome doctor"},
                     {"can it run pods?", "rhizome doctor --for agent"},
                     {"what is missing, for a script",
                      "rhizome doctor -o json | jq -r '.checks[] | select(.status == \"missing\") | .id'"}},
        .options = {{.name = "for",
                     .value_name = "ROLE",
                     .help = "check for this role only",
                     .choices = {{"member", "keeps the ledger and answers the API"},
                                 {"agent", "runs pods"},
                                 {"edge", "talks to devices"},
                                 {"developer", "builds and measures rhizome itself"}},
                     .repeatable = true},
                    {.name = "data-dir",
                     .value_name = "FOLDER",
                     .help = "where the host will keep its data; default: your data folder",
                     .variable = "RHIZOME_DATA_DIR",
                     .completion = Completion::folders()},
                    output_option()},
        .run = run_doctor,
        .group = std::string{kGroupHost},
    };
}

}  // namespace rhizome::cli
